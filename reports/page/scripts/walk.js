// The walk through a diagram: next, back, to the next commit, to the strike; with the disk and the scripts alive.

const isStrike = (entry) => entry.move.kind === "strike";

/** A run's diagram with the walk beside it. It is drawn once it has a place, for its width is that of the place. */
function studio(run) {
  const box = el("div", {});
  const shown = { errands: false, whole: !run.shared || run.number === 0 };
  const redraw = () => {
    const drawn = entries(run, shown.errands, shown.whole);
    const walk = new Walk(run, drawn, box.parentNode.clientWidth - besideIt());
    box.replaceChildren(
      choices(run, shown, redraw),
      el("div", { class: "studio" }, walk.frame, walk.panel),
      asText(run, drawn),
    );
    walk.to(Math.max(0, drawn.findIndex(isStrike)));
  };
  return { box, redraw };
}
/** The room that the walk takes beside a diagram. */
const besideIt = () =>
  matchMedia("(min-width: 100rem)").matches ? 448 : matchMedia("(min-width: 62rem)").matches ? 368 : 0;

function choices(run, shown, redraw) {
  const tick = (text, what) => {
    const changed = (event) => {
      shown[what] = event.target.checked;
      redraw();
    };
    const box = el("input", { type: "checkbox", checked: shown[what], on: { change: changed } });
    return el("label", { class: "tick" }, box, text);
  };
  return el(
    "div",
    { class: "tools" },
    tick("errands of journal and publisher", "errands"),
    run.shared > LEAD && run.number !== 0 && tick("the moves before, too", "whole"),
  );
}
/** A box with something in it that is made when the box is first opened. */
function folded(summary, fill) {
  const inner = el("div", {});
  const opened = () => inner.childNodes.length || inner.append(...fill(inner));
  return el("details", { on: { toggle: opened } }, el("summary", {}, summary), inner);
}
function asText(run, drawn) {
  const lines = () => drawn.map((entry) => el("li", {}, sentence(entry, run.struck)));
  return folded("The diagram as text", () => [el("ol", { class: "lines" }, lines())]);
}
/** The diagram of the run beside the one that is walked through. */
function aside(run, why) {
  return folded(`Diagram of the nearest passing run: ${why}`, (inner) => {
    const drawn = entries(run, false, true);
    const { heads, body } = diagram(run, drawn, "Nearest passing run", inner.clientWidth);
    return [framed("Sequence diagram of the nearest passing run", heads, body), asText(run, drawn)];
  });
}
const framed = (label, heads, body, on = {}) =>
  el(
    "div",
    { class: "diagram", tabindex: "0", role: "group", "aria-label": label, on },
    el("div", { class: "heads" }, heads),
    body,
  );

class Walk {
  constructor(run, drawn, room) {
    Object.assign(this, { run, drawn, at: 0 });
    const { heads, body, across } = diagram(run, drawn, faults(run.plan), room);
    this.across = across;
    this.steps = {
      b: () => this.to(this.at - 1),
      n: () => this.to(this.at + 1),
      c: () => this.to(this.commit()),
      s: () => this.to(this.strike()),
      Home: () => this.to(0),
      End: () => this.to(drawn.length - 1),
    };
    Object.assign(this.steps, { ArrowUp: this.steps.b, ArrowDown: this.steps.n });
    const on = { keydown: (event) => this.key(event), click: (event) => this.pointed(event) };
    this.frame = framed("Sequence diagram: n next, b back, c commit, s strike", heads, body, on);
    this.panel = this.beside();
  }
  beside() {
    const button = (name, key) => {
      const attributes = { type: "button", "data-walk": name.toLowerCase(), on: { click: this.steps[key] } };
      return el("button", attributes, name, " ", el("kbd", {}, key));
    };
    this.buttons = [button("Back", "b"), button("Next", "n"), button("Commit", "c"), button("Strike", "s")];
    this.now = el("p", { class: "said-now", role: "status" });
    [this.disk, this.scripts] = [el("div", { "data-disk": true }), el("div", { "data-scripts": true })];
    return el(
      "div",
      { class: "walk", on: { keydown: (event) => this.key(event) } },
      el("div", { class: "buttons" }, this.buttons),
      this.now,
      el("h3", {}, "Disk"),
      this.disk,
      el("h3", {}, "Scripts alive"),
      this.scripts,
    );
  }
  commit() {
    return this.drawn.findIndex((entry, place) => place > this.at && entry.move.kind === "commit");
  }
  /** The next strike, or the first again. */
  strike() {
    const next = this.drawn.findIndex((entry, place) => place > this.at && isStrike(entry));
    return next < 0 ? this.drawn.findIndex(isStrike) : next;
  }
  to(next) {
    if (next < 0 || next >= this.drawn.length) return;
    this.at = next;
    const { upto } = this.drawn[next];
    this.now.textContent = `${next + 1} of ${this.drawn.length}: ${sentence(this.drawn[next], this.run.struck)}`;
    this.disk.replaceChildren(diskTable(this.run.moves, upto, next ? this.drawn[next - 1].upto : -1));
    this.scripts.replaceChildren(alive(this.run.moves, upto));
    const can = [next > 0, next < this.drawn.length - 1, this.commit() >= 0, ![-1, next].includes(this.strike())];
    this.buttons.forEach((button, place) => (button.disabled = !can[place]));
    this.frame.querySelector("[data-now]").setAttribute("y", next * STEP + 1);
    this.follow();
  }
  /** Scroll the diagram, and not the page, so that the move and its words are seen. */
  follow() {
    const { frame } = this;
    const [x, y] = [this.across(this.drawn[this.at].move), this.at * STEP];
    const least = y + HEAD + 4 * STEP - frame.clientHeight;
    frame.scrollTop = Math.max(0, Math.min(Math.max(frame.scrollTop, least), y - 3 * STEP));
    frame.scrollLeft = Math.max(0, Math.min(Math.max(frame.scrollLeft, x + 190 - frame.clientWidth), x - 110));
  }
  key(event) {
    const go = this.steps[event.key];
    if (!go || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    go();
  }
  pointed(event) {
    const at = event.target.closest("[data-at]");
    if (at) this.to(Number(at.dataset.at));
  }
}

/** The durable tables as they stand after a move. After healing they are not followed. */
function diskTable(moves, upto, before) {
  const found = new Map(),
    fresh = new Set(),
    gone = [];
  for (let place = 0; place <= upto; place++) {
    if (moves[place].kind !== "commit") continue;
    for (const [table, key, state] of moves[place].rows) {
      if (!found.has(table)) found.set(table, new Map());
      if (state === null) {
        if (place > before) gone.push([table, key, found.get(table).get(key) ?? ""]);
        found.get(table).delete(key);
      } else {
        found.get(table).set(key, state);
        if (place > before) fresh.add(`${table} ${key}`);
      }
    }
  }
  const bodies = [...found]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([table, rows]) =>
      el(
        "tbody",
        {},
        el(
          "tr",
          { class: "table" },
          el(
            "th",
            { colspan: 2, scope: "rowgroup" },
            table,
            !rows.size && el("span", { class: "soft" }, " empty"),
          ),
        ),
        [...rows].map(([key, state]) =>
          el(
            "tr",
            { class: fresh.has(`${table} ${key}`) && "fresh" },
            el("th", { scope: "row" }, key),
            el("td", {}, state),
          ),
        ),
        gone
          .filter((each) => each[0] === table)
          .map(([, key, state]) =>
            el("tr", { class: "fresh gone" }, el("th", { scope: "row" }, key), el("td", {}, state)),
          ),
      ),
    );
  const note =
    moves[upto].healed || moves[upto].kind === "heals"
      ? el(
          "p",
          { class: "soft" },
          "As it was when the world was healed; what the looks that follow write is not told.",
        )
      : "";
  return bodies.length
    ? el("div", {}, note, el("table", { class: "disk" }, bodies))
    : el("p", { class: "soft" }, "Nothing is durable yet.");
}
/** The scripts that run after a move: what was asked and not answered, and what was started and has not ended. */
function alive(moves, upto) {
  let running = [];
  for (let place = 0; place <= upto; place++) {
    const move = moves[place];
    if (move.kind === "ask" && !move.lost) running.push({ who: move.to, label: move.label, ask: move });
    else if (move.kind === "begin") running.push({ who: move.who, label: move.label });
    else if (move.kind === "answer") running = running.filter((script) => script.ask !== move.ask);
    else if (move.kind === "end") {
      const ends = running.findIndex(
        (script) => !script.ask && script.who === move.who && script.label === move.label,
      );
      if (ends >= 0) running.splice(ends, 1);
    } else if (move.kind === "dies") running = running.filter((script) => processOf(script.who) !== move.who);
    else if (move.kind === "heals") break;
  }
  if (!running.length) return el("p", { class: "soft" }, "None.");
  return el(
    "ul",
    { class: "scripts" },
    running.map((script) =>
      el(
        "li",
        {},
        el("b", {}, script.who),
        ` ${script.label}`,
        script.ask && el("span", { class: "soft" }, ` for ${script.ask.who}`),
      ),
    ),
  );
}
