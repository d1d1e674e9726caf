"""``junit.xml``: a campaign as test results, for whatever shows those of other tests.

A row is a suite and a step of the fault matrix is a test in it: a test for each run would be tens of thousands, which
the tools that read such files take badly. A test has failed when a run of its step is a finding, and is in error when
one came to no verdict; its text names every such run, with its replay line. The properties of a suite count the runs.
There is no time and no host in it: the same campaign gives the same bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from reports.bench import AS_PROMISED, BROKEN, FINDING, MISSED, PASSED, UNACCEPTED
from reports.book import Book
from reports.campaign import Record
from sim.text import show

AS_WRITTEN = "as written"
"""The test of a row's run without another fault."""

STATUSES = (PASSED, UNACCEPTED, FINDING, MISSED, BROKEN)


def junit(book: Book) -> Iterator[str]:
    """The text of the file."""
    tally = book.tally
    root = Element("testsuites", name="turnproof")
    for row, records in groupby(book.records(), lambda record: record.row):
        root.append(_suite(row, book.designs[row], list(records)))
    if not tally.complete:
        root.append(_cut_short(tally.campaign.due - tally.done, tally.campaign.due))
    for count in ("tests", "failures", "errors"):
        root.set(count, str(sum(int(suite.get(count, "0")) for suite in root)))
    indent(root)
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield f"{tostring(root, encoding='unicode')}\n"


def _suite(row: str, design: str, records: list[Record]) -> Element:
    """One row: how many runs came to what, and a test for each step."""
    suite = Element("testsuite", name=show(row))
    statuses = Counter(record.status for record in records)
    counts = {"design": design, "runs": len(records), **{status: statuses[status] for status in STATUSES}}
    properties = SubElement(suite, "properties")
    for name, value in counts.items():
        SubElement(properties, "property", name=name, value=str(value))
    steps: dict[str, list[Record]] = {}
    for record in records:
        steps.setdefault(record.step or AS_WRITTEN, []).append(record)
    for step, runs in steps.items():
        suite.append(_test(row, step, runs))
    return _counted(suite)


def _test(row: str, step: str, records: list[Record]) -> Element:
    test = Element("testcase", classname=f"turnproof.{show(row)}", name=show(step))
    wrong = [record for record in records if record.status not in AS_PROMISED]
    if wrong:
        found = any(record.status == FINDING for record in wrong)
        statuses = Counter(record.status for record in wrong)
        what = ", ".join(f"{statuses[status]} {status}" for status in STATUSES if statuses[status])
        message = f"of {len(records)} runs: {what}. The first: {'; '.join(wrong[0].says)}"
        result = SubElement(test, "failure" if found else "error", message=message, type=wrong[0].status)
        result.text = "\n" + "\n".join(_told(record) for record in wrong) + "\n"
    return test


def _told(record: Record) -> str:
    return "\n".join((show(f"{record.status}: {record.where}"), *record.says, show(record.replay), ""))


def _cut_short(lacking: int, due: int) -> Element:
    """Runs that were not made are no passes: without this, half of a sweep would look green."""
    suite = Element("testsuite", name="turnproof")
    test = SubElement(suite, "testcase", classname="turnproof", name="every run was made")
    SubElement(test, "error", message=f"{lacking} of {due} runs were not made", type="incomplete")
    return _counted(suite)


def _counted(suite: Element) -> Element:
    suite.set("tests", str(len(suite.findall("testcase"))))
    suite.set("failures", str(len(suite.findall("testcase/failure"))))
    suite.set("errors", str(len(suite.findall("testcase/error"))))
    return suite
