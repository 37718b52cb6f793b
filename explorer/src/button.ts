// Buttons for actions: each shows its key, and does what the key does.

import { el } from "./dom";
import { keyOf, type Action } from "./keys";

export function actionButton(
  action: Action,
  words: string,
  perform: (action: Action) => unknown,
  className = "",
): HTMLButtonElement {
  const key = keyOf(action);
  return el(
    "button",
    {
      type: "button",
      class: className,
      "data-action": action,
      "aria-keyshortcuts": key.replace(" then ", " "),
      click: () => void perform(action),
    },
    words,
    " ",
    el("kbd", { "aria-hidden": "true" }, key),
  );
}
