// The graph on a canvas: colour by score, ring by status, and what is chosen or on the path stands out.

import { createNodeBorderProgram } from "@sigma/node-border";
import Graph from "graphology";
import Sigma from "sigma";
import type { NodeLabelDrawingFunction } from "sigma/rendering";
import { onPhone, prefersStillness, visible } from "./dom";
import { layOut } from "./layout";
import type { GraphNode, GraphPart } from "./types";
import { grouped, shortened, stateWord } from "./words";

const NAME_LENGTH = 24;

interface NodeAttributes {
  x: number;
  y: number;
  size: number;
  row: GraphNode;
}

interface EdgeAttributes {
  relation: string;
}

interface Inks {
  low: string;
  high: string;
  ink: string;
  page: string;
  edge: string;
  rings: Record<string, string>;
}

function readInks(): Inks {
  const style = getComputedStyle(document.documentElement);
  const ink = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  const rings = {
    "known positive": ink("known"), "known negative": ink("bad"), confirmed: ink("good"), rejected: ink("bad"),
    skipped: ink("quiet"), open: ink("card"),
  };
  return { low: ink("rule"), high: ink("found"), ink: ink("ink"), page: ink("page"), edge: ink("other"), rings };
}

/** A colour between two of the form #rrggbb. */
function mixed(low: string, high: string, share: number): string {
  const full = (hex: string): string => (hex.length === 4 ? hex.replace(/[0-9a-f]/gi, "$&$&") : hex);
  const channel = (hex: string, at: number): number => parseInt(full(hex).slice(1 + 2 * at, 3 + 2 * at), 16);
  const mix = (at: number): number => Math.round(channel(low, at) + share * (channel(high, at) - channel(low, at)));
  return `#${[0, 1, 2].map((at) => mix(at).toString(16).padStart(2, "0")).join("")}`;
}

export const foldedAt = (row: GraphNode): number => Math.max(row.degree - row.shown, 0);

function nameOf(row: GraphNode): string {
  const folded = foldedAt(row);
  return `\u2068${visible(shortened(row.id, NAME_LENGTH))}\u2069${folded ? `  +${grouped(folded)}` : ""}`;
}

export class Drawing {
  readonly graph = new Graph<NodeAttributes, EdgeAttributes>({ type: "undirected", multi: false });
  private sigma: Sigma<NodeAttributes, EdgeAttributes> | null = null;
  private inks = readInks();
  private chosen = "";
  private path: string[] = [];
  private stopLayout = (): void => undefined;
  private readonly scheme = matchMedia("(prefers-color-scheme: dark)");
  private readonly repaint = (): void => {
    this.inks = readInks();
    this.sigma?.setSetting("labelColor", { color: this.inks.ink });
    this.sigma?.refresh();
  };

  /** All of one colour, as that tells the score. */
  private isBlind = false;
  set blind(blind: boolean) {
    if (blind === this.isBlind) return;
    this.isBlind = blind;
    this.sigma?.refresh();
  }

  constructor(private readonly clicked: (node: number) => void) {
    this.scheme.addEventListener("change", this.repaint);
  }

  /** Shows the drawing in an element that stands in the page; throws where there is no WebGL. */
  show(place: HTMLElement, lost: () => void): void {
    this.sigma = new Sigma<NodeAttributes, EdgeAttributes>(this.graph, place, {
      allowInvalidContainer: true,
      defaultNodeType: "ringed",
      nodeProgramClasses: {
        ringed: createNodeBorderProgram<NodeAttributes, EdgeAttributes>({
          borders: [
            { size: { attribute: "ringSize", defaultValue: 0.2 }, color: { attribute: "ringColor" } },
            { size: { fill: true }, color: { attribute: "color" } },
          ],
        }),
      },
      labelColor: { color: this.inks.ink },
      labelFont: "system-ui, sans-serif",
      labelSize: onPhone() ? 11 : 12,
      labelRenderedSizeThreshold: 7,
      labelDensity: 0.6,
      defaultDrawNodeLabel: this.nameDrawer(false),
      // The background of a hovered label is white in sigma, whatever the scheme is: the label alone is enough.
      defaultDrawNodeHover: this.nameDrawer(true),
      nodeReducer: (node, { row, ...rest }) => this.nodeLook(node, row, rest),
      edgeReducer: (edge) => this.edgeLook(edge),
      zIndex: true,
    });
    this.sigma.on("clickNode", ({ node }) => this.clicked(Number(node)));
    for (const canvas of Object.values(this.sigma.getCanvases())) {
      canvas.addEventListener("webglcontextlost", lost, { once: true });
    }
  }

  /** Draws a name to the right of its node, or to the left where it would be cut off. */
  private nameDrawer(isHovered: boolean): NodeLabelDrawingFunction<NodeAttributes, EdgeAttributes> {
    return (context, { x, y, size, label }, { labelFont, labelSize, labelWeight }) => {
      if (!label) return;
      context.font = `${isHovered ? 600 : labelWeight} ${labelSize}px ${labelFont}`;
      context.lineWidth = 4;
      context.strokeStyle = this.inks.page;
      context.fillStyle = this.inks.ink;
      const [away, width] = [size + 3, context.measureText(label).width];
      const fits = x + away + width <= context.canvas.clientWidth;
      const [left, base] = [fits ? x + away : Math.max(x - away - width, 0), y + labelSize / 3];
      if (isHovered) context.strokeText(label, left, base);
      context.fillText(label, left, base);
    };
  }

  private nodeLook(node: string, row: GraphNode, rest: Omit<NodeAttributes, "row">): Record<string, unknown> {
    const state = stateWord(row);
    const isChosen = node === this.chosen;
    const stands = isChosen || this.path.includes(node);
    return {
      ...rest,
      size: rest.size * (isChosen || state !== "open" ? 1.4 : 1),
      color: mixed(this.inks.low, this.inks.high, this.isBlind ? 0.5 : Math.min(Math.max(row.score ?? 0, 0), 1)),
      ringColor: isChosen ? this.inks.ink : this.inks.rings[state],
      ringSize: isChosen || state !== "open" ? 0.35 : 0.12,
      label: nameOf(row),
      forceLabel: stands,
      zIndex: stands ? 1 : 0,
    };
  }

  private edgeLook(edge: string): Record<string, unknown> {
    const [source, target] = this.graph.extremities(edge);
    const [from, to] = [this.path.indexOf(source), this.path.indexOf(target)];
    const isOnPath = from >= 0 && to >= 0 && Math.abs(from - to) === 1;
    return isOnPath
      ? { color: this.inks.rings["known positive"], size: 4, zIndex: 1 }
      : { color: this.inks.edge, size: 0.7, zIndex: 0 };
  }

  /** Adds nodes and edges that are not drawn yet, near `from` where the server gives no place. */
  add(part: GraphPart, from: number | null = null): void {
    const origin = from !== null && this.has(from) ? this.graph.getNodeAttributes(from) : { x: 0, y: 0 };
    part.nodes.forEach((row, at) => {
      if (this.has(row.node)) this.graph.setNodeAttribute(row.node, "row", row);
      else {
        // A spiral of the golden angle: no two nodes start at the same place, and every time at the same.
        const [angle, reach] = [2.4 * at, 0.1 + Math.sqrt(at)];
        const size = 5 + 2 * Math.log10(1 + row.degree);
        this.graph.addNode(row.node, {
          x: origin.x + reach * Math.cos(angle), y: origin.y + reach * Math.sin(angle), size, row,
        });
      }
    });
    for (const { source, target, relation } of part.edges) {
      if (this.has(source) && this.has(target) && source !== target) {
        this.graph.mergeEdge(source, target, { relation });
      }
    }
    this.recount();
    this.stopLayout();
    this.stopLayout = layOut(this.graph);
  }

  /** How many neighbours of each node are drawn depends on all that was added. */
  private recount(): void {
    this.graph.updateEachNodeAttributes((node, attributes) => ({
      ...attributes,
      row: { ...attributes.row, shown: Math.max(this.graph.degree(node), 0) },
    }));
  }

  has(node: number): boolean {
    return this.graph.hasNode(node);
  }

  row(node: number): GraphNode | null {
    return this.has(node) ? this.graph.getNodeAttribute(node, "row") : null;
  }

  rows(): GraphNode[] {
    return this.graph.mapNodes((_, { row }) => row);
  }

  neighbours(node: number): GraphNode[] {
    return this.has(node) ? this.graph.mapNeighbors(node, (_, { row }) => row) : [];
  }

  update(row: Partial<GraphNode> & { node: number }): void {
    if (this.has(row.node)) this.graph.updateNodeAttribute(row.node, "row", (old) => ({ ...(old as GraphNode), ...row }));
  }

  choose(node: number): void {
    this.chosen = String(node);
    this.sigma?.refresh({ skipIndexation: true });
  }

  showPath(nodes: number[]): void {
    this.path = nodes.map(String);
    nodes.slice(1).forEach((node, at) => {
      const before = nodes[at];
      if (before !== undefined && this.has(node) && this.has(before)) this.graph.mergeEdge(before, node, {});
    });
    this.sigma?.refresh();
  }

  zoom(how: "in" | "out" | "fit"): void {
    const camera = this.sigma?.getCamera();
    const duration = { duration: prefersStillness() ? 1 : 150 };
    if (how === "in") void camera?.animatedZoom(duration);
    else if (how === "out") void camera?.animatedUnzoom(duration);
    else void camera?.animatedReset(duration);
  }

  leave(): void {
    this.stopLayout();
    this.scheme.removeEventListener("change", this.repaint);
    this.sigma?.kill();
    this.sigma = null;
  }
}
