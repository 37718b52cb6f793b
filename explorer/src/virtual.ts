// A list of any length of which only the visible rows are elements.
//
// Browsers cap the height of an element (Firefox at 17.9 million pixels, older Chrome at 16.8): a taller list has a
// spacer of 15 million, and the place of the scroll bar is scaled to the whole.

import { el, onPhone } from "./dom";

const TALLEST = 15_000_000;
const SPARE = 6; // rows drawn beyond either edge
const HEIGHT = { desktop: 38, phone: 62 };

export class VirtualList {
  readonly element: HTMLElement;
  private readonly spacer = el("div", { class: "spacer", role: "presentation" });
  private readonly rowHeight = onPhone() ? HEIGHT.phone : HEIGHT.desktop;
  private readonly watch: ResizeObserver;
  private count = 0;
  private awaiting = 0;
  private held = 0; // the row that was revealed last
  private viewBefore = 0;

  constructor(
    label: string,
    private readonly draw: (first: number, last: number) => HTMLElement[],
    head: HTMLElement,
  ) {
    this.element = el("div", { class: "virtual", role: "grid", "aria-label": label, tabindex: 0 }, head, this.spacer);
    this.element.addEventListener("scroll", () => this.refresh(), { passive: true });
    this.watch = new ResizeObserver(() => this.resized());
    this.watch.observe(this.element);
  }

  leave(): void {
    this.watch.disconnect();
    cancelAnimationFrame(this.awaiting);
  }

  set length(count: number) {
    this.count = count;
    this.element.setAttribute("aria-rowcount", String(count + 1));
    this.spacer.style.height = `${Math.min(this.whole, TALLEST)}px`;
    this.refresh();
  }

  private get whole(): number {
    return this.count * this.rowHeight;
  }

  /** What of the element shows rows: the head stays on top of them. */
  private get view(): number {
    return Math.max(this.element.clientHeight - this.spacer.offsetTop, this.rowHeight);
  }

  /** Pixels of the whole list for one pixel of the scroll bar. */
  private get scale(): number {
    const reach = Math.min(this.whole, TALLEST) - this.view;
    return reach > 0 ? (this.whole - this.view) / reach : 1;
  }

  /** Draws again, once for all that changes before the next frame. */
  refresh(): void {
    cancelAnimationFrame(this.awaiting);
    this.awaiting = requestAnimationFrame(() => this.drawNow());
  }

  private drawNow(): void {
    const top = this.element.scrollTop * this.scale;
    const first = Math.max(Math.floor(top / this.rowHeight) - SPARE, 0);
    const last = Math.min(Math.ceil((top + this.view) / this.rowHeight) + SPARE, this.count);
    const rows = this.draw(first, last);
    rows.forEach((row, at) => {
      const y = this.element.scrollTop + (first + at) * this.rowHeight - top;
      row.style.transform = `translateY(${y}px)`;
      row.style.height = `${this.rowHeight}px`;
    });
    this.spacer.replaceChildren(...rows);
  }

  /** A row that was in sight stays in sight when the list becomes lower. */
  private resized(): void {
    const below = (this.held + 1) * this.rowHeight - this.element.scrollTop * this.scale;
    if (below > 0 && below <= this.viewBefore + 1) this.reveal(this.held);
    this.viewBefore = this.view;
    this.refresh();
  }

  /** Scrolls as little as shows the row whole. */
  reveal(at: number): void {
    this.held = at;
    const [scale, view] = [this.scale, this.view];
    const top = this.element.scrollTop * scale;
    const start = at * this.rowHeight;
    if (start < top) this.element.scrollTop = Math.floor(start / scale);
    else if (start + this.rowHeight > top + view) {
      this.element.scrollTop = Math.ceil((start + this.rowHeight - view) / scale);
    }
    this.refresh();
  }
}
