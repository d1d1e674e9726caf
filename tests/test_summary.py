"""``summary.md``: what reviewers paste, whole enough to be believed and short enough for a comment."""

from __future__ import annotations

import re
from functools import cache
from html import unescape
from pathlib import Path

import pytest
from click.testing import CliRunner
from mixed import HOSTILE, LeakyHouse, MixedBench, swept
from msgspec.structs import replace
from test_cli import FakeBench

from faults.fates import VOCABULARY
from faults.plans import read
from faults.sweeps import EVERYTHING
from reports import markdown as md
from reports.bench import FINDING, PASSED, House
from reports.campaign import MEANING, Record
from reports.cli import cli
from reports.evidence import Evidence, Firsts, Ledger, Scene, evidence
from reports.files import WRITERS
from reports.mermaid import text
from reports.outline import Counted, Outline, Title
from reports.store import opened
from reports.summary import LIMIT, markdown
from reports.tally import Tally
from sim.text import show

TURN = "client.boot#1/play#1/Prompt#1/admit#1/take_turn#1"


@pytest.fixture(scope="module")
def leaky(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Real findings: a Session takes a Workspace that another one holds."""
    folder = tmp_path_factory.mktemp("leaky")
    swept(LeakyHouse(), folder, "one-call", "Acquire", "StartExecution", "Release")
    return folder


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mixed")
    swept(MixedBench(), folder)
    return folder


def summary(folder: Path) -> str:
    return (folder / "summary.md").read_text("utf-8")


def part(text: str, head: str) -> list[str]:
    """The lines under a head."""
    return text.partition(f"\n## {head}\n")[2].partition("\n## ")[0].strip("\n").splitlines()


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


# --- what is told


def test_it_is_told_in_the_order_in_which_reviewers_paste(leaky: Path) -> None:
    heads = re.findall(r"^## (.*)$", summary(leaky), re.MULTILINE)

    assert heads == [
        "Rows",
        "Fault matrix: call",
        "Findings",
        "Ledger",
        "Timeline of F1",
        "Diagram of F1",
        "Endings of the runs that passed",
        "Last steps",
        "Not exercised",
        "Not covered",
    ]


def test_the_first_line_is_the_verdict_with_how_the_count_was_made(leaky: Path) -> None:
    with opened(leaky) as store:
        records = list(store.records())
        design = store.outline.rows[0].design
    findings = sum(record.status == FINDING for record in records)
    first = summary(leaky).splitlines()[0]

    assert first.startswith(
        f"**findings** · {len(records)} runs = 1 row as written + {len(records) - 1} single faults at 3 points: "
        f"{len(records) - findings} passed, {findings} findings · design {design} · turnproof "
    )
    assert 0 < findings < len(records)


def test_every_row_has_its_status(mixed: Path) -> None:
    rows = [cells(line) for line in part(summary(mixed), "Rows")[2:]]

    assert [row[:2] for row in rows] == [
        ["base", "clean"],
        ["leaky", "findings"],
        [md.text(HOSTILE).replace("|", "&#124;"), "findings and no verdict"],
    ]
    with opened(mixed) as store:
        assert sum(int(row[2]) for row in rows) == store.done
    assert all(int(row[2]) == sum(map(int, row[3:])) for row in rows)


def test_the_matrix_shows_the_gravest_run_of_each_cell_in_both_forms(leaky: Path) -> None:
    lines = part(summary(leaky), "Fault matrix: call")
    head = cells(lines[2])
    acquire = dict(zip(head, cells(lines[4]), strict=True))
    with opened(leaky) as store:
        marks = {
            record.fate: record.mark for record in store.records() if record.step == "harness call Acquire"
        }

    assert acquire["step"] == "harness call Acquire"
    for fate in head[1:]:
        forms = [marks[form] for form in (fate, f"{fate}!") if form in marks]
        assert acquire[fate] == " / ".join(f"`{mark}`" for mark in dict.fromkeys(forms))
    assert len(set(marks.values()) & set(MEANING)) > 2


def test_each_finding_has_its_sentences_or_the_number_of_one_that_says_the_same(leaky: Path) -> None:
    lines = part(summary(leaky), "Findings")
    with opened(leaky) as store:
        wrong = [record for record in store.records() if record.status != PASSED]

    assert lines[0] == f"- `--` **F1 finding** one-call: {wrong[0].where}"
    assert lines[1:4] == [*(f"  - {sentence}" for sentence in wrong[0].says), f"  - `{wrong[0].replay}`"]
    assert wrong[1].says == wrong[0].says
    assert lines[4:6] == [
        f"- `--` **F2 finding** one-call: {wrong[1].where}; says what F1 says",
        f"  - `{wrong[1].replay}`",
    ]


def test_the_ledger_tells_state_owner_and_last_commit_of_the_first_findings(leaky: Path) -> None:
    history = LeakyHouse().play("one-call", read(f"harness:a:call:Release#1@{TURN}=request-lost"))
    found = evidence(history, (), scenic=False)
    assert [(row.state, row.status, row.receipt, row.dispatches, row.spawns) for row in found.ledger] == [
        ("settled", "success", "committed", 1, 1)
    ]
    assert found.leases == (("w", "a"),)
    assert found.durable == "Assistant by store at -1 ms"

    rows = [cells(line) for line in part(summary(leaky), "Ledger") if line.startswith("| F")]
    assert rows[0][:2] == ["F1, F2, F3, F4 and 6 more", "none"]
    assert rows[0][-2:] == ["w held by a", "Ready by broker at +5 ms"]
    assert len({tuple(row[1:]) for row in rows}) == len(rows) > 3


def test_the_timeline_counts_from_the_strike(leaky: Path) -> None:
    lines = part(summary(leaky), "Timeline of F1")
    strike = next(line for line in lines if " strikes " in line)

    assert strike.split()[:2] == ["+0", "!!"]
    assert any(re.match(r" +-\d+ == ", line) for line in lines)
    assert any("acquire" in line and "commit ClaimWorkspace" in line for line in lines)
    assert any("probe-w: TurnEnded completed" in line for line in lines), "what was wrong is in it"
    assert max(map(len, lines)) <= 110


def test_a_finding_without_a_strike_has_its_scene_too() -> None:
    history = House().play("one-call", read("none"))
    scene = evidence(history, (), scenic=True).scene

    assert scene is not None
    assert any("left out" in line for line in scene.lines)
    assert "TurnEnded completed" in "\n".join(scene.lines)
    assert scene.diagram[0] == "sequenceDiagram"


def test_only_the_first_finding_of_a_chunk_keeps_its_scene(leaky: Path) -> None:
    with opened(leaky) as store:
        scenes = [
            (number // store.outline.chunk, record.evidence.scene is not None)
            for number, record in enumerate(store.records())
            if record.evidence is not None
        ]

    assert scenes[0] == (0, True)
    assert sum(has for _, has in scenes) == len({chunk for chunk, _ in scenes})


def test_the_first_of_a_chunk_stays_the_first_when_the_chunk_is_run_again() -> None:
    firsts = Firsts()
    asked = [("a", 3), ("a", 5), ("a", 3), ("a", 2), ("b", 9), ("b", 10)]

    assert [firsts.is_first(*each) for each in asked] == [True, False, True, True, True, False]


def test_a_clean_summary_has_neither_ledger_nor_scene(tmp_path: Path) -> None:
    swept(FakeBench(), tmp_path, "base")
    text = summary(tmp_path)

    assert part(text, "Findings") == ["None."]
    assert "## Ledger" not in text
    assert "## Timeline" not in text


def test_the_files_are_the_same_bytes_whatever_the_number_of_processes(tmp_path: Path) -> None:
    outs: list[list[bytes]] = []
    for jobs in ("1", "3"):
        out = tmp_path / jobs
        words = [
            "sweep",
            "Acquire",
            "reply-lost",
            "crash-*",
            "one-call",
            "two-calls",
            "--out",
            str(out),
            "-j",
            jobs,
        ]
        assert CliRunner().invoke(cli, words, obj=LeakyHouse()).exit_code == 1
        outs.append([(out / name).read_bytes() for name in WRITERS])

    assert outs[0] == outs[1]


# --- the diagram


STATEMENT = re.compile(
    r"  (?:participant p\d+ as (?P<name>.+)|Note over p\d+(?:,p\d+)?: (?P<note>.+)"
    r"|p\d+(?:->>|-->>|-x|--x)p\d+: (?P<words>.+))"
)


def test_the_diagram_shows_the_strike_what_was_lost_and_what_is_left_out(leaky: Path) -> None:
    first, *lines = part(summary(leaky), "Diagram of F1")[1:-1]

    assert first == "sequenceDiagram"
    assert all(STATEMENT.fullmatch(line) for line in lines)
    names = {line.split()[1]: line.split()[3] for line in lines if line.startswith("  participant")}
    assert list(names.values()) == ["client", "harness:a", "model", "broker", "store", "worker:w"]
    harness, broker, client = (
        next(p for p in names if names[p] == who) for who in ("harness:a", "broker", "client")
    )
    strike = lines.index(f"  Note over {harness}: !! reply-lost strikes call Acquire#35;1")
    rest = lines[strike + 1 :]
    assert rest[0] == f"  {harness}->>{broker}: Acquire"
    assert f"  {broker}--x{harness}: Lease" in rest
    assert f"  Note over {harness}: !! Acquire: doubt (timeout)" in rest
    assert f"  {harness}-->>{client}: TurnEnded recovery-blocked" in rest
    assert re.fullmatch(r"  Note over p1,p6: left out: \d+ before.*", lines[-1])


def test_a_request_that_never_arrives_is_drawn_so(leaky: Path) -> None:
    history = House().play("one-call", read(f"harness:a:call:Acquire#1@{TURN}=request-lost"))
    scene = evidence(history, (), scenic=True).scene

    assert scene is not None
    assert any(re.fullmatch(r"  p\d+-xp\d+: Acquire", line) for line in scene.diagram)


@pytest.mark.parametrize(
    "words",
    [
        "end",
        "the END; alert('x')",
        "%% comment",
        "a#b;c&amp;<b>x</b>",
        "wrap: on",
        "$$x$$",
        "half \ud800",
        "`code` **b**",
        "line\nbreak",
        "{a}|[b]",
        '"q" -->> p1: x',
        "日本語 é",
    ],
)
def test_mermaid_is_given_nothing_to_read_but_text(words: str) -> None:
    coded = text(words)

    assert re.fullmatch(r"(?:[\w .,:+=!?()/-]|#\d+;)+", coded)
    assert not re.search(r"\b(?:end|wrap)\b", coded, re.IGNORECASE)
    assert re.sub(r"#(\d+);", lambda found: chr(int(found[1])), coded) == show(words)


def test_a_long_text_is_cut_before_it_is_coded() -> None:
    assert re.fullmatch(r"(?:#59;){69}\.\.\.", text(";" * 1_000))


# --- text in Markdown


def test_text_stays_text_in_markdown() -> None:
    words = "a|b `c` <img src=x> **d** [e](f) &amp; \\ \ud800"

    assert not set("|`<>*[]\\") & set(md.text(words))
    assert unescape(md.text(words)) == show(words)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("plain", "`plain`"),
        ("a`b", "``a`b``"),
        ("`", "`` ` ``"),
        ("``a", "``` ``a ```"),
        ("a\nb", "`a\\u000ab`"),
    ],
)
def test_code_is_fenced_by_more_backticks_than_are_in_it(words: str, expected: str) -> None:
    assert md.code(words) == expected


def test_a_block_is_ended_by_nothing_in_it() -> None:
    assert md.fenced("text", ["a", "```", "b"]) == ["````text", "a", "```", "b", "````"]


def test_no_ill_formed_name_reaches_the_file_as_it_is(mixed: Path) -> None:
    text = summary(mixed)

    assert "</b>" not in text.replace(f"{show(HOSTILE)}", "")
    assert "\\ud800" in unescape(text)
    assert not set(map(chr, (*range(10), *range(11, 32)))) & set(text)


# --- bounds


def told(number: int) -> Record:
    """A run that did not pass, with far too much to say."""
    sentence = f"{number} " + "`<|&" * 400
    scene = Scene(tuple(["y" * 300] * 500), ("sequenceDiagram", *["z" * 300] * 500))
    rows = tuple(Ledger("e" * 50, 1, "settled", "success", "committed", 1, 1) for _ in range(20))
    found = Evidence(rows, tuple((f"w{place}", "holder") for place in range(50)), "commit " * 90, scene)
    where, replay = "reply-lost at " + "step " * 90, "turnproof replay " + "x" * 800
    return Record(
        "r" * 400,
        "step",
        "reply-lost",
        where,
        FINDING,
        "--",
        "blocked",
        "{}",
        (sentence,) * 9,
        replay,
        evidence=found,
    )


@cache
def overfull() -> Tally:
    """A campaign with more of everything than anybody has seen."""
    names = [f"row-{number}-" + "|" * 90 for number in range(3_000)]
    selection = replace(EVERYTHING, rows=tuple(names[:2_000]))
    rows = tuple(
        Counted(name, f"{place % 500:012x}", 40, 3, 1, "0" * 12) for place, name in enumerate(selection.rows)
    )
    titles = tuple(Title(name, "theme", (), "why", "cites", True) for name in names)
    outline = Outline(
        "v" * 50, "c" * 12, selection, 1, rows, titles, {f"rule.{n}" + "x" * 60: "bool" for n in range(900)}
    )
    tally = Tally(outline)
    for number in range(1_500):
        tally.add(told(number))
    for place, name in enumerate(names[:2_000]):
        tally.rows[name][list(MEANING)[place % 4]] += 40
        tally.endings[f"ending {place} " + "<" * 300] += 1
    for door in ("call", "commit", "act"):
        for place in range(300):
            for fate in VOCABULARY:
                tally.cells[f"harness {door} Step{place}", fate][list(MEANING)[place % 4]] += 1
                tally.cells[f"harness {door} Step{place}", f"{fate}!"]["=="] += 1
    return tally


def test_no_campaign_is_too_big_for_a_comment_and_what_is_left_out_is_said() -> None:
    tally = overfull()
    text = markdown(tally)

    assert 20_000 < len(text) < LIMIT
    assert re.search(r"- and 1,\d{3} more, each with its replay line, in `runs.jsonl`", text)
    left = re.findall(
        r"^([\d,]+) more are left out here; `runs.jsonl` holds every run\.$", text, re.MULTILINE
    )
    assert len(left) >= 6, "rows, matrices, ledger, endings"
    assert re.search(r"Rows that were not selected: row-2000-.* and \d+ more\.", unescape(text))
    rows = part(text, "Rows")
    shown = sum(line.startswith("| r") and not line.startswith("| row |") for line in rows)
    assert shown + sum(
        int(number.replace(",", "")) for number in re.findall(r"^([\d,]+) more", "\n".join(rows), re.M)
    ) == len(tally.rows)


def test_every_fold_and_every_block_is_closed() -> None:
    text = markdown(overfull())

    assert text.count("<details>") == text.count("</details>") > 0
    assert len(re.findall(r"^```", text, re.MULTILINE)) % 2 == 0


# --- the summary of a job on GitHub


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "job.md"
    path.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(path))
    return path


def test_a_job_on_github_is_told(tmp_path: Path, job: Path) -> None:
    swept(FakeBench(), tmp_path / "out")

    assert job.read_text() == f"before\n{summary(tmp_path / 'out')}"


def test_a_job_that_cannot_be_told_is_warned_and_the_exit_code_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path))
    for row, code in (("base", 0), ("leaky", 1)):
        result = CliRunner().invoke(cli, ["sweep", row, "--out", str(tmp_path / "out")], obj=FakeBench())
        assert result.exit_code == code
        assert "the summary is not in $GITHUB_STEP_SUMMARY: " in result.stderr
        assert (tmp_path / "out" / "summary.md").exists()
