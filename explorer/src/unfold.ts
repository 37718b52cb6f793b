// Asks how many of a hub's neighbours to show, and which: never all 100,000 at once.

import { choice, el, labelled } from "./dom";
import type { GraphNode } from "./types";
import { grouped } from "./words";

export interface Wish {
  relation: string;
  by: "score" | "weight" | "known";
  count: number;
}

const MOST = 500;

export function askWish(
  row: GraphNode,
  folded: number,
  relations: { relation: string; count: number | null }[],
  blind: boolean,
): Promise<Wish | null> {
  const kinds = relations.filter(({ relation }) => relation !== "");
  const relation = choice(
    [["", "any"], ...kinds.map(({ relation: name, count }): [string, string] =>
      [name, count === null ? name : `${name} (${grouped(count)} left)`])],
    "",
  );
  const orders: [string, string][] = [["known", "known and confirmed first"], ["weight", "strongest link first"]];
  const by = choice(blind ? orders : [["score", "highest score first"], ...orders], "");
  const count = el("input", { type: "number", min: 1, max: Math.min(MOST, folded), value: Math.min(30, folded), required: true });
  const dialog = el(
    "dialog",
    { "aria-labelledby": "unfold-title" },
    el(
      "form",
      { method: "dialog" },
      el("h2", { id: "unfold-title" }, `${grouped(folded)} more neighbours of `, el("bdi", {}, row.id)),
      el(
        "div",
        { class: "tools" },
        kinds.length > 0 && labelled("Kind of link", relation),
        labelled("Which", by),
        labelled("How many", count),
      ),
      el(
        "div",
        { class: "decisions" },
        el("button", { value: "show", class: "yes" }, "Show"),
        el("button", { value: "", formnovalidate: true }, "Cancel"),
      ),
    ),
  );
  document.body.append(dialog);
  dialog.showModal();
  count.select();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      const wish: Wish = { relation: relation.value, by: by.value as Wish["by"], count: count.valueAsNumber };
      resolve(dialog.returnValue === "show" ? wish : null);
    });
  });
}
