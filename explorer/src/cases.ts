// What was decided and noted, by whom and when; and the way out of the room for it.

import { address, get } from "./api";
import { el, isolated, labelled, refill } from "./dom";
import type { Action } from "./keys";
import { alarm } from "./notices";
import { caseAddress, goTo, routeTo, stayAt, type Route } from "./route";
import type { CaseRow } from "./types";
import type { View } from "./view";
import { chip, grouped, scored, shortened, stateWord, when } from "./words";

const STATUSES = ["confirmed", "rejected", "skipped", "noted"];
const TYPING_MS = 250;

export class CasesView implements View {
  readonly title = "Cases";
  readonly hasRows = true;
  readonly element = el("div", { class: "cases" });
  private readonly list = el("ul", { class: "case-list" });
  private readonly total = el("p", { class: "quiet", role: "status" });
  private readonly search: HTMLInputElement;
  private readonly chosen: Set<string>;
  private rows: CaseRow[] = [];
  private active = 0;
  private waiting = 0;
  private asked = 0;

  constructor(route: Route) {
    this.chosen = new Set((route.query.get("status") ?? STATUSES.join(",")).split(","));
    this.search = el("input", { type: "search", value: route.query.get("q"), placeholder: "id, column or note" });
    this.search.addEventListener("input", () => this.soon());
    refill(
      this.element,
      el("header", { class: "bar-top" }, el("h1", {}, "Cases"), this.total, exports()),
      el(
        "div",
        { class: "tools", role: "search" },
        labelled("Search", this.search, "grow"),
        el("fieldset", {}, el("legend", {}, "Show"), ...STATUSES.map((status) => this.box(status))),
      ),
      this.list,
    );
    void this.load();
  }

  private box(status: string): HTMLElement {
    const box = el("input", { type: "checkbox" });
    box.checked = this.chosen.has(status);
    box.addEventListener("change", () => {
      if (box.checked) this.chosen.add(status);
      else this.chosen.delete(status);
      this.soon();
    });
    return el("label", { class: "check" }, box, status);
  }

  private soon(): void {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => void this.load(), TYPING_MS);
  }

  private async load(): Promise<void> {
    const status = STATUSES.filter((each) => this.chosen.has(each)).join(",");
    const q = this.search.value.trim();
    const isAll = this.chosen.size === STATUSES.length;
    const query = new URLSearchParams({ ...(isAll ? {} : { status }), ...(q ? { q } : {}) });
    stayAt(routeTo("cases", "", query));
    const asked = ++this.asked;
    try {
      const answer = status ? await get<{ rows: CaseRow[]; total: number }>("cases", { status, q }) : { rows: [], total: 0 };
      if (asked !== this.asked) return; // a later question was answered first
      this.rows = answer.rows;
      const { rows, total } = answer;
      this.total.textContent = total > rows.length ? `the latest ${grouped(rows.length)} of ${grouped(total)}` : grouped(total);
      this.show();
    } catch (error) {
      alarm((error as Error).message);
    }
  }

  private show(): void {
    this.active = Math.max(Math.min(this.active, this.rows.length - 1), 0);
    refill(
      this.list,
      ...this.rows.map((row, at) => this.item(row, at)),
      this.rows.length === 0 && el("li", { class: "quiet" }, "No case fits."),
    );
  }

  private item(row: CaseRow, at: number): HTMLElement {
    return el(
      "li",
      { class: at === this.active ? "active" : "", focusin: () => this.activate(at, false) },
      el("a", { href: caseAddress(row.node) }, isolated(row.id)),
      el("span", { class: "quiet cells" }, ...row.cells.flatMap((cell, at) => [at > 0 && " · ", isolated(cell, "")])),
      chip(stateWord(row)),
      el("span", { class: "number" }, scored(row.score)),
      el("span", { class: "quiet" }, isolated(row.who, ""), `, ${when(row.at)}`),
      row.note !== "" && el("q", {}, isolated(shortened(row.note, 400), "")),
    );
  }

  private activate(at: number, focuses = true): void {
    if (!this.rows.length) return;
    const items = this.list.children;
    items[this.active]?.classList.remove("active");
    this.active = Math.max(Math.min(at, this.rows.length - 1), 0);
    const item = items[this.active];
    item?.classList.add("active");
    if (focuses) item?.querySelector("a")?.focus();
  }

  perform(action: Action): boolean {
    const row = this.rows[this.active];
    if (action === "next") this.activate(this.active + 1);
    else if (action === "previous") this.activate(this.active - 1);
    else if (action === "first") this.activate(0);
    else if (action === "last") this.activate(Infinity);
    else if (action === "search") this.search.focus();
    else if (action === "open" && row) goTo(caseAddress(row.node));
    else if (action === "picture" && row) goTo(routeTo("graph", row.node));
    else return false;
    return true;
  }

  changed(): void {
    this.soon();
  }

  leave(): void {
    clearTimeout(this.waiting);
    this.asked += 1;
  }
}

function exports(): HTMLElement {
  const link = (format: string, words: string): HTMLElement =>
    el("a", { href: address("export", { format }), download: "" }, words);
  return el("p", {}, "Save all: ", link("csv", "CSV"), " · ", link("parquet", "Parquet"), " · ", link("html", "case file"));
}
