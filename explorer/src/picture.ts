// The small picture of a case among its neighbours: the case in the middle, the most relevant ones on top.

import { el, svg } from "./dom";
import { caseAddress, goTo } from "./route";
import type { GraphNode, GraphPart } from "./types";
import { grouped, plural, scored, shortened, stateWord } from "./words";

const WIDTH = 360;
const HEIGHT = 250;
const NAMED = 12; // more names than this overlap

interface Spot {
  x: number;
  y: number;
}

function placed(around: GraphNode[]): Map<number, Spot> {
  const inner = Math.min(around.length, NAMED);
  return new Map(
    around.map((node, at) => {
      const outside = at >= inner;
      const [place, count] = outside ? [at - inner + 0.5, around.length - inner] : [at, inner];
      const angle = (2 * Math.PI * place) / count - Math.PI / 2;
      const [across, down] = outside ? [0.46, 0.45] : [0.3, 0.32];
      const spot = { x: WIDTH * (0.5 + across * Math.cos(angle)), y: HEIGHT * (0.5 + down * Math.sin(angle)) };
      return [node.node, spot];
    }),
  );
}

function shape(state: string, { x, y }: Spot, size: number): SVGElement {
  if (state === "known positive") {
    const corners = [[0, -1], [1, 0], [0, 1], [-1, 0]] as const;
    return svg("polygon", { points: corners.map(([a, b]) => `${x + 1.3 * size * a},${y + 1.3 * size * b}`).join(" ") });
  }
  if (state === "rejected" || state === "known negative") {
    return svg("rect", { x: x - size, y: y - size, width: 2 * size, height: 2 * size });
  }
  return svg("circle", { cx: x, cy: y, r: size });
}

function dot(node: GraphNode, spot: Spot, options: { chosen: boolean; named: boolean; blind: boolean }): SVGElement {
  const state = stateWord(node);
  const score = options.blind || node.score === null ? "" : `, score ${scored(node.score)}`;
  const group = svg(
    "g",
    { class: `dot ${state.replaceAll(" ", "-")}${options.chosen ? " chosen" : ""}` },
    svg("title", {}, `${node.id}: ${state}${score}`),
    shape(state, spot, options.chosen ? 9 : 6),
    options.named && svg("text", { x: spot.x, y: spot.y + (options.chosen ? 23 : 18) }, shortened(node.id, 14)),
  );
  if (!options.chosen) group.addEventListener("click", () => goTo(caseAddress(node.node, options.blind)));
  return group;
}

/** Draws the neighbourhood; `blind` leaves out what the model thinks of its nodes. */
export function picture(part: GraphPart, node: number, blind: boolean): HTMLElement {
  const centre = part.nodes.find((each) => each.node === node);
  if (!centre) return el("p", { class: "quiet" }, "No picture of this case.");
  const around = part.nodes.filter((each) => each.node !== node);
  const spots = placed(around).set(node, { x: WIDTH / 2, y: HEIGHT / 2 });
  const count = (state: string): number => around.filter((each) => stateWord(each) === state).length;
  const folded = Math.max(centre.degree - centre.shown, 0);
  const tell = ["known positive", "confirmed", "rejected"]
    .filter((state) => count(state) > 0)
    .map((state) => `${count(state)} ${state}`);
  const words = `${plural(centre.degree, "neighbour")}${tell.length ? `: ${tell.join(", ")}` : ""}`;
  const drawing = svg("svg", {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    class: "picture",
    role: "img",
    "aria-label": `Picture of ${centre.id} with ${words}`,
  });
  for (const edge of part.edges) {
    const [from, to] = [spots.get(edge.source), spots.get(edge.target)];
    if (!from || !to) continue;
    const own = edge.source === node || edge.target === node;
    drawing.append(svg("line", { x1: from.x, y1: from.y, x2: to.x, y2: to.y, class: own ? "own" : "" }));
  }
  around.forEach((each, at) => {
    const spot = spots.get(each.node);
    if (spot) drawing.append(dot(each, spot, { chosen: false, named: at < NAMED, blind }));
  });
  drawing.append(dot(centre, { x: WIDTH / 2, y: HEIGHT / 2 }, { chosen: true, named: true, blind }));
  return el(
    "figure",
    {},
    drawing,
    el("figcaption", { class: "quiet" }, words, folded > 0 && `; +${grouped(folded)} not drawn`),
  );
}
