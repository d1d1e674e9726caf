// What the page does when it opens, and when it is asked for something.

function refresh() {
  const runs = wanted();
  $("count").textContent =
    runs.length === total()
      ? `${many(runs.length, "run")}.`
      : `${runs.length.toLocaleString("en")} of ${many(total(), "run")}.`;
  drawMatrix(runs);
  return drawList(runs);
}
function showRow(place) {
  view.row = place;
  view.cell = "";
  view.shown = MANY;
  for (const button of document.querySelectorAll(".rows button"))
    Number(button.dataset.row) === place
      ? button.setAttribute("aria-current", "true")
      : button.removeAttribute("aria-current");
  return refresh();
}
function clicked(event) {
  const target = event.target.closest("[data-row], [data-cell], [data-run]");
  if (!target) return;
  if (target.dataset.row) showRow(Number(target.dataset.row));
  else if (target.dataset.run) choose(...target.dataset.run.split("/").map(Number));
  else {
    view.cell = view.cell === target.dataset.cell ? "" : target.dataset.cell;
    view.shown = MANY;
    refresh().then(() => {
      if (view.cell) {
        $("runs-title").focus({ preventScroll: true });
        $("runs-title").scrollIntoView();
      }
    });
  }
}
function filters() {
  const form = document.querySelector(".filters");
  const read = () => {
    view.words = $("words").value.toLowerCase().split(/\s+/).filter(Boolean);
    view.fate = $("fate").value;
    view.ending = $("ending").value;
    view.cell = "";
    view.shown = MANY;
    view.marks = new Set(
      [...form.querySelectorAll("[name=mark]:checked")].map((box) =>
        book.marks.findIndex((mark) => mark[0] === box.value),
      ),
    );
    refresh();
  };
  const counted = (column) => {
    const found = new Map();
    for (const row of book.rows) for (const each of row[column]) found.set(each, (found.get(each) || 0) + 1);
    return found;
  };
  const fates = counted("fate"),
    endings = counted("ending");
  $("fate").append(
    ...book.fates
      .map((fate, number) => fates.has(number) && el("option", { value: number }, fate[0]))
      .filter(Boolean),
  );
  $("ending").append(
    ...[...endings]
      .sort((one, other) => other[1] - one[1])
      .map(
        ([number, runs]) =>
          book.endings[number] &&
          el("option", { value: number }, `${book.endings[number]} (${runs.toLocaleString("en")})`),
      )
      .filter(Boolean),
  );
  form.addEventListener("input", read);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(read));
}
function scheme() {
  const button = $("scheme"),
    dark = () =>
      (document.documentElement.dataset.scheme ||
        (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const tell = () => button.setAttribute("aria-pressed", String(dark()));
  button.addEventListener("click", () => {
    document.documentElement.dataset.scheme = dark() ? "light" : "dark";
    tell();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", tell);
  tell();
}
function fromAddress() {
  const found = /^#run=(\d+)\/(\d+)$/.exec(location.hash);
  if (found && book.rows[found[1]] && Number(found[2]) < book.rows[found[1]].mark.length)
    return choose(Number(found[1]), Number(found[2]));
  return null;
}
async function begin() {
  scheme();
  book = await parcel("index");
  filters();
  filterSentences();
  document.addEventListener("click", clicked);
  $("matrix").addEventListener("keydown", walkMatrix);
  addEventListener("hashchange", fromAddress);
  const first = book.rows.findIndex((row) => /[01]/.test(row.mark));
  await showRow(first >= 0 || book.rows.length > 1 ? ALL : 0);
  await fromAddress();
  document.documentElement.dataset.ready = "true";
}
begin().catch((error) => {
  $("trouble").hidden = false;
  $("trouble").textContent =
    typeof DecompressionStream === "undefined"
      ? "This browser cannot open the runs: it has no DecompressionStream. Any from 2023 on has one."
      : `The runs could not be opened: ${error.message}`;
});
