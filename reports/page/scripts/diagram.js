// The sequence diagram of a run.

const FIRST = ["client", "harness", "journal", "publisher", "model", "broker", "store", "worker", "outside"];
// In pixels: a lifeline's column at its narrowest and widest, the margin for times, the least width, a line, the heads.
const [NARROW, ROOMY, LEFT, LEAST, STEP, HEAD] = [88, 150, 92, 560, 27, 44];
const [PLAIN, BOLD] = ["12px", "bold 12px"];
const pen = document.createElement("canvas").getContext("2d");
/** How wide a text is drawn. */
function wide(text, weight) {
  pen.font = `${weight} ${getComputedStyle(document.body).fontFamily}`;
  return pen.measureText(text).width;
}
/** Who takes part, from left to right: the client first, who only looks at the end last. */
function parties(drawn) {
  const found = new Set();
  for (const { move } of drawn) {
    if (move.kind === "fold" || ["dies", "stands", "runs", "boots", "heals", "stops"].includes(move.kind))
      continue;
    found.add(move.who);
    if (move.to) found.add(move.to);
    if (move.ask) {
      found.add(move.ask.who);
      found.add(move.ask.to);
    }
  }
  const rank = (actor) => [
    actor.includes("probe-") ? 1 : 0,
    FIRST.indexOf(kindOf(actor)) + 1 || FIRST.length + 1,
  ];
  return [...found].sort(
    (one, other) => rank(one)[0] - rank(other)[0] || rank(one)[1] - rank(other)[1] || (one < other ? -1 : 1),
  );
}
function diagram(run, drawn, title, room) {
  const names = parties(drawn);
  const column = Math.max(NARROW, Math.min(ROOMY, Math.floor((room - LEFT - 24) / names.length)));
  const width = Math.max(LEAST, LEFT + names.length * column + 20);
  const height = drawn.length * STEP + 24;
  const x = (actor) => LEFT + names.indexOf(actor) * column + column / 2;
  const heads = el(
    "svg",
    { width, height: HEAD, viewBox: `0 0 ${width} ${HEAD}`, "aria-hidden": "true" },
    names.map((name) => {
      const [kind, of] = [kindOf(name), name.split(":")[1]];
      return [
        el("text", { class: "party", x: x(name), y: of ? 19 : 26 }, kind),
        of && el("text", { class: "party of", x: x(name), y: 34 }, clipped(of, column - 8)),
      ];
    }),
  );
  const body = el(
    "svg",
    {
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      "aria-label": `${title}: ${many(drawn.length, "move")} between ${names.join(", ")}; told as text below`,
    },
    lives(names, drawn, x, height),
    el("rect", { class: "now", x: 1, width: width - 2, height: STEP - 2, rx: 5, y: -STEP, "data-now": true }),
    drawn.map((entry, at) => drawEntry(entry, at, x, width, names, run.struck, drawn[at - 1])),
  );
  return {
    heads,
    body,
    across: (move) => (names.includes(move.who) ? x(move.who) : LEFT),
  };
}
function clipped(text, room, weight = PLAIN) {
  if (wide(text, weight) <= room) return text;
  const letters = Math.floor((text.length * room) / wide(text, weight)) - 2;
  return `${text.slice(0, Math.max(3, letters))}…`;
}
/** A lifeline is dotted while its process is dead. */
function lives(names, drawn, x, height) {
  return names.map((name) => {
    let from = 0,
      dead = false;
    const lines = [],
      draw = (to) => {
        if (to > from)
          lines.push(
            el("line", { class: dead ? "life dead" : "life", x1: x(name), x2: x(name), y1: from, y2: to }),
          );
        from = to;
      };
    drawn.forEach(({ move }, at) => {
      if (processOf(name) !== move.who || !["dies", "boots"].includes(move.kind)) return;
      draw(at * STEP + STEP / 2);
      dead = move.kind === "dies";
    });
    draw(height);
    return lines;
  });
}
function drawEntry(entry, at, x, width, names, struck, before) {
  const move = entry.move,
    y = at * STEP + STEP / 2 + 4,
    times = entry.times > 1 ? ` (${entry.times} times)` : "";
  const time = before && before.move.at === move.at && move.kind !== "strike" ? "" : since(move, struck);
  const parts = {
    ask: arrow,
    answer: arrow,
    learn: note,
    commit: note,
    decline: note,
    deed: note,
    strike: bolt,
    heals: across,
    stops: across,
    fold: across,
  };
  const draw = parts[move.kind] || ofProcess;
  return el(
    "g",
    { "data-at": at },
    el("title", {}, sentence(entry, struck)),
    el("rect", { x: 0, y: at * STEP, width, height: STEP, fill: "transparent" }),
    el("text", { class: "time", x: LEFT - 14, y: y + 1 }, time),
    draw(move, y, x, width, times, names),
  );
}
function label(text, left, right, width, y, kind = "") {
  const room = width - 8 - left,
    weight = kind.endsWith("-text") ? BOLD : PLAIN;
  if (wide(text, weight) <= room) return el("text", { class: `label ${kind}`, x: left, y }, text);
  return el(
    "text",
    { class: `label ${kind}`, x: Math.min(right, width - 8), y, "text-anchor": "end" },
    clipped(text, Math.min(right, width - 8) - LEFT, weight),
  );
}
function arrow(move, y, x, width, times) {
  const ask = move.ask ?? move,
    back = move.kind === "answer";
  const [from, to] = back ? [x(ask.to), x(ask.who)] : [x(ask.who), x(ask.to)];
  const cut = back ? ask.learned?.mark === "!!" : ask.lost,
    ahead = Math.sign(to - from) || 1;
  const end = cut ? from + (to - from) * 0.62 : to,
    bad = cut || move.mark === "--" ? " bad" : "";
  const text = `${back ? move.words : move.label}${times}`;
  const tip = cut
    ? el("path", { class: "arrow bad", d: `M${end - 4} ${y - 1}l8 8m0 -8l-8 8` })
    : el("path", { class: bad ? "bad-fill" : "tip", d: `M${end} ${y + 3}l${-8 * ahead} -4v8z` });
  const [left, right] = cut
    ? [Math.min(from, end), Math.max(from, end)]
    : [Math.min(from, to), Math.max(from, to)];
  const line =
    from === to
      ? el("path", { class: `arrow${bad}`, d: `M${from} ${y - 4}h26v7h-22` })
      : el("line", {
          class: `arrow${back ? " reply" : ""}${bad}`,
          x1: from,
          x2: end - (cut ? 0 : 6 * ahead),
          y1: y + 3,
          y2: y + 3,
        });
  return [line, tip, label(text, left + 8, right - 8, width, y - 2, bad ? "bad-text" : "")];
}
function note(move, y, x, width, times) {
  const at = x(move.who),
    bad = move.kind === "learn" || move.kind === "decline";
  const words = {
    learn: () => move.words,
    commit: () => `commit ${move.label}: ${tables(move)}`,
    decline: () => `no commit ${move.label}: ${move.words}`,
    deed: () => `${move.label}${move.words ? `: ${move.words}` : ""}`,
  };
  const sign =
    move.kind === "deed"
      ? el("path", { class: "fact", d: `M${at} ${y - 6}l6 6l-6 6l-6 -6z` })
      : move.kind === "learn"
        ? el("circle", { class: "bad-fill", cx: at, cy: y, r: 4.5 })
        : el("rect", {
            class: bad ? "bad-fill" : "fact",
            x: at - 5,
            y: y - 5,
            width: 10,
            height: 10,
            rx: 1.5,
          });
  return [
    sign,
    label(words[move.kind]() + times, at + 11, at - 11, width, y + 4, bad ? "bad-text" : "fact-text"),
  ];
}
function bolt(move, y, x, width) {
  const at = x(move.who);
  return [
    el("rect", { class: "band", x: 0, y: y - STEP / 2 - 4, width, height: STEP }),
    el("path", { class: "bolt", d: `M${at + 2} ${y - 11}l-8 12h5l-3 10l9 -13h-5l4 -9z` }),
    label(
      `${move.fate} strikes ${move.door} ${move.label}#${move.nth}`,
      at + 12,
      at - 12,
      width,
      y + 4,
      "bad-text",
    ),
  ];
}
function across(move, y, x, width) {
  const words = {
    heals: "the world is healed: from here on, what the client sees",
    stops: `stopped: the ${move.words} is used up`,
    fold: move.words,
  }[move.kind];
  return [
    el("line", { class: "arrow healed", x1: LEFT, x2: width - 8, y1: y + 6, y2: y + 6 }),
    el("text", { class: "label", x: LEFT + 8, y: y + 1 }, words),
  ];
}
function ofProcess(move, y, x, width, times, names) {
  const own = names.filter((name) => processOf(name) === move.who),
    bad = move.kind === "dies" || move.kind === "stands";
  const words = {
    dies: "dies",
    stands: "stands still",
    runs: "runs on",
    boots: `comes up, life ${move.life}`,
  }[move.kind];
  const signs = own.map((name) =>
    move.kind === "dies"
      ? el("path", {
          class: "arrow bad",
          "stroke-width": 2.5,
          d: `M${x(name) - 6} ${y - 6}l12 12m0 -12l-12 12`,
        })
      : el("circle", { class: bad ? "arrow bad" : "arrow", cx: x(name), cy: y, r: 5 }),
  );
  const at = own.length ? x(own.at(-1)) : LEFT;
  return [
    signs,
    label(
      `${move.who} ${words}`,
      at + 11,
      (own.length ? x(own[0]) : LEFT) - 11,
      width,
      y + 4,
      bad ? "bad-text" : "",
    ),
  ];
}
