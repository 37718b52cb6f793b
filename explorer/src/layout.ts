// Lays the graph out in slices between frames: a worker would need a blob: address, and would outlive its view.

import type Graph from "graphology";
import forceAtlas2 from "graphology-layout-forceatlas2";
import { prefersStillness } from "./dom";

const LIMIT_MS = 1500;
const SLICE_MS = 10;

/** Starts to lay out; the answer stops it. */
export function layOut(graph: Graph): () => void {
  const settings = {
    ...forceAtlas2.inferSettings(graph),
    adjustSizes: false,
    barnesHutOptimize: graph.order > 500,
    gravity: 0.5,
    linLogMode: true,
    slowDown: 3,
  };
  // Whatever moves in the graph is drawn at once: where people want stillness, a copy moves and the graph jumps once.
  const still = prefersStillness();
  const moving = still ? graph.copy() : graph;
  const until = performance.now() + LIMIT_MS;
  let frame = 0;
  const slice = (): void => {
    const end = performance.now() + SLICE_MS;
    do forceAtlas2.assign(moving, { iterations: 1, settings });
    while (performance.now() < end);
    if (end < until) frame = requestAnimationFrame(slice);
    else if (still) graph.updateEachNodeAttributes((node, old) => ({ ...old, ...placeOf(moving, node) }));
  };
  if (graph.order > 1) frame = requestAnimationFrame(slice);
  return () => cancelAnimationFrame(frame);
}

function placeOf(graph: Graph, node: string): { x: number; y: number } {
  const { x, y } = graph.getNodeAttributes(node) as { x: number; y: number };
  return { x, y };
}
