// A trail read back, and what is worth drawing of it. reports/trail.py writes it.

const LEAD = 12; // moves that are drawn before a run parts from the one beside it
const ELSEWHERE =
  "This run is told beside its row's first run, which another shard holds: turnproof merge brings them together.";

/** A trail in full: its moves, each with its time, its question and what became of it. */
function follow(trails, number) {
  const trail = trails[number];
  if (!trail) return { moves: null, blast: null, none: "The bench kept no trail of this run." };
  const [blast, needs, pieces] = trail;
  const beside = needs ? unfold(trails[0]?.[1] === 0 ? trails[0][2] : [], []) : [];
  if (beside.length !== needs) return { moves: null, blast, none: ELSEWHERE };
  const moves = timed(unfold(pieces, beside));
  const struck = moves.find((move) => move.kind === "strike");
  return { moves, blast, struck, shared: needs ? common(pieces) : 0 };
}
/** With how many moves of the run beside it a run begins. */
const common = ([[place, length, more] = []]) =>
  place === 0 && Number.isInteger(length) && more === undefined ? length : 0;
/** The moves that stretches stand for: those of the run beside it, or its own so far. */
function unfold(pieces, beside) {
  const known = [...beside];
  for (const piece of pieces) {
    if (typeof piece[1] === "string") {
      known.push(piece);
      continue;
    }
    const [from, length] = piece.slice(-2);
    for (let at = from; at < from + length; at++) {
      known.push(at === from && piece.length === 3 ? [piece[0], ...known[at].slice(1)] : known[at]);
    }
  }
  return known.slice(beside.length);
}
function timed(raw) {
  const asks = [];
  let time = 0,
    healed = false;
  return raw.map(([after, kind, ...rest]) => {
    time += after;
    const move = { at: time, kind, healed };
    if (kind === "ask") {
      [move.who, move.to, move.label] = rest;
      asks.push(move);
    } else if (kind === "answer" || kind === "learn") {
      move.ask = asks[asks.length - 1 - rest[0]];
      [, move.mark, move.words] = rest;
      move.who = kind === "learn" ? move.ask.who : move.ask.to;
      if (kind === "learn") {
        move.ask.learned = move;
        move.ask.lost = !rest[3] && move.mark === "!!";
        move.ask.mark = move.mark;
      } else {
        move.ask.answered = move;
        move.ask.mark ??= move.mark;
      }
    } else if (kind === "strike") [move.who, move.fate, move.door, move.label, move.nth] = rest;
    else if (kind === "commit") [move.who, move.label, move.rows] = rest;
    else if (kind === "heals") healed = true;
    else if (kind === "stops") [move.words] = rest;
    else if (kind === "decline" || kind === "deed") [move.who, move.label, move.words] = rest;
    else if (kind === "begin" || kind === "end") [move.who, move.label] = rest;
    else [move.who, move.life] = rest;
    return move;
  });
}

const kindOf = (actor) => actor.split(":")[0];
const OWN = new Set(["journal", "publisher"]);
const processOf = (actor) =>
  ["harness", "journal", "publisher"].includes(kindOf(actor)) ? `owner:${actor.split(":")[1]}` : actor;

/** What an owner's journal and publisher run for others shows by what becomes durable; it is told when it goes wrong. */
function isErrand(move) {
  if (move.kind === "commit") return book.silent.includes(move.label) || !move.rows.length;
  const ask = move.kind === "ask" ? move : move.ask;
  if (!ask || (ask.mark ?? "!!") !== "==" || ask.to === "client") return false;
  return OWN.has(kindOf(ask.who)) || (OWN.has(kindOf(ask.to)) && kindOf(ask.who) === "harness");
}
/** What is not worth a line: scripts of an actor, a first life, and a refusal that is drawn where it was answered. */
const UNDRAWN = (move) =>
  move.kind === "begin" ||
  move.kind === "end" ||
  (move.kind === "boots" && move.life === 1) ||
  (move.kind === "learn" && move.mark === "--" && move.ask.answered?.mark === "--");

/** The moves that are drawn, each with the place up to which it stands for the trail, and how often it was made. */
function entries(run, errands, whole) {
  const drawn = [],
    from = whole ? 0 : Math.max(0, run.shared - LEAD);
  run.moves.forEach((move, place) => {
    if (place < from || UNDRAWN(move) || (!errands && isErrand(move))) {
      if (drawn.length) drawn.at(-1).upto = place;
      return;
    }
    drawn.push({ move, upto: place, times: 1 });
    foldLooks(drawn);
  });
  if (from)
    drawn.unshift({
      move: {
        kind: "fold",
        at: run.moves[from].at,
        words: `${many(from, "move")} before, as in the row without the fault`,
      },
      upto: from - 1,
      times: 1,
    });
  return drawn;
}
/** Looks that go on and on with the same answers are drawn once. */
function foldLooks(drawn) {
  for (const size of [2, 4]) {
    const again = drawn.slice(-size),
      before = drawn.slice(-2 * size, -size);
    if (
      before.length < size ||
      !again.every((entry, at) => isLook(entry.move) && sameLook(entry.move, before[at].move))
    )
      continue;
    drawn.splice(-size);
    before[0].times++;
    before.at(-1).upto = again.at(-1).upto;
  }
}
const isLook = (move) =>
  book.polls.includes((move.kind === "ask" ? move : move.ask)?.label) && (move.ask ?? move).mark === "==";
const sameLook = (one, other) =>
  one.kind === other.kind &&
  one.who === other.who &&
  one.label === other.label &&
  one.words === other.words &&
  one.to === other.to;

function sentence(entry, struck) {
  const move = entry.move,
    times = entry.times > 1 ? ` (${entry.times} times)` : "";
  return `${since(move, struck)} ${says(move)}${times}`;
}
function says(move) {
  switch (move.kind) {
    case "ask":
      return `${move.mark ?? "!!"} ${move.who} asks ${move.to}: ${move.label}${move.lost ? ", which never arrives" : ""}`;
    case "answer":
      return `${move.mark} ${move.who} answers ${move.ask.who}: ${move.words}, to ${move.ask.label}${move.ask.learned?.mark === "!!" ? ", which does not arrive in time" : ""}`;
    case "learn":
      return `${move.mark} ${move.who} is left with ${move.words}, for ${move.ask.label}`;
    case "commit":
      return `++ ${move.who} commits ${move.label}: ${tables(move)}`;
    case "decline":
      return `-- ${move.who} refuses to commit ${move.label}: ${move.words}`;
    case "deed":
      return `++ ${move.who} does ${move.label}${move.words ? `: ${move.words}` : ""}`;
    case "strike":
      return `!! ${move.fate} strikes ${move.door} ${move.label}#${move.nth} of ${move.who}`;
    case "dies":
      return `!! ${move.who} dies`;
    case "stands":
      return `!! ${move.who} stands still`;
    case "runs":
      return `== ${move.who} runs on`;
    case "boots":
      return `== ${move.who} comes up, life ${move.life}`;
    case "heals":
      return "== client heals the world: no fault strikes from here on";
    case "stops":
      return `!! the run is stopped: the ${move.words} is used up`;
    default:
      return move.words;
  }
}
const tables = (move) =>
  [...new Set(move.rows.map(([table, , state]) => (state === null ? `-${table}` : table)))].join(", ") ||
  "nothing";
