// The list of runs, of a cell or of those within the filters.

async function drawList(runs) {
  const inCell =
    view.cell === ""
      ? runs
      : runs.filter(([place, number]) => cellOf(book.rows[place], number) === view.cell);
  const mark = ([place, number]) => Number(book.rows[place].mark[number]);
  const worth = view.cell !== "" || narrowed() ? inCell : inCell.filter((run) => mark(run) < 2);
  const sorted = [...worth].sort((one, other) => mark(one) - mark(other));
  $("chosen").textContent = told(sorted.length);
  if (!sorted.length)
    return $("runs").replaceChildren(
      el(
        "p",
        { class: "empty" },
        runs.length
          ? "Every run passed. Choose a cell of the matrix to see its runs."
          : "No run is like this.",
      ),
    );
  const listed = sorted.slice(0, view.shown);
  const texts = new Map(
    await Promise.all(
      [...new Set(listed.map(([place]) => place))].map(async (place) => [
        place,
        await parcel(`plans-${place}`),
      ]),
    ),
  );
  const more = sorted.length - listed.length;
  $("runs").replaceChildren(
    el(
      "div",
      { class: "scroll" },
      el(
        "table",
        { class: "plain runs" },
        el(
          "thead",
          {},
          el(
            "tr",
            {},
            ["mark", "fault", "row", "ending"].map((head) =>
              el("th", { scope: "col", class: head === "row" && "wide" }, head),
            ),
          ),
        ),
        el(
          "tbody",
          {},
          listed.map(([place, number]) => listing(place, number, texts.get(place)[number])),
        ),
      ),
    ),
    more > 0
      ? el(
          "button",
          {
            type: "button",
            class: "more",
            on: {
              click: () => {
                view.shown += 200;
                drawList(runs);
              },
            },
          },
          `Show more: ${more.toLocaleString("en")} are left`,
        )
      : "",
  );
}
const narrowed = () => view.words.length || view.fate !== "" || view.ending !== "" || view.marks.size < 4;
function told(number) {
  if (view.cell === "")
    return narrowed()
      ? `${many(number, "run")} within the filters${number > 1 ? ", the gravest first" : ""}.`
      : number
        ? `${many(number, "run")} without a pass. Choose a cell to see its runs.`
        : "";
  const [step, fate] = view.cell.split("/").map(Number);
  return `${many(number, "run")} of ${book.fates[fate][0]} at ${book.steps[step]}${number > 1 ? ", the gravest first" : ""}.`;
}
function listing(place, number, plan) {
  const row = book.rows[place],
    run = `${place}/${number}`;
  return el(
    "tr",
    { "data-of": run, "aria-current": chosen && run === chosen.join("/") && "true" },
    el("td", {}, badge(book.marks[Number(row.mark[number])][0])),
    el(
      "td",
      {},
      el("button", { type: "button", "data-run": run }, faults(plan)),
      el("span", { class: "where" }, causes(plan)),
      (row.wrong[number] || []).slice(1, 3).map((says) => el("div", { class: "said" }, book.says[says])),
    ),
    el("td", { class: "wide" }, row.name),
    el("td", {}, book.endings[row.ending[number]] || row.wrong[number]?.[0] || ""),
  );
}
/** A plan as a person says it: fate and place, without the causes. */
function faults(plan) {
  if (plan === "none") return "no fault";
  return plan
    .split(",")
    .map((strike) => strike.replace(/^(.*?)@.*=(.*)$/, "$2 at $1"))
    .join(" and ");
}
const causes = (plan) =>
  plan === "none" || plan.includes(",") ? "" : plan.replace(/^.*?@(.*)=.*$/, "within $1");
