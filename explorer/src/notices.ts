// What happened, in words: for screen readers and eyes alike.

import { onReach } from "./api";
import { el, refill, visible } from "./dom";

const SHOWN_MS = 6000;

const said = el("p", { id: "said", role: "status", "aria-live": "polite" });
const alarmed = el("p", { id: "alarm", role: "alert" });
const gone = el("p", { id: "gone", role: "alert", hidden: true });
let hiding = 0;

export const notices = el("div", { id: "notices" }, gone, alarmed, said);

export function announce(words: string): void {
  alarmed.textContent = "";
  said.textContent = visible(words);
  clearTimeout(hiding);
  hiding = setTimeout(() => said.replaceChildren(), SHOWN_MS);
}

/** What went wrong stays until something else happens. */
export function alarm(words: string): void {
  said.textContent = "";
  alarmed.textContent = visible(words);
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

/** Tells when the server is gone, and the command that brings it back to this address. */
export function watchReach(command: string): void {
  onReach((here) => {
    gone.hidden = here;
    refill(gone, !here && "The server does not answer, and nothing is saved until it does. This page keeps trying: start ",
      !here && "the room again with the same port and token, and your other options: ", !here && el("code", {}, command));
    if (here) announce("The server answers again.");
  });
}
