// The one key map of the room. Keys that browsers use are left alone: none here has Ctrl, Alt or Meta.

export type Action =
  | "confirm" | "reject" | "skip" | "undo" | "note"
  | "next" | "previous" | "open" | "first" | "last"
  | "picture" | "expand" | "path" | "zoomIn" | "zoomOut" | "fit"
  | "goalAudit" | "goalFinds" | "goalDiscovery" | "goalLearning"
  | "toQueue" | "toList" | "toGraph" | "toQuality" | "toLearn" | "toCases"
  | "learn" | "cancel" | "openRun"
  | "search" | "filters" | "help" | "close";

export interface Binding {
  action: Action;
  keys: string[]; // names of KeyboardEvent.key; "g q" is g, then q
  words: string;
  group: "Decide" | "Move" | "Graph" | "Queue" | "Views" | "Learn" | "Room";
}

export const BINDINGS: readonly Binding[] = [
  { action: "confirm", keys: ["c"], words: "Confirm: the case is positive", group: "Decide" },
  { action: "reject", keys: ["r"], words: "Reject: the case is negative", group: "Decide" },
  { action: "skip", keys: ["s"], words: "Skip: leave it open for later", group: "Decide" },
  { action: "undo", keys: ["u"], words: "Undo the last decision", group: "Decide" },
  { action: "note", keys: ["n"], words: "Write a note (Ctrl+Enter saves it)", group: "Decide" },
  { action: "next", keys: ["j", "ArrowDown", "ArrowRight"], words: "Next case", group: "Move" },
  { action: "previous", keys: ["k", "ArrowUp", "ArrowLeft"], words: "Previous case", group: "Move" },
  { action: "first", keys: ["Home"], words: "First row", group: "Move" },
  { action: "last", keys: ["End"], words: "Last row", group: "Move" },
  { action: "open", keys: ["Enter"], words: "Open the case", group: "Move" },
  { action: "picture", keys: ["v"], words: "View the case in the graph", group: "Graph" },
  { action: "expand", keys: ["e"], words: "Show more neighbours of the chosen node", group: "Graph" },
  { action: "path", keys: ["p"], words: "Show the path to the nearest known positive", group: "Graph" },
  { action: "zoomIn", keys: ["+", "="], words: "Zoom in", group: "Graph" },
  { action: "zoomOut", keys: ["-"], words: "Zoom out", group: "Graph" },
  { action: "fit", keys: ["0"], words: "Show the whole picture", group: "Graph" },
  { action: "goalAudit", keys: ["1"], words: "Queue: the audit", group: "Queue" },
  { action: "goalFinds", keys: ["2"], words: "Queue: the surest finds", group: "Queue" },
  { action: "goalDiscovery", keys: ["3"], words: "Queue: discovery, far from what is known", group: "Queue" },
  { action: "goalLearning", keys: ["4"], words: "Queue: what teaches the model most", group: "Queue" },
  { action: "toQueue", keys: ["g q"], words: "Go to the queue", group: "Views" },
  { action: "toList", keys: ["g l"], words: "Go to the list", group: "Views" },
  { action: "toGraph", keys: ["g g"], words: "Go to the graph", group: "Views" },
  { action: "toQuality", keys: ["g h"], words: "Go to quality", group: "Views" },
  { action: "toLearn", keys: ["g f"], words: "Go to fit again", group: "Views" },
  { action: "toCases", keys: ["g c"], words: "Go to the cases", group: "Views" },
  { action: "learn", keys: ["t"], words: "Fit again with what was checked", group: "Learn" },
  { action: "cancel", keys: ["x"], words: "Cancel the fit", group: "Learn" },
  { action: "openRun", keys: ["o"], words: "Open the new run", group: "Learn" },
  { action: "search", keys: ["/"], words: "Search", group: "Room" },
  { action: "filters", keys: ["f"], words: "Show or hide the filters of the list", group: "Room" },
  { action: "help", keys: ["?"], words: "Show the keys", group: "Room" },
  { action: "close", keys: ["Escape"], words: "Close, or leave a field", group: "Room" },
];

const PREFIX = "g";
const PREFIX_MS = 1500;

const byKey = new Map(BINDINGS.flatMap((binding) => binding.keys.map((key) => [key, binding.action] as const)));

const SYMBOLS: Record<string, string> = {
  ArrowDown: "↓", ArrowUp: "↑", ArrowLeft: "←", ArrowRight: "→", Escape: "Esc",
};

/** The first key of an action as a person reads it. */
export function keyOf(action: Action): string {
  return keyWords(BINDINGS.find((binding) => binding.action === action)?.keys[0] ?? "");
}

export const keyWords = (key: string): string => SYMBOLS[key] ?? key.replace(/^g /, "g then ");

const TURNED_OFF = "pugnn-keys-off";

/** Single keys can be turned off: speech input and a cat on the keyboard press them by chance. */
export const keysOn = (): boolean => localStorage.getItem(TURNED_OFF) === null;
export function turnKeys(on: boolean): void {
  if (on) localStorage.removeItem(TURNED_OFF);
  else localStorage.setItem(TURNED_OFF, "1");
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !["checkbox", "radio", "range", "button"].includes(target.type);
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement || target.isContentEditable;
}

/** Whether the focused control, or the browser, needs this key itself. */
function isTaken(event: KeyboardEvent, rows: boolean): boolean {
  const { key, target } = event;
  const isArrow = key.startsWith("Arrow");
  if (target instanceof HTMLInputElement && (isArrow || key === "Home" || key === "End")) return true;
  if (key === "Enter") return target instanceof HTMLElement && target.matches("a, button, summary, input");
  // Without rows to walk through, these scroll the page.
  return !rows && ["ArrowDown", "ArrowUp", "Home", "End"].includes(key);
}

/** Calls `perform` with the action of each key; `hasRows` tells whether arrows and Home walk through rows now. */
export function listenToKeys(perform: (action: Action) => boolean, hasRows: () => boolean): void {
  let prefixed = 0;
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
    if (document.querySelector("dialog[open]")) return; // it has its own keys: Tab, Enter, Esc
    if (isTyping(event.target)) {
      if (event.key === "Escape") (event.target as HTMLElement).blur();
      return;
    }
    if (!keysOn() && event.key.length === 1 && event.key !== "?") return;
    const afterPrefix = event.timeStamp - prefixed < PREFIX_MS && prefixed > 0;
    prefixed = 0;
    if (!afterPrefix && event.key === PREFIX) {
      prefixed = event.timeStamp;
      return;
    }
    const action = byKey.get(afterPrefix ? `${PREFIX} ${event.key}` : event.key);
    if (action && !isTaken(event, hasRows()) && perform(action)) event.preventDefault();
  });
}
