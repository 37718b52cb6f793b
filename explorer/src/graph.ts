// The graph: the neighbourhood of a case or of the top finds, unfolded click by click, with the same in text beside it.

import { get } from "./api";
import { actionButton } from "./button";
import { el, isolated, refill } from "./dom";
import { Drawing, foldedAt } from "./drawing";
import type { Action } from "./keys";
import { alarm, announce } from "./notices";
import type { Room } from "./room";
import { caseAddress, goTo, graphAddress, nodeOf, routeTo, stayAt, type Route } from "./route";
import type { GraphNode, GraphPart, NodesPage, Row, Verdict } from "./types";
import { askWish, type Wish } from "./unfold";
import type { View } from "./view";
import { chip, grouped, isUndecided, plural, scored, stateWord } from "./words";

const TOP = 8; // finds that are drawn when no case is named
const SMALL = 30; // so many neighbours unfold without a question
const LISTED = 200;
const VERDICTS: Partial<Record<Action, Verdict>> = { confirm: "yes", reject: "no", skip: "skip" };

export class GraphView implements View {
  readonly title = "Graph";
  readonly hasRows = true;
  readonly element = el("div", { class: "graph-view" });
  private readonly canvas = el("div", { class: "canvas", role: "img", "aria-label": "The graph; all of it is in the list beside" });
  private readonly about = el("div", { class: "about" });
  private readonly list = el("ul", { class: "drawn", "aria-label": "What is drawn" });
  private readonly count = el("p", { class: "quiet", id: "drawn-count" });
  private readonly drawing = new Drawing((node) => {
    this.choose(node);
    void this.expand();
  });
  private readonly root: number | null;
  private readonly blind: boolean;
  private chosen: number | null = null;
  private path: number[] = [];
  private left = false;

  constructor(
    private readonly room: Room,
    route: Route,
  ) {
    this.root = nodeOf(route.rest);
    this.blind = this.root !== null && route.query.has("blind");
    const perform = (action: Action): boolean => this.perform(action);
    refill(
      this.element,
      el(
        "header",
        { class: "bar-top" },
        el("h1", {}, "Graph"),
        this.count,
        el(
          "div",
          { class: "steps" },
          actionButton("expand", "More neighbours", perform),
          actionButton("path", "Path", perform),
          actionButton("fit", "Whole", perform),
          actionButton("zoomIn", "Closer", perform),
          actionButton("zoomOut", "Farther", perform),
        ),
      ),
      el(
        "div",
        { class: "beside" },
        el("div", { class: "pane" }, this.canvas, legend()),
        el("aside", { "aria-label": "Chosen node and list" }, this.about, el("h2", {}, "What is drawn"), this.list),
      ),
    );
    void this.load(nodeOf(route.query.get("node")));
  }

  private async load(chosen: number | null): Promise<void> {
    try {
      const nodes = this.root === null ? await topFinds() : [this.root];
      const part = await get<GraphPart>("graph", { nodes: nodes.join(","), hops: 1 });
      if (this.left) return;
      this.drawing.add(part);
      this.paint();
      const first = chosen !== null && this.drawing.has(chosen) ? chosen : nodes[0];
      if (first !== undefined) this.choose(first);
      if (part.cut) announce("Not all of it is drawn: the picture ends at 2,000 nodes or 5,000 links.");
      if (this.root !== null) await this.showPath(false);
    } catch (error) {
      alarm((error as Error).message);
    }
  }

  /** Until the case is decided, nothing here tells a score to whoever checks the audit. */
  private get isBlind(): boolean {
    const root = this.blind && this.root !== null ? this.drawing.row(this.root) : null;
    return this.blind && (root === null || isUndecided(root));
  }

  private paint(): void {
    try {
      this.drawing.show(this.canvas, () => this.unpainted("The browser dropped the drawing. Reload the page to restore it."));
    } catch {
      this.unpainted("This browser cannot draw the graph (it needs WebGL). The list has all that would be drawn.");
    }
  }

  private unpainted(words: string): void {
    refill(this.canvas, el("p", { class: "trouble" }, words));
  }

  private choose(node: number): void {
    this.chosen = node;
    this.drawing.choose(node);
    this.showText();
    const query = new URLSearchParams({
      ...(this.blind ? { blind: "1" } : {}), ...(node === this.root ? {} : { node: String(node) }),
    });
    stayAt(routeTo("graph", this.root ?? "", query));
  }

  /** The picture in words, most relevant first: what the chosen node is linked with, then the rest. */
  private showText(): void {
    this.drawing.blind = this.isBlind;
    this.element.classList.toggle("blind", this.isBlind);
    const rows = this.inOrder();
    const near = new Set(this.chosen === null ? [] : this.drawing.neighbours(this.chosen).map((row) => row.node));
    this.count.textContent = `${plural(this.drawing.graph.order, "node")}, ${plural(this.drawing.graph.size, "link")} drawn`;
    const focused = this.list.contains(document.activeElement);
    refill(
      this.list,
      ...rows.slice(0, LISTED).map((row) => this.item(row, near.has(row.node))),
      rows.length > LISTED && el("li", { class: "quiet" }, `… and ${grouped(rows.length - LISTED)} more`),
    );
    const current = this.list.querySelector<HTMLElement>("[aria-current]");
    if (current) {
      // Not scrollIntoView, which would scroll the page under a reader's eyes as well.
      const list = this.list;
      const [top, bottom] = [current.offsetTop - list.offsetTop, current.offsetTop - list.offsetTop + current.offsetHeight];
      if (top < list.scrollTop) list.scrollTop = top;
      else if (bottom > list.scrollTop + list.clientHeight) list.scrollTop = bottom - list.clientHeight;
    }
    if (focused) current?.focus();
    this.showChosen();
  }

  private inOrder(): GraphNode[] {
    const byScore = (a: GraphNode, b: GraphNode): number => (this.isBlind ? 0 : (b.score ?? 2) - (a.score ?? 2));
    return this.drawing.rows().sort((a, b) => byScore(a, b) || a.node - b.node);
  }

  private item(row: GraphNode, isNear: boolean): HTMLElement {
    const folded = foldedAt(row);
    const isChosen = row.node === this.chosen;
    return el(
      "li",
      {},
      el(
        "button",
        { type: "button", class: isNear ? "near" : "", "aria-current": isChosen ? "true" : null, click: () => this.choose(row.node) },
        isolated(row.id), " ", chip(stateWord(row)),
        el("small", {}, !this.isBlind && ` ${scored(row.score)}`, folded > 0 && ` +${grouped(folded)}`,
          this.path.includes(row.node) && " on the path", isNear && " linked"),
      ),
    );
  }

  private showChosen(): void {
    const row = this.chosenRow();
    if (!row) return;
    const perform = (action: Action): boolean => this.perform(action);
    const focused = this.about.contains(document.activeElement)
      ? (document.activeElement as HTMLElement).dataset["action"]
      : undefined;
    const decisions = [
      actionButton("confirm", "Confirm", perform, "yes"),
      actionButton("reject", "Reject", perform, "no"),
      actionButton("skip", "Skip", perform),
      actionButton("undo", "Undo", perform),
    ];
    for (const button of decisions.slice(0, 3)) button.disabled = !this.room.isOpenTo(row);
    const folded = foldedAt(row);
    refill(
      this.about,
      el("h2", {}, isolated(row.id), " ", chip(stateWord(row))),
      el("p", { class: "quiet" }, `Score ${this.isBlind ? "hidden until you decide" : scored(row.score)} · ${plural(row.degree, "link")}${folded ? `, ${grouped(folded)} folded` : ""}`),
      ...row.cells.map((text, at) =>
        el("p", {}, el("small", {}, this.room.run.columns[at] ?? "", " "), isolated(text, ""))),
      el("div", { class: "steps" }, actionButton("open", "Open", perform), ...decisions),
    );
    if (focused) this.about.querySelector<HTMLElement>(`[data-action="${focused}"]`)?.focus();
  }

  private chosenRow(): GraphNode | null {
    return this.chosen === null ? null : this.drawing.row(this.chosen);
  }

  private async expand(): Promise<void> {
    const row = this.chosenRow();
    if (!row) return;
    const folded = foldedAt(row);
    if (folded === 0) {
      announce(`All neighbours of ${row.id} are drawn.`);
      return;
    }
    const wish = folded <= SMALL ? { relation: "", by: this.order, count: folded } : await this.ask(row, folded);
    if (!wish || this.left) return;
    try {
      const part = await this.more(row.node, wish);
      if (this.left) return;
      const before = this.drawing.graph.order;
      this.drawing.add(part, row.node);
      this.showText();
      announce(`${plural(this.drawing.graph.order - before, "node")} added around ${row.id}`);
    } catch (error) {
      alarm((error as Error).message);
    }
  }

  private get order(): Wish["by"] {
    return this.isBlind ? "known" : "score";
  }

  private async ask(row: GraphNode, folded: number): Promise<Wish | null> {
    const unknown = this.room.run.relations.map((relation) => ({ relation, count: null }));
    const left = await this.more(row.node, { relation: "", by: this.order, count: 0 }).then((part) => part.left, () => unknown);
    return askWish(row, folded, left ?? unknown, this.isBlind);
  }

  private more(node: number, { relation, by, count }: Wish): Promise<GraphPart> {
    const have = this.drawing.neighbours(node).map((row) => row.node).join(",");
    return get<GraphPart>("expand", { node, have, relation, by, count });
  }

  /** Marks the way from the chosen node to the nearest known positive, and draws what of it is missing. */
  private async showPath(tells = true): Promise<void> {
    if (this.chosen === null) return;
    const { path } = await get<{ path: Row[] }>("path", { node: this.chosen });
    if (this.left) return;
    const missing = path.filter((row) => !this.drawing.has(row.node));
    const links = path.slice(1).map((row, at) => ({ source: path[at]?.node ?? row.node, target: row.node, relation: "", weight: 1 }));
    if (missing.length) {
      // Their own neighbours are not known yet: opening them up asks for those.
      const nodes = missing.map((row) => ({ ...row, degree: 0, shown: 0 }));
      const part = await get<GraphPart>("graph", { nodes: missing.map((row) => row.node).join(","), hops: 0 })
        .catch(() => ({ nodes, edges: [], cut: false }));
      const wanted = new Set(path.map((row) => row.node));
      this.drawing.add({ ...part, nodes: part.nodes.filter((row) => wanted.has(row.node)), edges: links }, this.chosen);
    }
    this.path = path.map((row) => row.node);
    this.drawing.showPath(this.path);
    this.showText();
    if (tells) {
      const names = path.map((row) => row.id).join(", then ");
      announce(path.length ? `Path: ${names}` : "There is no path to a known positive.");
    }
  }

  private step(by: number): void {
    const rows = this.inOrder();
    const at = rows.findIndex((row) => row.node === this.chosen) + by;
    const row = rows[Math.max(Math.min(at, rows.length - 1), 0)];
    if (row) this.choose(row.node);
  }

  private async decide(verdict: Verdict): Promise<void> {
    const row = this.chosenRow();
    if (row) await this.room.decide(row, verdict, "graph");
  }

  perform(action: Action): boolean {
    const verdict = VERDICTS[action];
    if (verdict) void this.decide(verdict);
    else if (action === "undo") void this.room.undo();
    else if (action === "next" || action === "previous") this.step(action === "next" ? 1 : -1);
    else if (action === "first" || action === "last") this.step(action === "last" ? Infinity : -Infinity);
    else if (action === "expand") void this.expand();
    else if (action === "path") void this.showPath().catch((error: Error) => alarm(error.message));
    else if (action === "zoomIn") this.drawing.zoom("in");
    else if (action === "zoomOut") this.drawing.zoom("out");
    else if (action === "fit") this.drawing.zoom("fit");
    else if (action === "picture" && this.chosen !== null) goTo(graphAddress(this.chosen, this.isBlind));
    else if ((action === "open" || action === "note") && this.chosen !== null) goTo(caseAddress(this.chosen, this.isBlind));
    else return false;
    return true;
  }

  changed(rows: Row[]): void {
    for (const row of rows) this.drawing.update(row);
    this.showText();
  }

  leave(): void {
    this.left = true;
    this.drawing.leave();
  }
}

async function topFinds(): Promise<number[]> {
  const best = { sort: "score", desc: 1, offset: 0, limit: TOP };
  // Once all is decided there are no open finds, nor unlabelled ones where all are known.
  for (const some of [{ known: 0, status: "open" }, { known: 0 }, {}]) {
    const { rows } = await get<NodesPage>("nodes", { ...best, ...some });
    if (rows.length) return rows.map((row) => row.node);
  }
  return [];
}

function legend(): HTMLElement {
  return el(
    "p",
    { class: "legend quiet" },
    el("span", { class: "tells-score" }, "Colour: ", el("i", { class: "ramp" }), " score low to high. "), "Ring: ",
    ...["known positive", "confirmed", "rejected", "skipped"].flatMap((word) => [chip(word), " "]),
    "Click a node to see more of its neighbours.",
  );
}
