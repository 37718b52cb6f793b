// The queue: one case at a time, in an order that serves a goal.

import { get } from "./api";
import { actionButton } from "./button";
import { CaseCard } from "./casecard";
import { el, refill } from "./dom";
import type { Action } from "./keys";
import { announce } from "./notices";
import type { Room } from "./room";
import { nodeOf, routeTo, stayAt, goTo, type Route } from "./route";
import type { Goal, Queue, QueueRow, Row, Saved } from "./types";
import type { View } from "./view";
import { grouped, plural } from "./words";

const GOALS: { goal: Goal; action: Action; words: string }[] = [
  { goal: "audit", action: "goalAudit", words: "Audit" },
  { goal: "finds", action: "goalFinds", words: "Finds" },
  { goal: "discovery", action: "goalDiscovery", words: "Discovery" },
  { goal: "learning", action: "goalLearning", words: "Learning" },
];

const isChecked = (row: Row): boolean => row.status === "confirmed" || row.status === "rejected";

export class QueueView implements View {
  readonly title = "Queue";
  readonly element = el("div", { class: "queue" });
  private readonly goal: Goal;
  private readonly status = el("p", { class: "progress" });
  private readonly meter = el("progress", { "aria-label": "Checked" });
  private readonly place = el("div", { class: "place" });
  private queue: Queue | null = null;
  private at = 0;
  private card: CaseCard | null = null;

  constructor(
    private readonly room: Room,
    route: Route,
  ) {
    const named = GOALS.find(({ goal }) => goal === route.rest)?.goal;
    // A new run is audited first: what it is worth is not known before.
    // Its audit is drawn when the queue is first asked for.
    const { drawn, checked } = room.audit;
    const isAudited = drawn > 0 ? checked >= drawn : room.run.readOnly;
    this.goal = named ?? (isAudited ? "finds" : "audit");
    const words = el("p", { class: "quiet words" });
    refill(
      this.element,
      el("header", { class: "bar-top" }, el("h1", {}, "Queue"), this.goals(), this.status, this.meter, this.steps()),
      words,
      this.place,
    );
    void this.load(nodeOf(route.query.get("case")), words);
  }

  private goals(): HTMLElement {
    return el(
      "div",
      { class: "goals", role: "group", "aria-label": "Goal of the queue" },
      ...GOALS.map(({ goal, action, words }) => {
        const button = actionButton(action, words, (chosen) => this.perform(chosen));
        button.setAttribute("aria-pressed", String(goal === this.goal));
        return button;
      }),
    );
  }

  private steps(): HTMLElement {
    const perform = (action: Action): boolean => this.perform(action);
    return el(
      "div",
      { class: "steps", role: "group", "aria-label": "Move" },
      actionButton("previous", "Previous", perform),
      actionButton("next", "Next", perform),
      actionButton("undo", "Undo", perform),
    );
  }

  private async load(node: number | null, words: HTMLElement): Promise<void> {
    try {
      this.queue = await get<Queue>("queue", { goal: this.goal });
    } catch (error) {
      refill(this.place, el("p", { class: "trouble" }, (error as Error).message));
      return;
    }
    words.textContent = this.queue.words;
    if (this.goal === "audit") this.room.run.audit = { drawn: this.queue.total, checked: this.queue.checked };
    const asked = this.queue.rows.findIndex((row) => row.node === node);
    this.showProgress();
    this.goToPlace(asked >= 0 ? asked : this.nextOpen(-1));
  }

  /** The next case nobody has looked at, from a place on and then from the start; -1 if all are done. */
  private nextOpen(after: number): number {
    const rows = this.queue?.rows ?? [];
    const isOpen = (row: Row): boolean => row.status === "open";
    const later = rows.findIndex((row, at) => at > after && isOpen(row));
    return later >= 0 ? later : rows.findIndex(isOpen);
  }

  private goToPlace(at: number): void {
    const row = this.queue?.rows[at];
    if (!row) {
      this.showEnd();
      return;
    }
    this.at = at;
    stayAt(routeTo("queue", this.goal, new URLSearchParams({ case: String(row.node) })));
    this.card = new CaseCard(this.room, row.node, {
      queue: this.goal,
      blind: this.goal === "audit" && !isChecked(row),
      reason: row.reason,
      decided: (saved) => this.decided(saved),
    });
    refill(this.place, this.card.element);
    this.showProgress();
  }

  private showEnd(): void {
    this.card = null;
    const rows = this.queue?.rows ?? [];
    const skipped = rows.filter((row) => row.status === "skipped").length;
    stayAt(routeTo("queue", this.goal));
    const isAudit = this.goal === "audit";
    refill(
      this.place,
      el(
        "div",
        { class: "panel" },
        el("h2", {}, rows.length ? "Every case here has been seen." : "There is nothing in this queue."),
        skipped > 0 && el("p", {}, `${plural(skipped, "case")} skipped: go back to them with Previous.`),
        el(
          "p",
          {},
          el("a", { href: routeTo("quality") }, "How good is the ranking?"),
          " · ",
          isAudit
            ? el("a", { href: routeTo("queue", "finds") }, "Go on to the finds")
            : el("a", { href: routeTo("learn") }, "Fit again with what was checked"),
        ),
      ),
    );
    this.at = rows.length;
    this.showProgress();
  }

  private showProgress(): void {
    const rows = this.queue?.rows ?? [];
    const isAudit = this.goal === "audit";
    const checked = isAudit ? this.room.audit.checked : rows.filter(isChecked).length;
    const total = isAudit ? this.room.audit.drawn : rows.length;
    const place = this.at < rows.length ? `case ${grouped(this.at + 1)} · ` : "";
    this.status.textContent = `${place}${grouped(checked)} of ${grouped(total)} checked`;
    this.meter.max = Math.max(total, 1);
    this.meter.value = checked;
  }

  /** Moves on, unless the person moved first. */
  private decided(saved: Saved): void {
    if (this.queue?.rows[this.at]?.node === saved.row.node) this.goToPlace(this.nextOpen(this.at));
  }

  private async undo(): Promise<void> {
    const undone = await this.room.undo();
    const at = this.queue?.rows.findIndex((row) => row.node === undone?.row.node) ?? -1;
    if (undone && at >= 0) this.goToPlace(at);
  }

  perform(action: Action): boolean {
    const goal = GOALS.find((each) => each.action === action);
    if (goal) goTo(routeTo("queue", goal.goal));
    else if (action === "undo") void this.undo();
    else if (action === "next" || action === "previous") this.step(action === "next" ? 1 : -1);
    else return this.card?.perform(action) ?? false;
    return true;
  }

  private step(by: number): void {
    const rows = this.queue?.rows ?? [];
    const at = this.at + by;
    if (at < 0 || at >= rows.length) announce(by < 0 ? "This is the first case." : "This is the last case.");
    else this.goToPlace(at);
  }

  changed(rows: Row[]): void {
    const fresh = new Map(rows.map((row) => [row.node, row]));
    for (const row of this.queue?.rows ?? []) {
      const change = fresh.get(row.node);
      if (change) (row as QueueRow).status = change.status;
    }
    this.showProgress();
    this.card?.changed(rows);
  }
}
