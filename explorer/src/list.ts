// The list of all nodes, a million of them if need be.

import { get, type Parameters } from "./api";
import { actionButton } from "./button";
import { el, isolated, onPhone, refill } from "./dom";
import { Filters, FILTERS } from "./filters";
import type { Action } from "./keys";
import { alarm } from "./notices";
import { Pages } from "./pages";
import type { Room } from "./room";
import { caseAddress, goTo, nodeOf, routeTo, stayAt, type Route } from "./route";
import type { Row, Verdict } from "./types";
import type { View } from "./view";
import { VirtualList } from "./virtual";
import { chip, grouped, RING, ringWords, scored, stateWord } from "./words";

const SHOWN_COLUMNS = { desktop: 3, phone: 1 };
const VERDICTS: Partial<Record<Action, Verdict>> = { confirm: "yes", reject: "no", skip: "skip" };

export class ListView implements View {
  readonly title = "List";
  readonly hasRows = true;
  readonly element = el("div", { class: "list-view" });
  private readonly query: URLSearchParams;
  private readonly columns = onPhone() ? SHOWN_COLUMNS.phone : SHOWN_COLUMNS.desktop;
  private readonly filters: Filters;
  private readonly list: VirtualList;
  private readonly head = el("div", { class: "row head", role: "row", "aria-rowindex": 1 });
  private readonly total = el("p", { class: "quiet", id: "total", role: "status" });
  private readonly strip = el("div", { class: "strip", role: "group", "aria-label": "The active row" });
  private pages: Pages;
  private active = 0;
  private wish: number | null = null; // the row that was asked for while the rows were coming

  constructor(
    private readonly room: Room,
    route: Route,
  ) {
    this.query = new URLSearchParams(route.query);
    const perform = (action: Action): boolean => this.perform(action);
    this.filters = new Filters(room.run, this.query, (name, value) => this.ask(name, value), perform);
    this.list = new VirtualList("Nodes", (first, last) => this.rows(first, last), this.head);
    refill(
      this.element,
      el("header", { class: "bar-top" }, el("h1", {}, "List"), this.total),
      this.filters.element,
      this.list.element,
      this.strip,
    );
    this.pages = this.newPages();
    if (this.query.has("search")) {
      this.query.delete("search");
      queueMicrotask(() => this.filters.focus()); // once the view stands in the page
    }
    void this.start(nodeOf(this.query.get("node")));
  }

  private get sort(): string {
    return this.query.get("sort") ?? "score";
  }

  private get descends(): boolean {
    return (this.query.get("desc") ?? (this.sort === "score" ? "1" : "0")) === "1";
  }

  private get parameters(): Parameters {
    const chosen = Object.fromEntries(FILTERS.map((name) => [name, this.query.get(name)]));
    return { ...chosen, sort: this.sort, desc: this.descends ? 1 : 0 };
  }

  private newPages(): Pages {
    return new Pages(this.parameters, () => this.arrived(), (error) => alarm(error.message));
  }

  /** Another order or filter: the rows come anew, and the active case stays the active one if it is among them. */
  private ask(name: string, value: string): void {
    const node = this.pages.row(this.active)?.node ?? null;
    if (value) this.query.set(name, value);
    else this.query.delete(name);
    this.pages.leave();
    this.pages = this.newPages();
    void this.start(node);
  }

  private async start(node: number | null): Promise<void> {
    const pages = this.pages;
    this.drawHead();
    let place: number | null = null;
    if (node !== null) {
      place = await get<{ place: number | null }>("nodes/place", { ...this.parameters, node })
        .then((answer) => answer.place, () => null);
    }
    await pages.fetch(0);
    if (pages !== this.pages) return;
    this.activate(this.wish ?? place ?? 0);
    this.wish = null;
  }

  private arrived(): void {
    const total = this.pages.total ?? 0;
    const { nodes, columns } = this.room.run;
    const seen = columns.length > this.columns ? ` · ${this.columns} of ${columns.length} columns, all of them in the case` : "";
    this.total.textContent = total ? `${grouped(total)} of ${grouped(nodes)} nodes${seen}` : "No node fits.";
    this.list.length = total;
    this.showStrip();
  }

  private drawHead(): void {
    const columns = this.room.run.columns.slice(0, this.columns);
    const sortable = (name: string, words: string, className: string): HTMLElement => {
      const sorted = name === this.sort ? (this.descends ? "descending" : "ascending") : "none";
      const arrow = sorted === "none" ? "" : this.descends ? " ↓" : " ↑";
      const button = el("button", { type: "button", "data-sort": name, click: () => this.sortBy(name) }, words, arrow);
      const title = name === "hops" ? RING : null;
      return el("div", { role: "columnheader", class: className, "aria-sort": sorted, title }, button);
    };
    const focused = this.head.contains(document.activeElement)
      ? (document.activeElement as HTMLElement).dataset["sort"]
      : undefined;
    refill(
      this.head,
      el("div", { role: "columnheader", class: "rank" }, "Rank"),
      sortable("id", "Id", "name"),
      ...columns.map((name) => sortable(name, name, "cell")),
      sortable("score", "Score", "score"),
      sortable("hops", "Ring", "ring"),
      sortable("status", "Status", "state"),
    );
    if (focused !== undefined) this.head.querySelector<HTMLElement>(`[data-sort="${CSS.escape(focused)}"]`)?.focus();
    this.list.element.style.setProperty("--columns", String(columns.length));
  }

  private sortBy(name: string): void {
    const descends = name === this.sort ? !this.descends : name === "score";
    this.query.set("desc", descends ? "1" : "0");
    this.ask("sort", name);
  }

  private rows(first: number, last: number): HTMLElement[] {
    this.pages.want(first, last);
    return Array.from({ length: last - first }, (_, at) => this.row(first + at));
  }

  private row(at: number): HTMLElement {
    const row = this.pages.row(at);
    const cell = (className: string, ...children: (Node | string)[]): HTMLElement =>
      el("div", { role: "gridcell", class: className }, ...children);
    const cells = row
      ? [
          cell("rank number", row.rank === null ? "–" : grouped(row.rank)),
          cell("name", isolated(row.id)),
          ...row.cells.slice(0, this.columns).map((text) => cell("cell", isolated(text, ""))),
          cell("score number", scored(row.score)),
          cell("ring", ringWords(row.hops)),
          cell("state", chip(stateWord(row))),
        ]
      : [cell("name quiet", "…")];
    const isActive = at === this.active;
    return el(
      "div",
      {
        class: `row${isActive ? " active" : ""}`,
        role: "row",
        id: isActive ? "active-row" : null,
        "aria-rowindex": at + 2,
        "aria-selected": String(isActive),
        click: () => this.activate(at),
        dblclick: () => this.open(),
      },
      ...cells,
    );
  }

  private activate(at: number): void {
    const { total } = this.pages;
    if (total === null) {
      this.wish = at;
      return;
    }
    this.active = Math.max(Math.min(at, total - 1), 0);
    this.list.reveal(this.active);
    this.list.element.setAttribute("aria-activedescendant", "active-row");
    this.pages.want(this.active, this.active + 1);
    this.showStrip();
  }

  /** The active row again, with what can be done: it is seen even when the list was scrolled away from it. */
  private showStrip(): void {
    const row = this.pages.row(this.active);
    if (row) {
      this.query.set("node", String(row.node));
      stayAt(routeTo("list", "", this.query));
    }
    this.strip.hidden = this.pages.total === 0;
    const perform = (action: Action): boolean => this.perform(action);
    const decisions = [
      actionButton("confirm", "Confirm", perform, "yes"),
      actionButton("reject", "Reject", perform, "no"),
      actionButton("skip", "Skip", perform),
      actionButton("undo", "Undo", perform),
    ];
    for (const button of decisions.slice(0, 3)) button.disabled = !row || !this.room.isOpenTo(row);
    const focused = this.strip.contains(document.activeElement)
      ? (document.activeElement as HTMLElement).dataset["action"]
      : undefined;
    refill(
      this.strip,
      el("p", {}, `Row ${grouped(this.active + 1)}: `, row ? isolated(row.id) : "…", " ", row && chip(stateWord(row))),
      ...decisions,
      actionButton("open", "Open", perform),
      actionButton("picture", "Graph", perform),
    );
    if (focused) this.strip.querySelector<HTMLElement>(`[data-action="${focused}"]`)?.focus();
  }

  private open(): void {
    const row = this.pages.row(this.active);
    if (row) goTo(caseAddress(row.node));
  }

  private async decide(verdict: Verdict): Promise<void> {
    const at = this.active;
    const row = this.pages.row(at);
    if (row && (await this.room.decide(row, verdict, "list")) && this.active === at) this.activate(at + 1);
  }

  private async undo(): Promise<void> {
    const undone = await this.room.undo();
    if (!undone) return;
    const { place } = await get<{ place: number | null }>("nodes/place", { ...this.parameters, node: undone.row.node });
    if (place !== null) this.activate(place);
  }

  perform(action: Action): boolean {
    const verdict = VERDICTS[action];
    if (verdict) void this.decide(verdict);
    else if (action === "undo") void this.undo();
    else if (action === "next") this.activate(this.active + 1);
    else if (action === "previous") this.activate(this.active - 1);
    else if (action === "first") this.activate(0);
    else if (action === "last") this.activate(Infinity);
    else if (action === "open" || action === "note") this.open();
    else if (action === "search") this.filters.focus();
    else if (action === "filters") this.filters.fold();
    else if (action === "picture") this.toGraph();
    else return false;
    return true;
  }

  private toGraph(): void {
    const row = this.pages.row(this.active);
    if (row) goTo(routeTo("graph", row.node));
  }

  changed(rows: Row[]): void {
    this.pages.update(rows);
    this.list.refresh();
    this.showStrip();
  }

  leave(): void {
    this.pages.leave();
    this.filters.leave();
    this.list.leave();
  }
}
