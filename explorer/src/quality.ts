// How good the ranking is: what was measured, and what to expect of taking more or fewer.

import { get } from "./api";
import { chart, type Chart } from "./chart";
import { el, labelled, refill } from "./dom";
import { measuredTable } from "./measured";
import type { Room } from "./room";
import { routeTo, stayAt, type Route } from "./route";
import type { Interval, Quality, Step } from "./types";
import type { View } from "./view";
import { between, grouped, scored } from "./words";

const PAUSE_MS = 400; // several decisions in a row ask once

export class QualityView implements View {
  readonly title = "How good";
  readonly element = el("div", { class: "quality" });
  private readonly slider = el("input", { type: "range", min: 0, step: 1, id: "taken" });
  private readonly answer = el("div", { class: "answer", "aria-live": "polite" });
  private waiting = 0;
  private asked: number | null;
  private steps: Step[] = [];
  private positives: Interval | null = null;
  private drawn: Chart | null = null;

  constructor(
    private readonly room: Room,
    route: Route,
  ) {
    const taken = route.query.get("taken");
    this.asked = taken === null ? null : Number(taken);
    this.slider.addEventListener("input", () => this.moveTo(this.slider.valueAsNumber));
    refill(this.element, el("h1", {}, "How good"), el("p", { class: "quiet" }, "Measuring…"));
    void this.load();
  }

  private async load(): Promise<void> {
    try {
      this.show(await get<Quality>("quality"));
    } catch (error) {
      refill(this.element, el("h1", {}, "How good"), el("p", { class: "trouble" }, (error as Error).message));
    }
  }

  private show({ measured, expected }: Quality): void {
    const hadFocus = document.activeElement === this.slider;
    refill(
      this.element,
      el("h1", {}, "How good"),
      el(
        "div",
        { class: "panels" },
        el("div", { class: "panel" }, measured ? measuredTable(measured) : unmeasured()),
        expected && this.expectation(expected),
      ),
    );
    if (hadFocus) this.slider.focus();
  }

  private expectation({ steps, positives }: NonNullable<Quality["expected"]>): HTMLElement | null {
    this.steps = steps;
    this.positives = positives;
    if (!steps.length) return null;
    this.drawn = chart(steps);
    this.slider.max = String(steps.length - 1);
    const wanted = this.asked ?? this.room.run.decided;
    const at = steps.findIndex((step) => step.taken >= wanted);
    this.moveTo(at < 0 ? steps.length - 1 : at, false);
    return el(
      "div",
      { class: "panel" },
      el("h2", {}, "What to expect"),
      labelled("How many of the best ranked to take", this.slider),
      this.answer,
      this.drawn.element,
      el("p", { class: "quiet" }, "The band is where the truth likely lies. Pale: nothing was measured there."),
    );
  }

  private moveTo(at: number, keeps = true): void {
    const step = this.steps[at];
    if (!step) return;
    this.slider.value = String(at);
    this.slider.setAttribute("aria-valuetext", `the first ${grouped(step.taken)}`);
    this.drawn?.mark(step);
    const [finds, low, high] = step.finds;
    const checks: Interval = [step.taken - finds, high === null ? null : step.taken - high, low === null ? null : step.taken - low];
    const tile = (name: string, value: string): HTMLElement => el("div", {}, el("dt", {}, name), el("dd", {}, value));
    refill(
      this.answer,
      el("p", {}, el("b", {}, `The first ${grouped(step.taken)}`), ` (score from ${scored(step.score)})`,
        !step.known && " · nothing was measured here: a guess"),
      el(
        "dl",
        { class: step.known ? "tiles" : "tiles pale-words" },
        tile("finds", between(step.finds)),
        tile("checks in vain", between(checks.map((value) => (value === null ? null : Math.max(value, 0))) as Interval)),
        this.positives && tile("positives missed", between(missed(this.positives, step.finds))),
      ),
    );
    if (keeps) {
      this.asked = step.taken;
      stayAt(routeTo("quality", "", new URLSearchParams({ taken: String(step.taken) })));
    }
  }

  perform(): boolean {
    return false;
  }

  changed(): void {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => void this.load(), PAUSE_MS);
  }

  leave(): void {
    clearTimeout(this.waiting);
  }
}

function unmeasured(): HTMLElement {
  return el(
    "div",
    {},
    el("h2", {}, "Nothing is measured yet."),
    el("p", {}, "Cases that were drawn at random and checked show how good the ranking is. ",
      el("a", { href: routeTo("queue", "audit") }, "Check the audit")),
  );
}

/** What stays below the line; its ends go with those of the whole, as both rest on the same checks. */
function missed(positives: Interval, finds: Interval): Interval {
  const less = (at: 0 | 1 | 2): number | null => {
    const [whole, found] = [positives[at], finds[at]];
    return whole === null || found === null ? null : Math.max(whole - found, 0);
  };
  const ends = [less(1), less(2)] as const;
  if (ends[0] === null || ends[1] === null) return [less(0) ?? 0, null, null];
  return [less(0) ?? 0, Math.min(...(ends as [number, number])), Math.max(...(ends as [number, number]))];
}
