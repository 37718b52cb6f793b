// Search and filters of the list, kept in its address.

import { actionButton } from "./button";
import { choice, el, labelled } from "./dom";
import type { Action } from "./keys";
import type { Run } from "./types";
import { grouped } from "./words";

export const FILTERS = ["q", "status", "known", "decided", "hops", "relation", "min", "max"] as const;
export type Filter = (typeof FILTERS)[number];

const TYPING_MS = 250;

export class Filters {
  readonly element: HTMLElement;
  private readonly search: HTMLInputElement;
  private readonly more: HTMLElement;
  private waiting = 0;

  constructor(
    run: Run,
    query: URLSearchParams,
    private readonly set: (name: Filter, value: string) => void,
    perform: (action: Action) => boolean,
  ) {
    this.search = this.input("q", query, { type: "search", placeholder: "id or any shown column" });
    const select = (name: Filter, options: [string, string][]): HTMLSelectElement => {
      const made = choice([["", "any"], ...options], query.get(name) ?? "");
      made.addEventListener("change", () => set(name, made.value));
      return made;
    };
    const isUsed = FILTERS.some((name) => name !== "q" && query.has(name));
    const share = { type: "number", min: 0, max: 1, step: "any" };
    this.more = el(
      "div",
      { class: "tools", id: "filters", hidden: !isUsed },
      labelled("Status", select("status", statuses(run))),
      labelled("Known before", select("known", [["0", "no"], ["1", "positive"], ["-1", "negative"]])),
      labelled("The model says", select("decided", [["1", "positive"], ["0", "not positive"]])),
      labelled("Ring: hops to a known positive", select("hops", run.rings.map((ring) => [
        ring.hops === null ? "none" : String(ring.hops), `${ring.name} (${grouped(ring.count)})`,
      ]))),
      run.relations.length > 0 && labelled("Has a link", select("relation", run.relations.map((name) => [name, name]))),
      labelled("Score from", this.input("min", query, share)),
      labelled("to", this.input("max", query, share)),
    );
    this.element = el(
      "div",
      { class: "filters", role: "search" },
      el(
        "div",
        { class: "tools" },
        labelled("Search", this.search, "grow"),
        actionButton("filters", "Filters", perform),
      ),
      this.more,
    );
  }

  private input(name: Filter, query: URLSearchParams, attributes: Record<string, string | number>): HTMLInputElement {
    const made = el("input", { ...attributes, value: query.get(name) });
    made.addEventListener("input", () => {
      clearTimeout(this.waiting);
      this.waiting = setTimeout(() => this.set(name, made.value.trim()), TYPING_MS);
    });
    return made;
  }

  focus(): void {
    this.search.focus();
    this.search.select();
  }

  fold(): void {
    this.more.hidden = !this.more.hidden;
    if (!this.more.hidden) this.more.querySelector("select")?.focus();
  }

  leave(): void {
    clearTimeout(this.waiting);
  }
}

function statuses({ counts }: Run): [string, string][] {
  return Object.entries(counts).map(([status, count]) => [status, `${status} (${grouped(count)})`]);
}
