"""``junit.xml``, read back as those read it who show it."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree.ElementTree import fromstring

import pytest
from junitparser import Error, Failure, JUnitXml
from mixed import HOSTILE, MixedBench, swept
from test_cli import FakeBench

from reports.bench import AS_PROMISED
from reports.book import Book
from reports.campaign import Record
from reports.junit import STATUSES, junit
from reports.store import opened
from sim.text import show


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("junit")
    swept(MixedBench(), folder)
    return folder


@pytest.fixture(scope="module")
def records(folder: Path) -> list[Record]:
    with opened(folder) as store:
        return list(store.records())


def read(folder: Path) -> Any:
    return JUnitXml.fromfile(str(folder / "junit.xml"))


def test_every_row_is_a_suite_and_every_step_a_test(folder: Path, records: list[Record]) -> None:
    suites = {suite.name: [test.name for test in suite] for suite in read(folder)}

    assert list(suites) == ["base", "leaky", show(HOSTILE)]
    for row in ("base", "leaky", HOSTILE):
        steps = dict.fromkeys(record.step or "as written" for record in records if record.row == row)
        assert suites[show(row)] == list(steps)


def test_the_totals_are_those_of_the_campaign(folder: Path) -> None:
    with opened(folder) as store:
        tally = Book(store).tally
    read_back = read(folder)

    counted = dict.fromkeys(STATUSES, 0)
    for suite in read_back:
        told = {each.name: each.value for each in suite.properties()}
        assert int(told["runs"]) == sum(int(told[status]) for status in STATUSES)
        for status in STATUSES:
            counted[status] += int(told[status])
    assert counted == {status: tally.statuses[status] for status in STATUSES}
    assert all(counted.values())


def test_the_counts_that_a_tool_computes_are_those_that_are_written(folder: Path) -> None:
    read_back = read(folder)
    written = (read_back.tests, read_back.failures, read_back.errors)
    read_back.update_statistics()

    assert (read_back.tests, read_back.failures, read_back.errors) == written
    assert min(written) > 0


def test_a_test_fails_when_a_run_of_its_step_does_and_names_each_with_its_replay_line(
    folder: Path, records: list[Record]
) -> None:
    for suite in read(folder):
        for test in suite:
            here = [
                record
                for record in records
                if show(record.row) == suite.name and (record.step or "as written") == test.name
            ]
            wrong = [record for record in here if record.status not in AS_PROMISED]
            kinds = {record.status for record in wrong}
            expected = [Failure] if "finding" in kinds else [Error] if kinds else []
            assert [type(result) for result in test.result] == expected
            text = test.result[0].text if wrong else ""
            assert text.count("turnproof replay") == len(wrong)
            assert all(show(record.replay) in text for record in wrong)
            assert all(sentence in text for record in wrong for sentence in record.says)


def test_it_is_xml_whatever_stands_in_it_and_escapes_are_shown(folder: Path) -> None:
    text = (folder / "junit.xml").read_text("utf-8")

    root = fromstring(text)
    assert root.tag == "testsuites"
    assert "evil|`row`&lt;/b&gt;&amp;\\ud800\\u0000\\u000a]]&gt;" in text
    assert "held by nobody" in text
    assert not set(map(chr, (*range(9), *range(11, 32), 127, 0xFFFE, 0xFFFF))) & set(text)


def test_it_tells_no_time_and_no_host(folder: Path) -> None:
    text = (folder / "junit.xml").read_text("utf-8")

    assert not any(f" {word}=" in text for word in ("time", "timestamp", "hostname"))
    with opened(folder) as store:
        assert "".join(junit(Book(store))) == text


def test_a_clean_campaign_has_neither_failures_nor_errors(tmp_path: Path) -> None:
    swept(FakeBench(), tmp_path, "base")

    assert (read(tmp_path).failures, read(tmp_path).errors) == (0, 0)


def test_runs_that_were_not_made_are_an_error(tmp_path: Path) -> None:
    swept(FakeBench(), tmp_path, "base", "leaky")
    with opened(tmp_path) as store:
        made = list(store.records())
        book = Book(store)
        book.tally.done -= 3
        text = "".join(junit(book))
    read_back = JUnitXml.fromstring(text)
    last = list(read_back)[-1]

    assert [test.name for test in last] == ["every run was made"]
    assert f"3 of {len(made)} runs were not made" in text
    assert read_back.errors == 1
