// The filters, and the matrix: a table for each door, step by fate.

let book;
const view = {
  row: ALL,
  fate: "",
  ending: "",
  words: [],
  marks: new Set([0, 1, 2, 3]),
  cell: "",
  shown: MANY,
};
let chosen = null; // [row, number] of the run that is shown

/** For each searched word, which texts hold it. */
function hits() {
  const holding = (texts, word) => texts.map((text) => text.toLowerCase().includes(word));
  return view.words.map((word) => ({
    rows: holding(
      book.rows.map((row) => `${row.name} ${row.cases.join(" ")}`),
      word,
    ),
    steps: holding(book.steps, word),
    fates: holding(
      book.fates.map((fate) => fate[0]),
      word,
    ),
    endings: holding(book.endings, word),
    says: holding(book.says, word),
    marks: holding(
      book.marks.map((mark) => mark.join(" ")),
      word,
    ),
  }));
}

/** Every run that the filters let through, as [row, number]. */
function wanted() {
  const found = [],
    words = hits();
  const fate = view.fate === "" ? null : Number(view.fate),
    ending = view.ending === "" ? null : Number(view.ending);
  book.rows.forEach((row, place) => {
    if (view.row !== ALL && view.row !== place) return;
    for (let number = 0; number < row.mark.length; number++) {
      if (!view.marks.has(Number(row.mark[number]))) continue;
      if (fate !== null && row.fate[number] !== fate) continue;
      if (ending !== null && row.ending[number] !== ending) continue;
      if (words.every((word) => holds(word, row, place, number))) found.push([place, number]);
    }
  });
  return found;
}
function holds(word, row, place, number) {
  return (
    word.rows[place] ||
    word.steps[row.step[number]] ||
    word.endings[row.ending[number]] ||
    word.fates[row.fate[number]] ||
    word.marks[Number(row.mark[number])] ||
    (row.wrong[number] || []).some((says, at) => at > 0 && word.says[says])
  );
}
const total = () =>
  book.rows.reduce(
    (sum, row, place) => sum + (view.row === ALL || view.row === place ? row.mark.length : 0),
    0,
  );
const cellOf = (row, number) => (row.fate[number] < 0 ? WRITTEN : `${row.step[number]}/${row.fate[number]}`);
const gravest = (counts) => book.marks[counts.findIndex((count) => count > 0)][0];

function drawMatrix(runs) {
  const cells = new Map();
  const matrix = $("matrix");
  for (const [place, number] of runs) {
    const row = book.rows[place],
      key = cellOf(row, number);
    if (!cells.has(key)) cells.set(key, [0, 0, 0, 0]);
    cells.get(key)[Number(row.mark[number])]++;
  }
  const focused = document.activeElement?.dataset?.cell;
  matrix.replaceChildren(
    ...aboutRow(),
    ...asWritten(runs),
    ...["call", "commit", "act"].map((door) => table(door, cells)).filter(Boolean),
  );
  if (!runs.length)
    matrix.append(el("p", { class: "empty" }, "No run is like this. Take a filter back, or press Reset."));
  const first = matrix.querySelector(`[data-cell="${focused}"]`) || matrix.querySelector(".cell");
  if (first) first.tabIndex = 0;
  if (focused) first?.focus();
}
function aboutRow() {
  if (view.row === ALL) return [];
  const row = book.rows[view.row];
  return [
    el(
      "p",
      { class: "why" },
      el("b", {}, row.name),
      `: ${row.why}. `,
      el("span", { class: "soft" }, [row.cites, ...row.cases].join(", ")),
    ),
  ];
}
/** The rows as they are written, field cases with their own faults among them. */
function asWritten(runs) {
  const listed = runs.filter(
    ([place, number]) => book.rows[place].mark.length === 1 || cellOf(book.rows[place], number) === WRITTEN,
  );
  if (!listed.length) return [];
  const buttons = listed.map(([place, number]) =>
    el(
      "li",
      {},
      el(
        "button",
        { type: "button", "data-run": `${place}/${number}` },
        badge(book.marks[Number(book.rows[place].mark[number])][0]),
        view.row === ALL ? book.rows[place].name : "the row as written",
      ),
    ),
  );
  return view.row === ALL && buttons.length > 12
    ? [
        el(
          "details",
          { class: "written" },
          el("summary", {}, `${many(buttons.length, "run")} of rows and field cases as written`),
          el("ul", { class: "chips" }, buttons),
        ),
      ]
    : [el("ul", { class: "chips" }, buttons)];
}
function table(door, cells) {
  const steps = book.steps
    .map((step, number) => number)
    .filter((number) => book.steps[number].split(" ")[1] === door);
  const used = new Set([...cells.keys()].map((key) => key.split("/")));
  const of = (step) => [...used].filter((key) => Number(key[0]) === step);
  const rows = steps
    .map((step) => [step, new Set(of(step).map((key) => Number(key[1])))])
    .filter(([, fates]) => fates.size);
  const fates = [...new Set(rows.flatMap(([, struck]) => [...struck]))].sort((one, other) => one - other);
  if (!rows.length) return null;
  const kind = (fate) => (book.fates[fate][0].endsWith("!") ? "all-attempts" : "");
  return el(
    "div",
    { class: "scroll", tabindex: "0", role: "group", "aria-label": `Faults of a ${door}` },
    el(
      "table",
      { class: "matrix" },
      el("caption", {}, { call: "Calls", commit: "Commits", act: "Deeds" }[door]),
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          el("th", { class: "corner", scope: "col" }, el("span", { class: "soft" }, "step")),
          fates.map((fate) =>
            el(
              "th",
              { scope: "col", class: kind(fate), title: book.fates[fate][1] },
              el("span", {}, book.fates[fate][0]),
            ),
          ),
        ),
      ),
      el(
        "tbody",
        {},
        rows.map(([step]) =>
          el(
            "tr",
            {},
            stepHead(book.steps[step]),
            fates.map((fate) =>
              el("td", { class: kind(fate) }, cell(step, fate, cells.get(`${step}/${fate}`))),
            ),
          ),
        ),
      ),
    ),
  );
}
function stepHead(step) {
  const [actor, , ...label] = step.split(" ");
  return el("th", { scope: "row", title: step }, el("span", {}, el("i", {}, `${actor} `), label.join(" ")));
}
function cell(step, fate, counts) {
  if (!counts) return "·";
  const mark = gravest(counts),
    runs = counts.reduce((one, other) => one + other),
    key = `${step}/${fate}`;
  const [name, sticky] = [book.fates[fate][0].replace("!", ""), book.fates[fate][0].endsWith("!")];
  const means = book.marks.find((each) => each[0] === mark)[1];
  return el(
    "button",
    {
      type: "button",
      class: "cell",
      tabindex: "-1",
      "data-mark": mark,
      "data-cell": key,
      "aria-pressed": String(view.cell === key),
      "aria-label": `${book.steps[step]}, ${name}${sticky ? ", at every attempt" : ""}: ${many(runs, "run")}, ${mark} ${means}`,
    },
    mark,
    el("small", {}, runs.toLocaleString("en")),
  );
}
const ARROWS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
function walkMatrix(event) {
  const [down, right] = ARROWS[event.key] || [0, 0],
    here = event.target.closest(".cell");
  if (!here || !(down || right)) return;
  event.preventDefault();
  const rows = [...here.closest("tbody").rows];
  let y = rows.indexOf(here.closest("tr")),
    x = here.closest("td").cellIndex,
    next = null;
  do {
    y += down;
    x += right;
  } while (rows[y]?.cells[x] && x > 0 && !(next = rows[y].cells[x].querySelector(".cell")));
  if (!next) return;
  here.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}
