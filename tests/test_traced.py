"""What a campaign says of the sentences of a seed, and what the terminal says of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from mixed import LeakyHouse, swept

from reports.bench import House
from reports.book import Book
from reports.cli import cli
from reports.store import opened
from reports.tally import Tally
from reports.traced import NOT_RUN, NOT_SELECTED
from scenarios.trace import MATRICES
from scenarios.trace.sentence import MISSING, Matrix, Omission, Section, Sentence, Witness, carried, missing

NUMBERS = MATRICES["003"].numbers


class Traced(House):
    """The real bench, with a few sentences."""

    def traced(self) -> tuple[Matrix, ...]:
        return (MATRIX,)


class LeakyTraced(LeakyHouse):
    """A bench whose Workspaces are taken twice, with a few sentences."""

    def traced(self) -> tuple[Matrix, ...]:
        return (MATRIX,)


MATRIX = Matrix(
    "9",
    "A seed",
    (
        Section(
            "One",
            (
                carried("9.1", "A.", Omission("ClaimWorkspace", "one-call", "order")),
                carried(
                    "9.2", "B.", Witness("lease.is_held", "never", "rc-13-acquire", "lease-has-one-holder")
                ),
                carried("9.3", "C.", Witness("lease.is_held", "never", "rc-13-acquire", "order")),
                carried(
                    "9.4",
                    "D.",
                    Omission("ClaimWorkspace", "one-call", "order"),
                    Witness("a.b", "never", "one-call", "promise", "harness:a:call:Acquire#1=reply-lost"),
                ),
                carried("9.5", "E.", Omission("ClaimWorkspace", "two-calls", "order")),
                missing("9.6", "F.", "theme: a row"),
            ),
        ),
    ),
)


def told(folder: Path) -> Tally:
    with opened(folder) as store:
        return Book(store).tally


def results(folder: Path) -> dict[str, str]:
    traced = told(folder).traced
    return {
        sentence.number: traced.of_sentence(sentence)
        for matrix in traced.matrices
        for sentence in matrix.sentences()
    }


def test_a_sentence_passes_when_its_check_finds_nothing_in_its_row(tmp_path: Path):
    swept(Traced(), tmp_path, "one-call", "rc-13-acquire", "Acquire")

    assert results(tmp_path) == {
        "9.1": "passed",
        "9.2": "passed",
        "9.3": "passed",
        "9.4": "passed",
        "9.5": NOT_SELECTED,
        "9.6": MISSING,
    }
    assert "Sentences of 9 that rows of this campaign carry: 4 of 6: 4 passed." in summary(tmp_path)


def test_only_a_finding_of_its_own_check_is_one_of_a_sentence(tmp_path: Path):
    swept(LeakyTraced(), tmp_path, "one-call", "rc-13-acquire", "Acquire")
    found = results(tmp_path)

    assert (found["9.2"], found["9.3"]) == ("finding", "passed")
    assert told(tmp_path).rows["rc-13-acquire"]["--"] == 1
    assert "1 finding: 9.2." in summary(tmp_path)


def test_a_carrier_whose_fault_was_not_struck_has_not_run(tmp_path: Path):
    swept(Traced(), tmp_path, "one-call", "-k", "0")

    assert results(tmp_path)["9.1"] == "passed"
    assert results(tmp_path)["9.4"] == NOT_RUN
    assert "1 not run: 9.4." in summary(tmp_path)


def test_a_campaign_keeps_the_sentences_with_which_it_was_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    swept(Traced(), tmp_path, "one-call", "-k", "0")
    before = (tmp_path / "index.html").read_bytes()
    result = CliRunner().invoke(cli, ["report", "--out", str(tmp_path)], obj=House())

    assert result.exit_code == 0
    assert (tmp_path / "index.html").read_bytes() == before
    assert "Sentences of 9" in summary(tmp_path)


def test_a_campaign_of_rows_that_carry_nothing_says_nothing_of_sentences(tmp_path: Path):
    swept(Traced(), tmp_path, "text-only", "-k", "0")

    assert "Sentences of" not in summary(tmp_path)


def summary(folder: Path) -> str:
    return (folder / "summary.md").read_text("utf-8").replace("\\", "")


# --- the terminal


def explained(name: str) -> str:
    result = CliRunner().invoke(cli, ["explain", name], obj=House())
    assert result.exit_code == 0, result.output
    return result.stdout


def test_a_seed_is_explained_sentence_by_sentence_in_the_width_of_the_terminal(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv("COLUMNS", "60")
    lines = explained("003").splitlines()

    assert [line.split()[0] for line in lines if line.startswith("003.")] == list(NUMBERS)
    assert max(map(len, lines)) <= 62, "but for a label that fits no line"
    for section in MATRICES["003"].sections:
        assert section.title in lines


def test_a_sentence_is_explained_with_the_lines_that_play_its_rows():
    text = explained("003.13")

    told = " ".join(text.split())
    assert NUMBERS["003.13"].text in told
    assert (
        "row rc-15-intent turns red by blocked-stays-blocked: settlement.unresolved broken: nothing" in told
    )
    lines = [line for line in text.splitlines() if "turnproof replay " in line]
    assert len(lines) == 2
    for line in lines:
        replayed = CliRunner().invoke(cli, ["replay", line.partition("turnproof replay ")[2].strip("'")])
        assert replayed.exit_code == 0, replayed.output


def first(state: str) -> Sentence:
    return next(sentence for sentence in NUMBERS.values() if sentence.state == state)


@pytest.mark.parametrize("state", ["not simulable", "later"])
def test_a_sentence_that_nothing_carries_says_why(state: str):
    sentence = first(state)

    assert sentence.aside is not None
    assert " ".join(explained(sentence.number).split()).endswith(f"{sentence.aside}")


@pytest.mark.parametrize("name", ["one-call", "capture.delivery", "order"])
def test_a_row_a_rule_and_a_check_name_the_sentences_that_they_carry(name: str):
    text = explained(name)
    carries = text.partition("Carries ")[2].partition(".\n")[0].replace("\n", " ")
    named = [number.strip() for number in carries.split(",")]

    assert named == [
        sentence.number
        for matrix in MATRICES.values()
        for sentence in matrix.sentences()
        if any(
            name in (carrier.row, carrier.check, carrier.rule if isinstance(carrier, Witness) else "")
            for carrier in sentence.carriers
        )
    ]
    assert named


def test_an_unknown_sentence_is_a_usage_error_that_names_the_nearest():
    result = CliRunner().invoke(cli, ["explain", "003.9999"], obj=House())

    assert result.exit_code == 2
    assert "is no row" in result.output
    assert "003.99" in result.output
