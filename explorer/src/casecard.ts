// One case with all that is needed to decide it, on one screen.

import { get, Unreachable } from "./api";
import { actionButton } from "./button";
import { el, isolated, refill } from "./dom";
import type { Action } from "./keys";
import { alarm } from "./notices";
import { picture } from "./picture";
import { reasons } from "./reasons";
import type { Room } from "./room";
import { caseAddress, goTo, graphAddress } from "./route";
import type { Case, GraphPart, Nearest, Row, Saved, Verdict } from "./types";
import { chip, grouped, isUndecided, plural, RING, ringWords, scored, shortened, stateWord, when } from "./words";

const VERDICTS: Partial<Record<Action, Verdict>> = { confirm: "yes", reject: "no", skip: "skip" };
const PATH_SHOWN = 4;
const ASK_AGAIN_MS = 500;

const TOLD: Record<string, string> = { yes: "confirmed", no: "rejected", skip: "skipped", note: "noted", undo: "undone" };

export interface CardOptions {
  queue: string;
  /** No score and nothing that tells it, until the case is decided. */
  blind: boolean;
  reason?: string;
  /** After a decision was saved; without it the card shows the case as it is now. */
  decided?: (saved: Saved) => void;
}

export class CaseCard {
  readonly element = el("article", { class: "card", "aria-busy": "true" });
  private readonly note = el("textarea", { rows: 2, maxlength: 10_000, "aria-label": "Note" });
  private shown: Case | null = null;
  private part: GraphPart | null = null;
  private deciding = false;
  private why: HTMLElement | null = null;
  private isAskingWhy = false;

  constructor(
    private readonly room: Room,
    private readonly node: number,
    private readonly options: CardOptions,
  ) {
    this.note.addEventListener("input", () => this.shown && room.keepDraft(this.shown.row, this.note.value));
    this.note.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void this.decide("note");
    });
    refill(this.element, el("p", { class: "quiet" }, "Loading the case…"));
    void this.load();
  }

  async load(): Promise<void> {
    const blind = this.options.blind ? 1 : null;
    try {
      this.shown = await get<Case>(`case/${this.node}`, { blind });
      // Decided in the meantime, or known before: there is nothing left to sway.
      if (blind && !isUndecided(this.shown.row)) {
        this.options.blind = false;
        this.shown = await get<Case>(`case/${this.node}`);
      }
      this.show(this.shown);
      void this.askWhy();
      this.part ??= await get<GraphPart>("graph", { nodes: this.node, hops: 1 });
      this.show(this.shown);
    } catch (error) {
      if (this.shown) alarm((error as Error).message);
      else refill(this.element, el("p", { class: "trouble" }, (error as Error).message));
    }
  }

  /** In a large graph it takes a while to work out why: asks again until it is there, or the card is gone. */
  private async askWhy(): Promise<void> {
    if (this.isAskingWhy) return;
    this.isAskingWhy = true;
    try {
      while (this.shown?.whyPending) {
        await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS));
        if (!this.element.isConnected) return;
        const { blind } = this.options;
        const found = await this.again(blind);
        if (!found || found.whyPending || blind !== this.options.blind || !this.shown.whyPending) continue;
        const { why, whyMissing, whyPending } = found;
        this.shown = { ...this.shown, why, whyMissing, whyPending };
        // The rest of the card stays as it is: somebody may be typing there.
        const section = reasons(this.shown, blind);
        this.why?.replaceWith(section);
        this.why = section;
      }
    } catch (error) {
      alarm((error as Error).message);
    } finally {
      this.isAskingWhy = false;
    }
  }

  /** The case once more; null while the server is gone. */
  private async again(blind: boolean): Promise<Case | null> {
    try {
      return await get<Case>(`case/${this.node}`, { blind: blind ? 1 : null });
    } catch (error) {
      if (error instanceof Unreachable) return null;
      throw error;
    }
  }

  /** A decision made elsewhere changes the case on the screen. */
  changed(rows: Row[]): void {
    if (this.deciding) return; // then the own decision says how to go on
    const near = new Set([this.node, ...(this.part?.nodes ?? []).map((node) => node.node)]);
    if (!rows.some((row) => near.has(row.node))) return;
    this.part = null;
    void this.load();
  }

  perform(action: Action): boolean {
    const verdict = VERDICTS[action];
    if (verdict) void this.decide(verdict);
    else if (action === "note") this.note.focus();
    else if (action === "picture") goTo(graphAddress(this.node, this.options.blind));
    else if (action === "open") goTo(caseAddress(this.node, this.options.blind));
    else return false;
    return true;
  }

  private async decide(verdict: Verdict): Promise<void> {
    if (!this.shown || (verdict === "note" && this.unsavedNote() === undefined)) return;
    this.deciding = true;
    const saved = await this.room.decide(this.shown.row, verdict, this.options.queue, this.unsavedNote());
    this.deciding = false;
    if (!saved) return;
    if (verdict === "note") this.note.blur();
    if (verdict !== "note" && this.options.decided) this.options.decided(saved);
    else void this.load();
  }

  /** The note as it stands in the field, if it is not the one that is saved. */
  private unsavedNote(): string | undefined {
    return this.note.value === this.shown?.note ? undefined : this.note.value;
  }

  private show(shown: Case): void {
    // What is being typed stays as it is while the case around it is drawn again.
    const typing = document.activeElement === this.note;
    if (!typing) this.note.value = this.room.draft(shown.row) ?? shown.note;
    this.note.readOnly = this.room.run.readOnly;
    this.why = reasons(shown, this.options.blind);
    refill(
      this.element,
      this.head(shown),
      this.decisions(shown.row),
      el("div", { class: "facets" }, this.columns(shown), this.why, this.around(shown)),
    );
    this.element.setAttribute("aria-busy", String(this.part === null));
    if (typing) this.note.focus();
  }

  private head({ row, degree }: Case): HTMLElement {
    const facts: [string, string][] = [
      ["Score", this.options.blind ? "hidden until you decide" : scored(row.score)],
      ...(row.rank === null ? [] : ([["Rank", grouped(row.rank)]] as [string, string][])),
      ["Ring", ringWords(row.hops)],
      ["Links", grouped(degree)],
    ];
    return el(
      "header",
      {},
      el("h2", {}, isolated(row.id), " ", chip(stateWord(row))),
      el("dl", { class: "facts" }, ...facts.map(([name, value]) => 
        el("div", { title: name === "Ring" ? RING : null }, el("dt", {}, name), el("dd", {}, value)))),
      this.options.reason !== undefined && el("p", { class: "reason" }, el("b", {}, "Why now: "), this.options.reason),
    );
  }

  private decisions(row: Row): HTMLElement {
    const perform = (action: Action): boolean => this.perform(action);
    const buttons = [
      actionButton("confirm", "Confirm", perform, "yes"),
      actionButton("reject", "Reject", perform, "no"),
      actionButton("skip", "Skip", perform),
    ];
    for (const button of buttons) button.disabled = !this.room.isOpenTo(row);
    return el("div", { class: "decisions", role: "group", "aria-label": "Decide" }, ...buttons);
  }

  private columns({ columns, history }: Case): HTMLElement {
    const save = el("button", { type: "button", click: () => void this.decide("note") }, "Save the note");
    save.disabled = this.room.run.readOnly;
    return el(
      "section",
      { class: "columns" },
      el("h3", {}, "The case"),
      columns.length === 0 && el("p", { class: "quiet" }, "This run has no columns to show."),
      el("dl", {}, ...columns.map(({ name, value }) =>
        el("div", {}, el("dt", {}, isolated(name, "")), el("dd", {}, isolated(value, "")))),
      ),
      el("h3", {}, "Note ", el("kbd", { "aria-hidden": "true" }, "n")),
      this.note,
      save,
      history.length > 0 && el("h3", {}, "What was decided"),
      el("ol", { class: "history" }, ...history.map((entry) =>
        el("li", {}, `${TOLD[entry.verdict] ?? entry.verdict} by `, isolated(entry.who, ""), `, ${when(entry.at)}`,
          entry.note !== "" && el("q", {}, isolated(shortened(entry.note, 300), ""))),
      )),
    );
  }

  private around({ nearest, similar }: Case): HTMLElement {
    return el(
      "section",
      { class: "around" },
      el("h3", {}, "Around it"),
      this.part ? picture(this.part, this.node, this.options.blind) : el("p", { class: "quiet" }, "Drawing…"),
      actionButton("picture", "Explore in the graph", (action) => this.perform(action)),
      el("div", { class: "pair" }, this.nearest(nearest), this.similar(similar)),
    );
  }

  private nearest(nearest: Nearest[]): HTMLElement {
    return el(
      "div",
      {},
      el("h3", {}, "Nearest known positives"),
      nearest.length === 0 && el("p", { class: "quiet" }, "No path to a known positive."),
      el("ul", {}, ...nearest.map((found) =>
        el("li", {}, el("a", { href: caseAddress(found.node) }, isolated(found.id)),
          found.confirmed && " ", found.confirmed && chip("confirmed"), ` ${plural(found.hops, "hop")}`,
          found.path.length > 2 && el("span", { class: "quiet" }, " by ", ...via(found.path.slice(1, -1)))),
      )),
    );
  }

  private similar(similar: Case["similar"]): HTMLElement {
    return el(
      "div",
      {},
      el("h3", {}, "Similar cases, decided"),
      similar.length === 0 && el("p", { class: "quiet" }, "None yet."),
      el("ul", {}, ...similar.map((like) =>
        el("li", {}, el("a", { href: caseAddress(like.node) }, isolated(like.id)), " ", chip(like.status),
          like.note !== "" && el("q", {}, isolated(shortened(like.note, 200), ""))),
      )),
    );
  }
}

function via(path: { node: number; id: string }[]): (Node | string)[] {
  const shown: (Node | string)[] = path.slice(0, PATH_SHOWN).flatMap((step, at) => [at ? " → " : "", isolated(step.id)]);
  if (path.length > PATH_SHOWN) shown.push(" → …");
  return shown;
}
