// Elements are made here and nowhere else: text goes in as text, so no id or note is ever read as HTML.

export type Child = Node | string | number | null | undefined | false;
type Attribute = string | number | boolean | null | undefined | ((event: Event) => void);
export type Attributes = Record<string, Attribute>;

/** Text of which no letter reorders what is around it: marks of direction are seen, as on the terminal. */
export const visible = (text: string): string => text.replace(/\p{Bidi_Control}/gu, "\uFFFD");

function fill(made: Element, attributes: Attributes, children: Child[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (typeof value === "boolean") made.toggleAttribute(name, value);
    else if (value !== null && value !== undefined) made.setAttribute(name, String(value));
  }
  append(made, children);
}

/** An HTML element; functions among the attributes listen to the event of that name. */
export function el<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  fill(made, attributes, children);
  return made;
}

export function svg<Tag extends keyof SVGElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[Tag] {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  fill(made, attributes, children);
  return made;
}

export function append(parent: Element, children: Child[]): void {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    parent.append(child instanceof Node ? child : visible(String(child)));
  }
}

export function refill(parent: Element, ...children: Child[]): void {
  parent.replaceChildren();
  append(parent, children);
}

/** Text of unknown direction, kept from reordering the words around it. */
export function isolated(text: string, className = "id"): HTMLElement {
  return el("bdi", { class: className, title: text.length > 60 ? visible(text.slice(0, 1000)) : null }, text);
}

export function labelled(words: string, control: HTMLElement, className = ""): HTMLElement {
  return el("label", { class: className }, el("span", {}, words), control);
}

export function choice(options: [value: string, words: string][], value: string): HTMLSelectElement {
  const select = el("select", {}, ...options.map(([key, words]) => el("option", { value: key }, words)));
  select.value = value;
  if (select.selectedIndex < 0) select.selectedIndex = 0;
  return select;
}

export function heads(...words: string[]): HTMLElement {
  return el("thead", {}, el("tr", {}, ...words.map((word) => el("th", { scope: "col" }, word))));
}

export const prefersStillness = (): boolean => matchMedia("(prefers-reduced-motion: reduce)").matches;
export const onPhone = (): boolean => matchMedia("(max-width: 44rem)").matches;
