// Why the model ranks a case where it does: sentences, attributes, neighbours, relations.

import { el, isolated } from "./dom";
import { caseAddress } from "./route";
import type { Case, Part, Why } from "./types";
import { chip, shortened, signed } from "./words";

const SHOWN_PARTS = 8;

function bar(value: number, largest: number): HTMLElement {
  const fill = el("i", { class: value < 0 ? "against" : "for" });
  fill.style.width = `${largest > 0 ? (50 * Math.abs(value)) / largest : 0}%`;
  return el("span", { class: "bar", "aria-hidden": "true" }, fill);
}

function contribution(value: number, largest: number): HTMLElement {
  return el("span", { class: "contribution" }, bar(value, largest), el("span", { class: "number" }, signed(value)));
}

function sources({ own = 0, around = 0 }: Part): string {
  return `its own ${signed(own)}, from around ${signed(around)}`;
}

function parts(why: Partial<Why>): HTMLElement | null {
  const shown = (why.parts ?? []).slice(0, SHOWN_PARTS);
  if (!shown.length) return null;
  const largest = Math.max(...shown.map((part) => Math.abs(part.contribution ?? 0)));
  return el(
    "ul",
    { class: "reasons", "aria-label": "Attributes for and against" },
    ...shown.map((part) =>
      el(
        "li",
        { title: part.contribution === undefined ? null : sources(part) },
        el("span", { class: "what" }, isolated(part.name), " ", el("b", {}, isolated(shortened(part.value, 80), ""))),
        part.contribution !== undefined && contribution(part.contribution, largest),
      ),
    ),
  );
}

function neighbours(why: Partial<Why>): HTMLElement | null {
  const shown = (why.nodes ?? []).slice(0, SHOWN_PARTS);
  if (!shown.length) return null;
  const largest = Math.max(...shown.map((node) => Math.abs(node.contribution ?? 0)));
  return el(
    "ul",
    { class: "reasons", "aria-label": "Neighbours for and against" },
    ...shown.map((node) =>
      el(
        "li",
        {},
        el("span", { class: "what" }, el("a", { href: caseAddress(node.node) }, isolated(node.id)), " ", chip(node.status)),
        node.contribution !== undefined && contribution(node.contribution, largest),
      ),
    ),
  );
}

function relations(why: Partial<Why>): HTMLElement | null {
  const shown = why.relations ?? [];
  if (!shown.length) return null;
  const largest = Math.max(...shown.map((relation) => Math.abs(relation.contribution)));
  return el(
    "ul",
    { class: "reasons", "aria-label": "Kinds of edges" },
    ...shown.map((relation) =>
      el("li", {}, el("span", { class: "what" }, isolated(relation.name)), contribution(relation.contribution, largest)),
    ),
  );
}

export function reasons({ why, whyMissing }: Case, blind: boolean): HTMLElement {
  const title = el("h3", {}, blind ? "What is there" : "Why");
  if (!why) return el("section", { class: "why" }, title, el("p", { class: "quiet" }, whyMissing ?? "No reasons."));
  const lists: [string, HTMLElement | null][] = [
    ["Attributes", parts(why)],
    ["Neighbours", neighbours(why)],
    ["Kinds of edges", relations(why)],
  ];
  const titled = lists.flatMap(([words, list]) => (list ? [el("h4", {}, words), list] : []));
  const sentences = (why.sentences ?? []).map((sentence) => el("p", {}, sentence));
  return el("section", { class: "why" }, title, ...sentences, ...titled);
}
