// Rows of the list, fetched by hundreds as they come into view.

import { get, type Parameters } from "./api";
import type { NodesPage, Row } from "./types";

const SIZE = 100;
const KEPT = 60; // pages
const PAUSE_MS = 40; // while the list is dragged, pages that flit by are not asked for

export class Pages {
  total: number | null = null;
  private readonly pages = new Map<number, Row[]>();
  private readonly asked = new Set<number>();
  private waiting = 0;
  private left = false;

  constructor(
    private readonly parameters: Parameters,
    private readonly arrived: () => void,
    private readonly failed: (error: Error) => void,
  ) {}

  leave(): void {
    this.left = true;
    clearTimeout(this.waiting);
  }

  row(at: number): Row | undefined {
    return this.pages.get(Math.floor(at / SIZE))?.[at % SIZE];
  }

  /** Sees to it that these rows come. */
  want(first: number, last: number): void {
    clearTimeout(this.waiting);
    const needed: number[] = [];
    for (let page = Math.floor(first / SIZE); page * SIZE < last; page++) {
      if (!this.pages.has(page) && !this.asked.has(page)) needed.push(page);
    }
    if (needed.length) this.waiting = setTimeout(() => needed.forEach((page) => void this.fetch(page)), PAUSE_MS);
  }

  async fetch(page: number): Promise<void> {
    this.asked.add(page);
    try {
      const answer = await get<NodesPage>("nodes", { ...this.parameters, offset: page * SIZE, limit: SIZE });
      if (this.left) return;
      this.total = answer.total;
      this.pages.set(page, answer.rows);
      const oldest = this.pages.keys().next().value;
      if (this.pages.size > KEPT && oldest !== undefined) this.pages.delete(oldest);
      this.arrived();
    } catch (error) {
      if (!this.left) this.failed(error as Error);
    } finally {
      this.asked.delete(page);
    }
  }

  update(changed: Row[]): void {
    const fresh = new Map(changed.map((row) => [row.node, row]));
    for (const [page, rows] of this.pages) {
      this.pages.set(page, rows.map((row) => fresh.get(row.node) ?? row));
    }
  }
}
