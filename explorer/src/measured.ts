// A table of what was measured, with its intervals.

import { el, heads } from "./dom";
import type { Measured } from "./types";

export function measuredTable({ title, rows, notes }: Measured): HTMLElement {
  const line = ({ name, value, range }: Measured["rows"][number]): HTMLElement =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, name),
      el("td", { class: "number" }, value),
      el("td", { class: "number" }, range),
    );
  return el(
    "div",
    { class: "measured" },
    el("h2", {}, title),
    el("table", {}, heads("", "Value", "Likely between"), el("tbody", {}, ...rows.map(line))),
    ...notes.map((note) => el("p", { class: "quiet" }, note)),
  );
}
