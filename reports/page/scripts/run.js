// One run: its verdict, how far its end reaches, and the nearest run that passed.

async function load(place, number) {
  const row = book.rows[place];
  const [plans, trails] = await Promise.all([parcel(`plans-${place}`), parcel(`trails-${place}`)]);
  const [status, ...says] = row.wrong[number] || ["passed"];
  const run = {
    place,
    number,
    row,
    plan: plans[number],
    status,
    says: says.map((each) => book.says[each]),
    mark: book.marks[Number(row.mark[number])][0],
    ending: book.endings[row.ending[number]],
    replay: `turnproof replay ${quoted(`${book.format}:${row.design}:${row.name}:${plans[number]}`)}`,
  };
  return { ...run, ...follow(trails, number) };
}
/** As a POSIX shell needs it; the bench's own replay lines are quoted alike. */
const quoted = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'"'"'`)}'`);

/** The passing run that is nearest: the row's own without the fault, else one at the same step with another fate. */
function nearest(run) {
  const row = run.row,
    passes = (number) => Number(row.mark[number]) > 1;
  if (run.number !== 0 && passes(0) && row.fate[0] < 0) return [0, "the row as written, without the fault"];
  let best = -1;
  for (let number = 0; number < row.mark.length; number++) {
    if (
      number === run.number ||
      !passes(number) ||
      row.step[number] !== row.step[run.number] ||
      row.fate[number] < 0
    )
      continue;
    if (best < 0 || Math.abs(number - run.number) < Math.abs(best - run.number)) best = number;
  }
  return best < 0 ? null : [best, `the same step with ${book.fates[row.fate[best]][0]}`];
}

async function choose(place, number, toTitle = true) {
  chosen = [place, number];
  for (const row of document.querySelectorAll("tr[data-of]"))
    row.toggleAttribute("aria-current", row.dataset.of === chosen.join("/"));
  const run = await load(place, number),
    near = nearest(run);
  const beside = near && (await load(place, near[0]));
  if (chosen[0] !== place || chosen[1] !== number) return; // another one was chosen meanwhile
  $("run").hidden = false;
  $("run-title").replaceChildren(
    badge(run.mark),
    ` ${faults(run.plan)} `,
    el("span", { class: "soft" }, `in ${run.row.name}`),
  );
  $("facts").replaceChildren(
    el(
      "div",
      { class: "pair" },
      card(run, "This run"),
      beside ? card(beside, "Nearest passing run", near[1]) : alone(run),
    ),
  );
  const stage = run.moves && studio(run);
  $("drawing").replaceChildren(
    stage ? stage.box : el("p", { class: "empty" }, run.none),
    beside?.moves ? aside(beside, near[1]) : "",
  );
  stage?.redraw();
  $("told").textContent =
    `Shown: ${faults(run.plan)} in ${run.row.name}, ${run.status}. ${run.says.join(" ")}`;
  history.replaceState(null, "", `#run=${place}/${number}`);
  if (toTitle) {
    $("run-title").focus({ preventScroll: true });
    $("run").scrollIntoView();
  }
}
const alone = (run) =>
  el(
    "div",
    { class: "fact-card beside" },
    el("h3", {}, "Nearest passing run"),
    el(
      "p",
      { class: "soft" },
      run.row.mark.length === 1
        ? "This row has no other run: its faults are its own."
        : run.number === 0 && Number(run.row.mark[0]) > 1
          ? "This is the row's own run: the others are told beside it."
          : "No run at this step passed, and neither did the row as written.",
    ),
  );
function card(run, title, why = "") {
  const facts = [
    ["Verdict", [`${run.status}: ${run.ending || "no ending"}`]],
    ["Objected", run.says.map((says) => el("span", { class: "said" }, says))],
    ["Fault", [faults(run.plan), el("span", { class: "where" }, causes(run.plan))]],
    ["Last durable fact", run.moves ? [durable(run)] : []],
    ["Lease at the end", run.blast ? [run.blast[2].join(", ") || "no Workspace was asked for"] : []],
    ["Turns", run.blast ? [run.blast[1].join(", ") || "none was accepted"] : []],
    ["Blast radius", run.blast ? reach(run.blast) : []],
    [
      "Replay",
      [
        el(
          "div",
          { class: "replay" },
          el("code", {}, run.replay),
          el("button", { type: "button", on: { click: copy(run.replay) } }, "Copy"),
        ),
      ],
    ],
  ];
  return el(
    "div",
    { class: `fact-card${why && " beside"}` },
    el("h3", {}, badge(run.mark), title, why && el("span", { class: "soft" }, why)),
    el(
      "dl",
      {},
      facts
        .filter(([, what]) => what.length)
        .map(([name, what]) => [
          el("dt", {}, name),
          el(
            "dd",
            {},
            name === "Objected" && what.length > 1
              ? el(
                  "ul",
                  {},
                  what.map((each) => el("li", {}, each)),
                )
              : what,
          ),
        ]),
    ),
  );
}
function reach([whom, , , now, later]) {
  return [
    el("span", { class: "reach" }, whom),
    el(
      "ul",
      {},
      el("li", {}, `Now: ${now.join(", ") || "no second Session was tried"}.`),
      el(
        "li",
        {},
        `After the writer lease ran out: ${later.join(", ") || "nothing to take over, every Session was well"}.`,
      ),
      whom === "this Workspace" &&
        el("li", {}, "A Workspace lease has no clock: a second Session fares then as it does now."),
    ),
  ];
}
function durable({ moves, struck }) {
  const last = moves.findLast(
    (move) => move.kind === "commit" && !move.healed && move.rows.length && !book.silent.includes(move.label),
  );
  return last ? `${last.label} by ${last.who} at ${since(last, struck)}` : "none";
}
const since = (move, struck) =>
  struck
    ? `${move.at < struck.at ? "−" : "+"}${Math.abs(move.at - struck.at).toLocaleString("en")} ms`
    : `${move.at.toLocaleString("en")} ms`;
function copy(text) {
  return async (event) => {
    const button = event.currentTarget;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      copyByHand(text);
    }
    button.textContent = "Copied";
    setTimeout(() => {
      button.textContent = "Copy";
    }, 1500);
  };
}
function copyByHand(text) {
  const area = el("textarea", { style: "position:fixed;opacity:0" });
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}
