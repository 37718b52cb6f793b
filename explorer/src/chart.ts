// Expected finds among the first k: a line in its band, pale where nothing was measured.

import { svg } from "./dom";
import type { Step } from "./types";
import { grouped } from "./words";

const WIDTH = 640;
const HEIGHT = 260;
const EDGE = { left: 46, right: 14, top: 10, bottom: 24 };

export interface Chart {
  element: SVGSVGElement;
  mark: (step: Step) => void;
}

export function chart(steps: Step[]): Chart {
  const most = Math.max(...steps.map((step) => step.taken), 1);
  const tallest = Math.max(...steps.map(({ finds }) => finds[2] ?? finds[0]), 1);
  const x = (taken: number): number => EDGE.left + (taken / most) * (WIDTH - EDGE.left - EDGE.right);
  const y = (finds: number): number => HEIGHT - EDGE.bottom - (finds / tallest) * (HEIGHT - EDGE.top - EDGE.bottom);
  const point = (taken: number, finds: number): string => `${x(taken).toFixed(1)},${y(finds).toFixed(1)}`;

  const parts = runs(steps).flatMap(({ known, members }) => {
    const className = known ? "" : " pale";
    const low = members.map((step) => point(step.taken, step.finds[1] ?? step.finds[0]));
    const high = members.map((step) => point(step.taken, step.finds[2] ?? step.finds[0]));
    const line = members.map((step) => point(step.taken, step.finds[0]));
    return [
      svg("polygon", { class: `band${className}`, points: [...low, ...high.reverse()].join(" ") }),
      svg("polyline", { class: `line${className}`, points: line.join(" ") }),
    ];
  });
  const cursor = svg("line", { class: "cursor", y1: EDGE.top, y2: HEIGHT - EDGE.bottom });
  const spot = svg("circle", { class: "spot", r: 5 });
  const base = HEIGHT - EDGE.bottom;
  const label = (at: number, down: number, anchor: string, words: string): SVGElement =>
    svg("text", { x: at, y: down, "text-anchor": anchor }, words);
  const element = svg(
    "svg",
    { class: "chart", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img",
      "aria-label": "Expected finds by how many cases are taken; the slider tells the numbers" },
    svg("line", { class: "axis", x1: EDGE.left, x2: WIDTH - EDGE.right, y1: base, y2: base }),
    svg("line", { class: "axis", x1: EDGE.left, x2: EDGE.left, y1: EDGE.top, y2: base }),
    label(EDGE.left, HEIGHT - 6, "start", "0 taken"),
    label(WIDTH - EDGE.right, HEIGHT - 6, "end", grouped(most)),
    label(EDGE.left - 6, base, "end", "0"),
    label(EDGE.left - 6, EDGE.top + 8, "end", grouped(tallest)),
    ...parts,
    cursor,
    spot,
  );
  const mark = ({ taken, finds }: Step): void => {
    cursor.setAttribute("x1", String(x(taken)));
    cursor.setAttribute("x2", String(x(taken)));
    spot.setAttribute("cx", String(x(taken)));
    spot.setAttribute("cy", String(y(finds[0])));
  };
  return { element, mark };
}

/** Stretches of steps that were measured or not; each begins where the one before ends, so that no gap is drawn. */
function runs(steps: Step[]): { known: boolean; members: Step[] }[] {
  const found: { known: boolean; members: Step[] }[] = [];
  for (const step of steps) {
    const last = found.at(-1);
    if (last?.known === step.known) last.members.push(step);
    else found.push({ known: step.known, members: [...(last?.members.slice(-1) ?? []), step] });
  }
  return found;
}
