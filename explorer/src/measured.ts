// A table of what was measured, with its intervals.

import { el, heads } from "./dom";
import type { Measured } from "./types";
import { grouped, percent } from "./words";

export function measuredTable({ title, rows, notes }: Measured): HTMLElement {
  const line = ({ name, value, low, high, kind }: Measured["rows"][number]): HTMLElement => {
    const words = kind === "share" ? percent : grouped;
    const isKnown = value !== null;
    const unknown = low !== null && high !== null ? "uncertain" : "not known yet";
    const range = low !== null && high !== null ? `${words(low)} to ${words(high)}` : "";
    return el(
      "tr",
      {},
      el("th", { scope: "row" }, name),
      el("td", { class: isKnown ? "number" : "number quiet" }, isKnown ? words(value) : unknown),
      el("td", { class: "number" }, range),
    );
  };
  return el(
    "div",
    { class: "measured" },
    el("h2", {}, title),
    el("table", {}, heads("", "Value", "Likely between"), el("tbody", {}, ...rows.map(line))),
    ...notes.map((note) => el("p", { class: "quiet" }, note)),
  );
}
