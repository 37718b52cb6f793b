"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const PAGE = matchMedia("(max-width: 44rem)").matches ? 10 : 25;

  const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer;
  const names = data.list.names;
  const scores = new Float64Array(bytes(data.list.scores));
  const logOdds = new Float64Array(bytes(data.list.log_odds));
  const rejected = new Set(data.list.rejected);
  const hops = new Int32Array(bytes(data.list.hops));
  const nearest = new Int32Array(bytes(data.list.nearest));
  const classes = data.list.classes;
  const shown = data.list.shown; // columns of the user's own table
  const isKnown = (node) => hops[node] === 0 || rejected.has(node);
  let ranked = 0;
  const ranks = Array.from(scores, (_, node) => (isKnown(node) ? null : ++ranked)); // those of scores.csv
  const classOf = classes && new Int32Array(bytes(data.list.class));

  const grouped = (number) => number.toLocaleString("en-GB");
  const percent = (part, whole) => (whole ? `${((100 * part) / whole).toFixed(1)} %` : "–");
  const shortNumber = (number) => {
    const text = String(number);
    return text.length <= 8 ? text : String(Number(number.toPrecision(6)));
  };
  const shortened = (text) => (text.length <= 60 ? text : `${text.slice(0, 59)}…`);
  const cell = (text, className, label) => {
    const made = document.createElement("td");
    made.role = "cell"; // on a phone the table is not laid out as one, but is still read as one
    made.textContent = text;
    if (className) made.className = className;
    if (label !== undefined) made.dataset.label = label; // what a phone shows instead of the head of the column
    return made;
  };

  let threshold = data.steps[data.start];

  // ------------------------------------------------------------------ threshold

  const slider = byId("threshold");
  const sum = (values) => values.reduce((total, value) => total + value, 0);
  const others = sum(data.rings.map((ring) => ring.nodes));

  function decide() {
    const step = Number(slider.value);
    threshold = data.steps[step];
    const found = sum(data.rings.map((ring) => ring.reach[step]));
    byId("threshold-value").textContent = shortNumber(threshold);
    slider.setAttribute("aria-valuetext", `${shortNumber(threshold)}: ${grouped(found)} nodes decided positive`);
    byId("found-count").textContent = grouped(found);
    byId("found-share").textContent = percent(found, others);
    byId("expected").textContent = measured(found) || hidden(found);
    byId("reset").disabled = step === data.start;
    for (const count of document.querySelectorAll("[data-ring]")) {
      count.textContent = grouped(data.rings[count.dataset.ring].reach[step]);
    }
    const [low, high] = data.axis;
    const bins = document.querySelector(".histogram")?.viewBox.baseVal.width ?? 0;
    const at = ((threshold - low) / (high - low)) * bins;
    for (const part of document.querySelectorAll(".above")) part.setAttribute("x", Math.max(at, 0));
    for (const mark of document.querySelectorAll(".mark")) {
      mark.setAttribute("x1", at);
      mark.setAttribute("x2", at);
      mark.classList.toggle("outside", at < 0 || at > bins);
    }
    if (data.truth) compare(data.truth, step);
    for (const dot of dots) dot.classList.toggle("reached", Number(dot.dataset.score) >= threshold);
    show(0);
  }

  // The precision of any number taken, between those that were measured; none beyond them.
  function measured(taken) {
    const after = data.measured.findIndex((point) => point.taken >= taken);
    if (after < 0 || data.measured[0].taken > taken) return "";
    const [one, two] = [data.measured[Math.max(after - 1, 0)], data.measured[after]];
    const way = two.taken > one.taken ? (taken - one.taken) / (two.taken - one.taken) : 0;
    const at = (end) => Math.round(100 * (one.precision[end] + way * (two.precision[end] - one.precision[end])));
    const [value, low, high] = [0, 1, 2].map(at);
    if (high - low > 50) return `Unknown: ${low} to ${high} % of them are positive, as far as it was measured.`;
    return `Measured: ${value} %${low < high ? ` (${low} to ${high})` : ""} of them are positive.`;
  }

  function hidden(taken) {
    if (!data.hidden.length) return "";
    const within = data.hidden.filter((rank) => rank * others < taken).length;
    return `${within} of ${data.hidden.length} known positives, when hidden, rank as high.`;
  }

  function compare(truth, step) {
    const right = truth.right[step];
    const wrong = truth.reach[step] - right;
    const missed = truth.positive - right;
    const rest = truth.nodes - truth.positive - wrong;
    const f1 = (hits, errors) => (hits ? (2 * hits) / (2 * hits + errors) : 0);
    byId("true-positive").textContent = grouped(right);
    byId("false-positive").textContent = grouped(wrong);
    byId("false-negative").textContent = grouped(missed);
    byId("true-negative").textContent = grouped(rest);
    byId("precision").textContent = percent(right, right + wrong);
    byId("recall").textContent = percent(right, truth.positive);
    byId("macro-f1").textContent = percent(f1(right, wrong + missed) + f1(rest, wrong + missed), 2);
  }

  // ------------------------------------------------------------------ list

  let chosen = [];
  let first = 0;
  let searchable = null; // small letters, made when the first search comes

  function choose() {
    const wanted = byId("search").value.trim().toLowerCase();
    const which = byId("show").value;
    if (wanted && !searchable) searchable = names.map((name) => name.toLowerCase());
    const found = [];
    for (let node = 0; node < scores.length; node++) {
      if (which !== "all" && isKnown(node)) continue;
      if (which === "found" && scores[node] < threshold) break; // best first: none that follows reaches it
      if (!wanted || searchable[node].includes(wanted)) found.push(node);
    }
    return found;
  }

  function show(from) {
    chosen = choose();
    first = Math.min(Math.max(from, 0), Math.max(chosen.length - 1, 0));
    first -= first % PAGE;
    byId("rows").replaceChildren(...chosen.slice(first, first + PAGE).map(line));
    const last = Math.min(first + PAGE, chosen.length);
    byId("page-words").textContent = chosen.length
      ? `${grouped(first + 1)}–${grouped(last)} of ${grouped(chosen.length)}`
      : "No node in the list fits.";
    byId("previous").disabled = first === 0;
    byId("next").disabled = last >= chosen.length;
    byId("export").textContent = `Save ${grouped(chosen.length)} as CSV`;
    byId("export").disabled = chosen.length === 0;
  }

  function line(node) {
    const row = document.createElement("tr");
    row.role = "row";
    const alone = nearest[node] < 0;
    const decision = cell("");
    const chip = document.createElement("span");
    const [kind, words] =
      hops[node] === 0 ? ["known", "known"]
      : rejected.has(node) ? ["", "rejected"]
      : scores[node] >= threshold ? ["found", "positive"]
      : ["", "no"];
    chip.className = `chip ${kind}`;
    chip.textContent = words;
    decision.append(chip);
    row.append(
      cell(ranks[node] === null ? "known" : grouped(ranks[node]), "number"),
      cell(shortened(names[node]), "id"),
      cell(scores[node].toFixed(4), "number"),
      decision,
      cell(Number.isFinite(logOdds[node]) ? logOdds[node].toFixed(3) : "–", "number", "log-odds"),
      alone ? cell("no path", "number", "") : cell(String(hops[node]), "number", "hops"),
      alone ? cell("–", "none") : cell(shortened(names[nearest[node]]), "id", "nearest"),
    );
    if (classes) {
      const truth = classes[classOf[node]];
      const remark = data.list.named && !truth?.positive ? " (not positive)" : "";
      const words = truth ? shortened(truth.name) + remark : "not known";
      row.append(cell(words, truth?.positive ? "" : "not", "truly"));
    }
    for (const column of shown) row.append(cell(shortened(column.values[node]), "", shortened(column.name)));
    return row;
  }

  // Spreadsheets run text that begins like a formula; the same rule as in scores.csv.
  const FORMULA = /^'*(?:[=@\t\r]|[+-](?!\d+([.,]\d+)?$))/;
  function csvText(text) {
    const harmless = FORMULA.test(text) ? `'${text}` : text;
    return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
  }

  function csvLine(node) {
    const cells = [
      csvText(names[node]),
      scores[node],
      logOdds[node],
      scores[node] >= threshold && !rejected.has(node) ? 1 : 0,
      ranks[node] ?? "",
      hops[node] === 0 ? 1 : rejected.has(node) ? -1 : 0,
      hops[node] < 0 ? "" : hops[node],
      nearest[node] < 0 ? "" : csvText(names[nearest[node]]),
    ];
    if (classes) cells.push(csvText(classes[classOf[node]]?.name ?? ""));
    for (const column of shown) cells.push(csvText(column.values[node]));
    return cells.join(",");
  }

  function save() {
    const head = ["id", "score", "log_odds", "decision", "rank", "known", "distance", "nearest"];
    if (classes) head.push("true_class");
    for (const column of shown) head.push(csvText(column.name));
    const text = [head.join(","), ...chosen.map(csvLine), ""].join("\n");
    const link = document.createElement("a");
    // The mark at the beginning tells Excel that this is UTF-8.
    link.href = URL.createObjectURL(new Blob(["\ufeff", text], { type: "text/csv;charset=utf-8" }));
    link.download = "selection.csv";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  // ------------------------------------------------------------------ picture

  const graph = byId("graph");
  const dots = [...graph.querySelectorAll(".dot")];
  const lines = [...graph.querySelectorAll("line")];
  let pointed = -1;

  function place() {
    const { width, height } = graph.getBoundingClientRect();
    if (!width) return;
    const margin = width < 600 ? 18 : 46;
    const form = width < height * 1.2 ? "tall" : "wide";
    graph.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const places = dots.map((dot) => {
      const [x, y] = dot.dataset[form].split(" ").map(Number);
      return [margin + x * (width - 2 * margin), 24 + y * (height - 62)];
    });
    dots.forEach((dot, at) => dot.setAttribute("transform", `translate(${places[at][0]} ${places[at][1]})`));
    for (const edge of lines) {
      [["x1", "y1", "one"], ["x2", "y2", "other"]].forEach(([x, y, end]) => {
        edge.setAttribute(x, places[edge.dataset[end]][0]);
        edge.setAttribute(y, places[edge.dataset[end]][1]);
      });
    }
  }

  function point(at) {
    pointed = at;
    dots.forEach((dot, other) => dot.classList.toggle("chosen", other === at));
    for (const edge of lines) {
      edge.classList.toggle("chosen", Number(edge.dataset.one) === at || Number(edge.dataset.other) === at);
    }
    const { name, score } = dots[at].dataset;
    const known = dots[at].classList.contains("known") ? ", known positive" : "";
    const words = Number(score) < 0 ? "" : `: score ${Number(score).toFixed(4)}${known}`; // other kinds have none
    byId("dot-words").textContent = name + words;
  }

  dots.forEach((dot, at) => {
    dot.addEventListener("pointerenter", () => point(at));
    dot.addEventListener("click", () => point(at));
  });
  graph.addEventListener("keydown", (event) => {
    const move = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!move || !dots.length) return;
    event.preventDefault();
    point((pointed + move + dots.length) % dots.length);
  });
  new ResizeObserver(place).observe(graph);

  // ------------------------------------------------------------------ begin

  addEventListener("beforeprint", () => {
    for (const folded of document.querySelectorAll("details")) folded.open = true;
  });

  slider.min = 0;
  slider.max = data.steps.length - 1;
  slider.value = data.start;
  slider.addEventListener("input", decide);
  byId("reset").addEventListener("click", () => {
    slider.value = data.start;
    decide();
  });
  byId("search").addEventListener("input", () => show(0));
  byId("show").addEventListener("change", () => show(0));
  byId("previous").addEventListener("click", () => show(first - PAGE));
  byId("next").addEventListener("click", () => show(first + PAGE));
  byId("export").addEventListener("click", save);
  place();
  decide();
  document.documentElement.dataset.ready = "";
})();
