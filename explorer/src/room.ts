// What the whole room knows: the run, the counts, and the decisions as they are saved.

import { get, post, Refused, Unreachable } from "./api";
import { alarm, announce, reloadAnd } from "./notices";
import { routeTo } from "./route";
import type { AuditCount, Changes, Counts, Row, Run, Saved, Verdict } from "./types";

const POLL_MS = 3000;

const DONE: Record<Verdict, string> = { yes: "confirmed", no: "rejected", skip: "skipped", note: "note saved" };
const BY_OTHERS: Partial<Record<string, string>> = { ...DONE, note: undefined, undo: "took back a decision on" };

type Listener = (rows: Row[]) => void;

export class Room {
  private readonly listeners: Listener[] = [];
  private readonly ownDecisions: number[] = []; // numbers in the log, for undo
  private readonly decidedHere = new Map<number, { seq: number; verdict: string }>(); // by node
  private seq: number;
  private saving = "";

  constructor(readonly run: Run) {
    this.seq = run.seq;
  }

  static async enter(): Promise<Room> {
    return new Room(await get<Run>("run"));
  }

  onChange(listener: Listener): void {
    this.listeners.push(listener);
  }

  get audit(): AuditCount {
    return this.run.audit;
  }

  /** A note that was begun in this window and not saved yet; it outlives a reload. */
  draft(row: Row): string | null {
    return sessionStorage.getItem(this.draftOf(row));
  }

  keepDraft(row: Row, text: string | null): void {
    if (text === null) sessionStorage.removeItem(this.draftOf(row));
    else sessionStorage.setItem(this.draftOf(row), text);
  }

  private draftOf({ node, id }: Row): string {
    return `pugnn-note ${this.run.path} ${node} ${id}`;
  }

  /** Posts what is meant for the run that this window shows: another window may have opened another one. */
  post<Answer>(path: string, body: object = {}): Promise<Answer> {
    return post<Answer>(path, { ...body, shows: this.run.path });
  }

  /** Whether people may confirm or reject a case: not one that was known before. */
  isOpenTo(row: Row): boolean {
    return !this.run.readOnly && row.known === 0;
  }

  /** Saves a decision; null if it was not saved, and then the person has been told. */
  async decide(row: Row, verdict: Verdict, queue: string, note?: string): Promise<Saved | null> {
    if (row.known !== 0 && (verdict === "yes" || verdict === "no")) {
      announce(`${row.id} was known before: there is nothing to decide.`);
      return null;
    }
    const saved = await this.save(row.id, () =>
      this.post<Saved>("decisions", { node: row.node, id: row.id, verdict, note, queue }),
    );
    if (!saved) return null;
    this.ownDecisions.push(saved.seq);
    if (verdict !== "note") this.decidedHere.set(row.node, { seq: saved.seq, verdict });
    this.keepDraft(row, null);
    this.take(saved, [saved.row]);
    announce(`${saved.row.id} ${DONE[verdict]}${this.progress(queue)}`);
    return saved;
  }

  /** Takes back the last decision of this window, or of the room if this window made none. */
  async undo(): Promise<Saved | null> {
    const seq = this.ownDecisions.at(-1);
    const undone = await this.save("the undo", () => this.post<Saved>("undo", seq === undefined ? {} : { seq }));
    if (!undone) return null;
    this.ownDecisions.pop();
    this.decidedHere.delete(undone.row.node);
    this.take(undone, [undone.row]);
    announce(`Undone: ${undone.row.id} is ${undone.row.status} again`);
    return undone;
  }

  private progress(queue: string): string {
    return queue === "audit" ? `, ${this.audit.checked} of ${this.audit.drawn} checked` : "";
  }

  private async save(what: string, send: () => Promise<Saved>): Promise<Saved | null> {
    if (this.run.readOnly) {
      alarm("This room is read-only: nothing is saved.");
      return null;
    }
    if (this.saving) {
      announce(`Still saving ${this.saving}`);
      return null;
    }
    this.saving = what;
    document.body.classList.add("saving");
    try {
      return await send();
    } catch (error) {
      // 409: undone or decided again elsewhere, so there is nothing left to undo.
      if (error instanceof Refused && error.status === 409) this.ownDecisions.pop();
      const words = error instanceof Unreachable ? "Not known to be saved" : "Not saved";
      alarm(`${words}: ${what}. ${(error as Error).message}`);
      return null;
    } finally {
      this.saving = "";
      document.body.classList.remove("saving");
    }
  }

  private take(state: { counts: Counts; audit: AuditCount }, rows: Row[]): void {
    this.run.counts = state.counts;
    this.run.audit = state.audit;
    for (const listener of this.listeners) listener(rows);
  }

  /** What others decided on a case after this window did, and otherwise. */
  private tellOthers({ events, rows }: Changes): void {
    for (const { seq, node, who, verdict } of events) {
      const own = this.decidedHere.get(node);
      const words = BY_OTHERS[verdict];
      if (!own || !words || seq <= own.seq || verdict === own.verdict) continue;
      const name = who === this.run.who ? "Another window" : who || "Somebody";
      alarm(`${name} ${words} ${rows.find((row) => row.node === node)?.id ?? "a case"} after you.`);
    }
  }

  /** Asks every three seconds what other windows decided. */
  async follow(): Promise<void> {
    for (;;) {
      try {
        const news = await get<Changes>("changes", { after: this.seq });
        if (news.path !== this.run.path || news.seq < this.seq) {
          history.replaceState(null, "", routeTo("queue")); // the same address is another case there
          reloadAnd("Another window opened another run, which this one now shows too.");
          return;
        }
        if (news.seq > this.seq) {
          this.take(news, news.rows);
          this.tellOthers(news);
        }
        this.seq = news.seq;
      } catch {
        // The banner tells; the next round tries again.
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }
}
