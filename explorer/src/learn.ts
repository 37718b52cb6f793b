// Fit again with what was checked, and see what that changed.

import { get } from "./api";
import { actionButton } from "./button";
import { el, heads, isolated, refill } from "./dom";
import type { Action } from "./keys";
import { measuredTable } from "./measured";
import { alarm, announce } from "./notices";
import type { Room } from "./room";
import { routeTo } from "./route";
import type { Learning, Measured, Move } from "./types";
import type { View } from "./view";
import { grouped, plural } from "./words";

const POLL_MS = 1000;

export class LearnView implements View {
  readonly title = "Learn";
  readonly element = el("div", { class: "learn" });
  private state: Learning["state"] = "idle";
  private newRun = "";
  private waiting = 0;
  private left = false;

  constructor(private readonly room: Room) {
    void this.follow();
  }

  private get canStart(): boolean {
    const { readOnly, counts } = this.room.run;
    return !readOnly && counts.confirmed + counts.rejected > 0;
  }

  private async follow(): Promise<void> {
    clearTimeout(this.waiting);
    try {
      const learning = await get<Learning>("learn");
      if (this.left) return;
      if (this.state === "running" && learning.state !== "running") announce(`Fitting again: ${learning.state}`);
      this.show(learning);
    } catch (error) {
      alarm((error as Error).message);
    }
    if (!this.left && this.state === "running") this.waiting = setTimeout(() => void this.follow(), POLL_MS);
  }

  private show(learning: Learning): void {
    this.state = learning.state;
    this.newRun = learning.state === "done" ? (learning.run ?? "") : "";
    const perform = (action: Action): boolean => this.perform(action);
    const { confirmed, rejected } = this.room.run.counts;
    const start = actionButton("learn", learning.state === "idle" ? "Fit again" : "Fit once more", perform, "yes");
    start.disabled = !this.canStart;
    const focused = (document.activeElement as HTMLElement | null)?.dataset["action"];
    refill(
      this.element,
      el("h1", {}, "Learn"),
      el(
        "div",
        { class: "panel" },
        el("p", {}, `The model learns from ${plural(confirmed, "case")} confirmed and ${grouped(rejected)} rejected. `,
          "The new run stands in a folder of its own; this one stays as it is."),
        this.room.run.parent !== null && el("p", { class: "quiet" }, "This run learnt from ", isolated(this.room.run.parent), "."),
        learning.state === "running" ? this.progress(learning, perform) : start,
        learning.state === "failed" && el("p", { class: "trouble" }, learning.error ?? "The fit failed."),
        learning.state === "cancelled" && el("p", {}, "The fit was cancelled; nothing was kept of it."),
      ),
      learning.state === "done" && this.outcome(learning, perform),
    );
    if (focused) this.element.querySelector<HTMLElement>(`[data-action="${focused}"]`)?.focus();
  }

  private progress({ seconds = 0, words = "" }: Learning, perform: (action: Action) => boolean): HTMLElement {
    return el(
      "div",
      {},
      el("progress", { "aria-label": "Fitting" }),
      el("p", {}, `${grouped(seconds)} s · ${words}`),
      actionButton("cancel", "Cancel", perform),
    );
  }

  private outcome({ run = "", changes, measured, newer = 0 }: Learning, perform: (action: Action) => boolean): HTMLElement {
    const tables: [string, Measured | null | undefined][] = [["Before", measured?.before], ["After", measured?.after]];
    return el(
      "div",
      { class: "panel" },
      el("h2", {}, "What changed"),
      newer > 0 && el("p", { class: "trouble" }, `${plural(newer, "verdict")} ${newer === 1 ? "is" : "are"} newer than this `,
        "training, which has not learnt from it: fit once more, and open that run."),
      ...(changes?.words ?? []).map((words) => el("p", {}, words)),
      changes && el("div", { class: "pair" }, moves("Rose", changes.rose), moves("Fell", changes.fell)),
      ...tables.flatMap(([words, table]) => (table ? [el("h3", {}, words), measuredTable(table)] : [])),
      run !== "" && el("p", {}, "New run: ", isolated(run), " "),
      run !== "" && actionButton("openRun", "Open the new run", perform, "yes"),
    );
  }

  private async start(): Promise<void> {
    try {
      await this.room.post<Learning>("learn");
      announce("Fitting again has begun.");
    } catch (error) {
      alarm((error as Error).message);
    }
    await this.follow();
  }

  private async cancel(): Promise<void> {
    await this.room.post("learn/cancel").catch((error: Error) => alarm(error.message));
    await this.follow();
  }

  private async open(): Promise<void> {
    try {
      await this.room.post("open", { run: this.newRun });
      location.hash = routeTo("queue");
      location.reload();
    } catch (error) {
      alarm((error as Error).message);
    }
  }

  perform(action: Action): boolean {
    if (action === "learn" && this.state !== "running") {
      if (this.room.run.readOnly) alarm("This room is read-only: nothing is trained.");
      else if (this.canStart) void this.start();
      else announce("There is nothing to learn from yet: confirm or reject some cases first.");
    }
    else if (action === "cancel" && this.state === "running") void this.cancel();
    else if (action === "openRun" && this.newRun) void this.open();
    else return false;
    return true;
  }

  changed(): void {
    void this.follow();
  }

  leave(): void {
    this.left = true;
    clearTimeout(this.waiting);
  }
}

function moves(title: string, rows: Move[]): HTMLElement {
  const rank = (value: number | null): string => (value === null ? "–" : grouped(value));
  // The nodes are those of the new run: this room has no address for them yet.
  const line = ({ id, before, after }: Move): HTMLElement =>
    el("tr", {}, el("th", { scope: "row" }, isolated(id)), el("td", { class: "number" }, rank(before)),
      el("td", { class: "number" }, rank(after)));
  return el(
    "div",
    {},
    el("h3", {}, title),
    rows.length
      ? el("table", {}, heads("Id", "Rank before", "Rank after"), el("tbody", {}, ...rows.map(line)))
      : el("p", { class: "quiet" }, "None."),
  );
}
