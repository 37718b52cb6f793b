// Lays the graph out in slices between frames: a worker would need a blob: address, and would outlive its view.

import type Graph from "graphology";
import forceAtlas2 from "graphology-layout-forceatlas2";
import { prefersStillness } from "./dom";

const LIMIT_MS = 1500;
const SLICE_MS = 10;

/** Starts to lay out; the answer stops it. `moved` is told after every frame, or once at the end. */
export function layOut(graph: Graph, moved: () => void): () => void {
  const settings = {
    ...forceAtlas2.inferSettings(graph),
    adjustSizes: false,
    barnesHutOptimize: graph.order > 500,
    gravity: 0.5,
    linLogMode: true,
    slowDown: 3,
  };
  const still = prefersStillness();
  const until = performance.now() + LIMIT_MS;
  let frame = 0;
  const slice = (): void => {
    const end = performance.now() + SLICE_MS;
    do forceAtlas2.assign(graph, { iterations: 1, settings });
    while (performance.now() < end);
    const isDone = end >= until;
    if (isDone || !still) moved();
    if (!isDone) frame = requestAnimationFrame(slice);
  };
  if (graph.order > 1) frame = requestAnimationFrame(slice);
  return () => cancelAnimationFrame(frame);
}
