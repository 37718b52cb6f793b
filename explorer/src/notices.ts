// What happened, in words: for screen readers and eyes alike.

import { onReach } from "./api";
import { el } from "./dom";

const SHOWN_MS = 6000;

const said = el("p", { id: "said", role: "status", "aria-live": "polite" });
const alarmed = el("p", { id: "alarm", role: "alert" });
const gone = el("p", { id: "gone", role: "alert", hidden: true });
let hiding = 0;

export const notices = el("div", { id: "notices" }, gone, alarmed, said);

export function announce(words: string): void {
  alarmed.textContent = "";
  said.textContent = words;
  clearTimeout(hiding);
  hiding = setTimeout(() => said.replaceChildren(), SHOWN_MS);
}

/** What went wrong stays until something else happens. */
export function alarm(words: string): void {
  said.textContent = "";
  alarmed.textContent = words;
}

export function calm(): boolean {
  const wasAlarmed = alarmed.textContent !== "";
  alarmed.textContent = "";
  return wasAlarmed;
}

const AFTER_RELOAD = "pugnn-after-reload";

/** Loads the page again, and then says why. */
export function reloadAnd(words: string): void {
  sessionStorage.setItem(AFTER_RELOAD, words);
  location.reload();
}

export function tellWhyReloaded(): void {
  const words = sessionStorage.getItem(AFTER_RELOAD);
  sessionStorage.removeItem(AFTER_RELOAD);
  if (words) alarm(words);
}

onReach((here) => {
  gone.hidden = here;
  gone.textContent = here
    ? ""
    : "The server does not answer. Nothing is saved until it does: start `pugnn explore` again. This page keeps trying.";
  if (here) announce("The server answers again.");
});
