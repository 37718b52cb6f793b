// What the server answers, as the page reads it.

export type Status = "open" | "confirmed" | "rejected" | "skipped";
export type Verdict = "yes" | "no" | "skip" | "note";
export type Goal = "audit" | "finds" | "discovery" | "learning";

export interface Row {
  node: number;
  id: string;
  score: number | null;
  rank: number | null;
  hops: number | null;
  known: -1 | 0 | 1;
  status: Status;
  decided: boolean | null;
  cells: string[];
}

export type Counts = Record<Status, number>;

export interface AuditCount {
  drawn: number;
  checked: number;
}

export interface Ring {
  name: string;
  hops: number | null;
  count: number;
}

export interface Run {
  name: string;
  path: string;
  seq: number; // of the last event in the log
  title: string;
  method: string;
  nodes: number;
  edges: number;
  labelled: number;
  unlabelled: number;
  decided: number;
  threshold: number;
  prior: number | null;
  signal: boolean;
  readOnly: boolean;
  columns: string[];
  relations: string[];
  rings: Ring[];
  counts: Counts;
  audit: AuditCount;
  parent: string | null;
  who: string;
  caveats: string[];
}

export interface QueueRow extends Row {
  reason: string;
}

export interface Queue {
  goal: Goal;
  words: string;
  rows: QueueRow[];
  checked: number;
  total: number;
}

export interface Part {
  name: string;
  value: string;
  own: number | null;
  around: number | null;
  contribution: number | null;
}

export interface Why {
  sentences: string[];
  parts: Part[];
  nodes: { node: number; id: string; contribution: number | null; status: Status; known: Row["known"] }[];
  relations: { name: string; contribution: number | null }[];
}

export interface Nearest {
  node: number;
  id: string;
  hops: number;
  confirmed: boolean; // in this room; neither ring nor score counts it
  path: { node: number; id: string }[];
}

export interface Case {
  row: Row;
  columns: { name: string; value: string }[];
  why: Why | null; // its contributions are null where they would tell the score
  whyMissing: string;
  whyPending: boolean; // ask again: it is being worked out
  nearest: Nearest[];
  similar: { node: number; id: string; status: string; note: string }[];
  degree: number;
  note: string;
  history: { seq: number; at: string; who: string; verdict: string; note: string }[];
}

export interface NodesPage {
  total: number;
  offset: number;
  rows: Row[];
}

export interface GraphNode extends Row {
  degree: number;
  shown: number;
  x?: number;
  y?: number;
}

export interface GraphEdge {
  source: number;
  target: number;
  relation: string;
  weight: number;
}

export interface GraphPart {
  nodes: GraphNode[];
  edges: GraphEdge[];
  cut: boolean;
  left?: { relation: string; count: number }[];
}

export type Interval = [value: number, low: number | null, high: number | null];

export interface Measured {
  title: string;
  rows: { name: string; value: string; range: string }[]; // as the terminal words them
  notes: string[];
}

export interface Step {
  taken: number;
  score: number;
  finds: Interval;
  known: boolean;
}

export interface Quality {
  measured: Measured | null;
  expected: { steps: Step[]; positives: Interval | null } | null;
}

export interface Saved {
  seq: number;
  row: Row;
  counts: Counts;
  audit: AuditCount;
  note: string;
}

export interface Changes {
  path: string; // of the run that the room shows now
  seq: number;
  rows: Row[];
  events: { seq: number; node: number; who: string; verdict: string }[];
  counts: Counts;
  audit: AuditCount;
}

export interface CaseRow extends Row {
  note: string;
  at: string;
  who: string;
}

export interface Move {
  id: string;
  node: number;
  before: number | null;
  after: number | null;
}

export interface Learning {
  state: "idle" | "running" | "done" | "failed" | "cancelled";
  seconds?: number;
  words?: string;
  run?: string;
  error?: string;
  newer?: number; // verdicts that the training does not know
  changes?: { rose: Move[]; fell: Move[]; words: string[] } | null;
  measured?: { before: Measured | null; after: Measured | null } | null;
}
