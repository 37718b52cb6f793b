// Why the model ranks a case where it does: sentences, attributes, neighbours, relations.

import { el, isolated, type Child } from "./dom";
import { caseAddress } from "./route";
import type { Case, Part, Why } from "./types";
import { chip, shortened, signed, stateWord } from "./words";

// The strongest of each kind: a case has to fit on one screen.
const ATTRIBUTES = 6;
const NEIGHBOURS = 5;
const RELATIONS = 3;

interface Reason {
  what: Child[];
  contribution: number | null;
  hint?: string;
}

function bar(value: number, largest: number): HTMLElement {
  const fill = el("i", { class: value < 0 ? "against" : "for" });
  fill.style.width = `${largest > 0 ? (50 * Math.abs(value)) / largest : 0}%`;
  return el("span", { class: "bar", "aria-hidden": "true" }, fill);
}

function sources({ own, around }: Part): string {
  return own === null || around === null ? "" : `its own ${signed(own)}, from around ${signed(around)}`;
}

function list(title: string, reasons: Reason[], most: number): HTMLElement[] {
  if (!reasons.length) return [];
  const shown = reasons.slice(0, most);
  const largest = Math.max(...shown.map((reason) => Math.abs(reason.contribution ?? 0)));
  const line = ({ what, contribution, hint }: Reason): HTMLElement =>
    el(
      "li",
      { title: hint || null },
      el("span", { class: "what" }, ...what),
      contribution !== null &&
        el("span", { class: "contribution" }, bar(contribution, largest), el("span", { class: "number" }, signed(contribution))),
    );
  return [el("h4", {}, title), el("ul", { class: "reasons" }, ...shown.map(line))];
}

function lists({ parts, nodes, relations }: Why, blind: boolean): HTMLElement[] {
  return [
    ...list(blind ? "Attributes that weigh most, in the order of the columns" : "Attributes", parts.map((part) => ({
      what: [isolated(part.name), " ", el("b", {}, isolated(shortened(part.value, 80), ""))],
      contribution: part.contribution,
      hint: sources(part),
    })), blind ? Infinity : ATTRIBUTES),
    ...list("Nearby nodes", nodes.map((node) => ({
      what: [el("a", { href: caseAddress(node.node, blind) }, isolated(node.id)), " ", chip(stateWord(node))],
      contribution: node.contribution,
    })), NEIGHBOURS),
    ...list("Kinds of links", relations.map((relation) => ({
      what: [isolated(relation.name)],
      contribution: relation.contribution,
    })), RELATIONS),
  ];
}

export function reasons({ why, whyMissing, whyPending }: Case, blind: boolean): HTMLElement {
  const title = el("h3", {}, blind ? "What is there" : "Why");
  if (whyPending) return el("section", { class: "why" }, title, el("p", { class: "quiet", role: "status" }, "Working out why …"));
  if (!why) return el("section", { class: "why" }, title, el("p", { class: "quiet" }, whyMissing));
  const sentences = why.sentences.map((words) => el("p", {}, words));
  const told = blind ? sentences : [el("details", {}, el("summary", {}, "In words"), ...sentences)];
  return el("section", { class: "why" }, title, ...lists(why, blind), ...(sentences.length ? told : []));
}
