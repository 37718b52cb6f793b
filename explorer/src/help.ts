// The keys, in a dialog.

import { el } from "./dom";
import { BINDINGS, keysOn, keyWords, turnKeys } from "./keys";

export function showHelp(): void {
  const groups = [...new Set(BINDINGS.map((binding) => binding.group))];
  const single = el("input", { type: "checkbox", id: "single-keys" });
  single.checked = keysOn();
  single.addEventListener("change", () => turnKeys(single.checked));
  const dialog = el(
    "dialog",
    { "aria-labelledby": "help-title" },
    el("form", { method: "dialog", class: "dialog-top" }, el("h2", { id: "help-title" }, "Keys"), el("button", {}, "Close")),
    el("label", { class: "check" }, single, "Single keys work (switch them off if you press them by chance)"),
    el(
      "div",
      { class: "keys" },
      ...groups.map((group) =>
        el(
          "section",
          {},
          el("h3", {}, group),
          el("dl", {}, ...BINDINGS.filter((binding) => binding.group === group).map(({ action, keys, words }) =>
            el("div", { "data-action": action },
              el("dt", {}, ...keys.map((key) => el("kbd", {}, keyWords(key)))), el("dd", {}, words)))),
        ),
      ),
    ),
  );
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
