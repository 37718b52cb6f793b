// Numbers and states in words.

import { el } from "./dom";
import type { Interval, Row } from "./types";

// Halves to the even one, as the terminal does; TypeScript does not know the option yet.
const WHOLE = { maximumFractionDigits: 0, roundingMode: "halfEven" } as Intl.NumberFormatOptions;
export const grouped = (value: number): string => value.toLocaleString("en-GB", WHOLE);
export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${grouped(count)} ${count === 1 ? one : many}`;
export const scored = (score: number | null): string => (score === null ? "–" : score.toFixed(score < 0.001 ? 5 : 3));
export const signed = (value: number): string => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(2)}`;
export const shortened = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, most - 1)}…`;

/** "150 (120 to 170)", and only what is known of it. */
export function between([value, low, high]: Interval, words: (value: number) => string = grouped): string {
  if (low === null || high === null || words(low) === words(high)) return words(value);
  return `${words(value)} (${words(low)} to ${words(high)})`;
}

export const RING = "Hops to the nearest known positive";
export function ringWords(hops: number | null): string {
  if (hops === null) return "no path";
  return hops === 0 ? "known" : plural(hops, "hop");
}

/** The state of a case in a word: what people decided, else what was known before. */
export function stateWord(row: Pick<Row, "known" | "status">): string {
  if (row.status !== "open") return row.status;
  return row.known === 1 ? "known positive" : row.known === -1 ? "known negative" : "open";
}

/** Whether it is still to be said what a node is. */
export const isUndecided = ({ known, status }: Pick<Row, "known" | "status">): boolean =>
  known === 0 && (status === "open" || status === "skipped");

export function chip(word: string): HTMLElement {
  return el("span", { class: `chip ${word.replaceAll(" ", "-")}` }, word);
}

export function when(iso: string): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return iso;
  return date.toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
}
