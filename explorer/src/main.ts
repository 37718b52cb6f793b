// The shell: the run on top, the views below, and keys for all of it.

import "./style.css";
import { CasesView } from "./cases";
import { CaseView } from "./caseview";
import { el, refill } from "./dom";
import { GraphView } from "./graph";
import { showHelp } from "./help";
import { keyOf, listenToKeys, type Action } from "./keys";
import { LearnView } from "./learn";
import { ListView } from "./list";
import { alarm, calm, notices, tellWhyReloaded, watchReach } from "./notices";
import { QualityView } from "./quality";
import { QueueView } from "./queue";
import { Room } from "./room";
import { goTo, parseRoute, routeTo, type Route, type ViewName } from "./route";
import type { Run } from "./types";
import type { View } from "./view";
import { grouped, plural } from "./words";

const MAKERS: Record<ViewName, (room: Room, route: Route) => View> = {
  queue: (room, route) => new QueueView(room, route),
  case: (room, route) => new CaseView(room, route),
  list: (room, route) => new ListView(room, route),
  graph: (room, route) => new GraphView(room, route),
  quality: (room, route) => new QualityView(room, route),
  learn: (room) => new LearnView(room),
  cases: (_, route) => new CasesView(route),
};

const PLACES: { view: ViewName; action: Action; words: string }[] = [
  { view: "queue", action: "toQueue", words: "Queue" },
  { view: "list", action: "toList", words: "List" },
  { view: "graph", action: "toGraph", words: "Graph" },
  { view: "quality", action: "toQuality", words: "How good" },
  { view: "learn", action: "toLearn", words: "Learn" },
  { view: "cases", action: "toCases", words: "Cases" },
];

class Shell {
  private readonly main = el("main", { id: "main", tabindex: -1 });
  private readonly counts = el("p", { class: "counts" });
  private readonly links = new Map(
    PLACES.map(({ view, action, words }) => [
      view,
      el("a", { href: routeTo(view), "data-action": action, title: `${words} (${keyOf(action)})` }, words),
    ]),
  );
  private view: View | null = null;

  constructor(private readonly room: Room) {
    const { run } = room;
    const help = el("button", { type: "button", class: "plain", "data-action": "help", click: showHelp }, "Keys ",
      el("kbd", { "aria-hidden": "true" }, "?"));
    const caveats = [...(run.readOnly ? ["This room is read-only: nothing can be decided."] : []), ...run.caveats];
    refill(
      document.getElementById("room") as HTMLElement,
      notices,
      el(
        "header",
        { class: "top" },
        el("p", { class: "run", title: run.path }, el("b", {}, run.title || run.name), " ",
          run.title !== "" && run.title !== run.name && el("small", {}, run.name)),
        el("nav", { "aria-label": "Views" }, ...this.links.values()),
        this.counts,
        help,
      ),
      caveats.length > 0 && el("details", { class: "caveats" },
        el("summary", {}, plural(caveats.length, "caveat")), el("ul", {}, ...caveats.map((words) => el("li", {}, words)))),
      this.main,
    );
    room.onChange((rows) => {
      this.showCounts();
      this.view?.changed?.(rows);
    });
    addEventListener("hashchange", () => this.show());
    document.getElementById("skip")?.addEventListener("click", (event) => {
      event.preventDefault(); // the hash is the view's address
      this.main.focus();
    });
    listenToKeys((action) => this.perform(action), () => this.view?.hasRows ?? false);
    this.showCounts();
    this.show();
  }

  private showCounts(): void {
    const { confirmed, rejected } = this.room.run.counts;
    this.counts.textContent = `${grouped(confirmed)} confirmed · ${grouped(rejected)} rejected`;
  }

  private show(): void {
    const route = parseRoute(location.hash);
    this.view?.leave?.();
    const isFirst = this.view === null;
    this.view = MAKERS[route.view](this.room, route);
    calm();
    document.title = `${this.view.title} · ${this.room.run.name}`;
    for (const [view, link] of this.links) {
      if (view === route.view) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    refill(this.main, this.view.element);
    this.main.dataset["view"] = route.view;
    if (!isFirst) this.main.focus({ preventScroll: true });
    scrollTo(0, 0);
  }

  private perform(action: Action): boolean {
    const place = PLACES.find((each) => each.action === action);
    if (place) goTo(routeTo(place.view));
    else if (action === "help") showHelp();
    else if (action === "close" && calm()) return true;
    else if (this.view?.perform(action)) return true;
    else if (action === "undo") void this.room.undo();
    else if (action === "search") goTo(routeTo("list", "", new URLSearchParams({ search: "1" })));
    else return false;
    return true;
  }
}

/** What starts the room again at the address of this page. */
function commandAgain({ path, readOnly }: Run): string {
  const quoted = /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
  const host = ["127.0.0.1", "localhost"].includes(location.hostname) ? "" : ` --host ${location.hostname}`;
  const token = location.pathname.split("/")[1] ?? "";
  return `pugnn explore ${quoted}${host} --port ${location.port} --token=${token}${readOnly ? " --read-only" : ""}`;
}

try {
  const room = await Room.enter();
  watchReach(commandAgain(room.run));
  new Shell(room);
  tellWhyReloaded();
  document.documentElement.dataset["ready"] = "";
  await room.follow();
} catch (error) {
  refill(document.getElementById("room") as HTMLElement, notices);
  alarm(`The room could not be opened. ${(error as Error).message}`);
}
