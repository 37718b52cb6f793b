// One case under its own address.

import { CaseCard } from "./casecard";
import { el } from "./dom";
import type { Action } from "./keys";
import type { Room } from "./room";
import { nodeOf, type Route } from "./route";
import type { Row } from "./types";
import type { View } from "./view";

export class CaseView implements View {
  readonly title = "Case";
  readonly element: HTMLElement;
  private readonly card: CaseCard | null;

  constructor(room: Room, route: Route) {
    const node = nodeOf(route.rest);
    this.card = node === null ? null : new CaseCard(room, node, { queue: "list", blind: route.query.has("blind") });
    this.element = el(
      "div",
      {},
      el("h1", { class: "unseen" }, "Case"),
      this.card?.element ?? el("p", { class: "trouble" }, "This address names no case."),
    );
  }

  perform(action: Action): boolean {
    if (action !== "close") return action !== "open" && (this.card?.perform(action) ?? false);
    history.back();
    return true;
  }

  changed(rows: Row[]): void {
    this.card?.changed(rows);
  }
}
