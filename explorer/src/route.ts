// Every view is an address: "#/list?sort=score&q=ann", "#/case/123?blind=1".

export type ViewName = "queue" | "case" | "list" | "graph" | "quality" | "learn" | "cases";
const NAMES: readonly string[] = ["queue", "case", "list", "graph", "quality", "learn", "cases"];

export interface Route {
  view: ViewName;
  rest: string; // "finds" of "#/queue/finds", "123" of "#/graph/123"
  query: URLSearchParams;
}

export function parseRoute(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const [view = "", rest = ""] = path.split("/", 2);
  return {
    view: NAMES.includes(view) ? (view as ViewName) : "queue",
    rest,
    query: new URLSearchParams(query),
  };
}

export function routeTo(view: ViewName, rest: string | number = "", query: URLSearchParams | null = null): string {
  const text = query?.toString();
  return `#/${view}${rest === "" ? "" : `/${rest}`}${text ? `?${text}` : ""}`;
}

/** Where no score is told before the case is decided. */
const blindly = (blind: boolean): URLSearchParams | null => (blind ? new URLSearchParams({ blind: "1" }) : null);
export const caseAddress = (node: number, blind = false): string => routeTo("case", node, blindly(blind));
export const graphAddress = (node: number, blind = false): string => routeTo("graph", node, blindly(blind));

/** A number from an address, or null where it is none. */
export function nodeOf(text: string | null): number | null {
  return text !== null && /^\d{1,12}$/.test(text) ? Number(text) : null;
}

/** Keeps the address true while a view moves on, without filling the browser's history. */
export function stayAt(address: string): void {
  if (location.hash !== address) history.replaceState(null, "", address);
}

export function goTo(address: string): void {
  location.hash = address;
}
