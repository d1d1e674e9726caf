"""``index.html`` in a real browser, as those see it who read, click, type, print and listen.

Every test fails on any error in the console, and on any request for anything but the page.
"""

from __future__ import annotations

import os
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mixed import HOSTILE, LeakyHouse, MixedBench, swept
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright
from test_cli import FakeBench, FakeRow

from reports.bench import FINDING, PASSED, House, Judged
from reports.book import Book
from reports.campaign import Record
from reports.page import EXITS, page
from reports.page.parcels import GRAVEST
from reports.store import opened
from reports.summary import not_covered
from reports.tally import Tally
from sim.checks import Finding
from sim.history import History
from sim.points import Plan
from sim.text import show

CHROMIUM = shutil.which("chromium")
SWITCHES = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
WIDE, PHONE = {"width": 1600, "height": 1000}, {"width": 390, "height": 844}
SCRIPT = '</script><img src=x onerror="window.bitten=1"><!-- {{ 7 * 7 }} \ud800\u202e'
"""Text that would like to be more than text."""


class Planted(FakeBench):
    """A row whose every text bites, with a finding under each of its faults; and one that fails as it is written."""

    def rows(self) -> dict[str, FakeRow]:
        return {
            SCRIPT: FakeRow(SCRIPT, (SCRIPT,), SCRIPT, cites=SCRIPT),
            "ill": FakeRow("ill", (), "it fails by itself"),
        }

    def judge(self, row: str, plan: Plan, history: History) -> Judged:
        if row == "ill" and any(strike.fate.name == "duplicated" for strike in plan.strikes):
            return Judged(PASSED, "s completed", (), "0")
        return Judged(FINDING, SCRIPT, (Finding("check", 9, SCRIPT),), "0")


# --- sweeps, and a browser


@pytest.fixture(scope="module")
def leaky(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Real runs and real findings: a Session takes a Workspace that another one holds."""
    folder = tmp_path_factory.mktemp("leaky")
    swept(LeakyHouse(), folder, "one-call", "rc-13-release", "Acquire", "StartExecution", "Release")
    return folder


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mixed")
    swept(MixedBench(), folder)
    return folder


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("planted")
    swept(Planted(), folder)
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        missing = "no chromium is installed, and the page is tested in a real browser"
        if os.environ.get("CI") == "true":
            pytest.fail(missing)
        pytest.skip(missing)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=SWITCHES)
        yield browser
        browser.close()


class Reader:
    """Somebody with a browser and no network. ``heard`` is what the browser complained of, or asked for."""

    def __init__(self, browser: Browser, folder: Path, **more: Any) -> None:
        self.heard: list[str] = []
        context: dict[str, Any] = {"viewport": WIDE, "offline": True, **more}
        self.context = browser.new_context(**context)
        self.page: Page = self.context.new_page()
        self.page.set_default_timeout(20_000)
        self.page.on("console", lambda message: self.heard.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.heard.append(str(error)))
        url = (folder / "index.html").resolve().as_uri()
        self.page.on("request", lambda request: self._asked(request.url, url))
        self.page.goto(url)
        if more.get("java_script_enabled", True):
            self.page.wait_for_selector("html[data-ready]")

    def _asked(self, url: str, page: str) -> None:
        if url.partition("#")[0] != page and not url.startswith("data:"):
            self.heard.append(f"request for {url}")

    def row(self, name: str) -> None:
        self.page.locator(".rows button", has=self.page.get_by_text(name, exact=True)).click()

    def cell(self, step: str, fate: str) -> Locator:
        sticky = ", at every attempt" if fate.endswith("!") else ""
        name = re.compile(re.escape(f"{step}, {fate.removesuffix('!')}{sticky}: "))
        return self.page.locator(".cell").and_(self.page.get_by_label(name))

    def run(self, step: str, fate: str) -> None:
        """Choose the first run of a cell."""
        self.cell(step, fate).click()
        self.page.locator("#runs [data-run]").first.click()
        self.page.wait_for_selector(".diagram, #drawing .empty")

    def fact(self, name: str, card: int = 0) -> str:
        within = self.page.locator(".fact-card").nth(card)
        return within.locator("dt", has_text=name).locator("xpath=following-sibling::dd[1]").inner_text()

    def now(self) -> str:
        return self.page.locator(".said-now").inner_text().partition(": ")[2]

    def disk(self) -> dict[str, dict[str, str]]:
        """The tables of the walk, with their rows."""
        read = """boxes => Object.fromEntries(boxes.map(body => [
            body.querySelector(".table th").firstChild.textContent,
            Object.fromEntries([...body.querySelectorAll("tr:not(.table):not(.gone)")].map(
                row => [row.cells[0].textContent, row.cells[1].textContent]))]))"""
        tables: dict[str, dict[str, str]] = self.page.locator("[data-disk] tbody").evaluate_all(read)
        return tables

    def overflow(self) -> int:
        """By how many pixels the page is wider than the window."""
        width: int = self.page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        return width


@pytest.fixture
def read(browser: Browser) -> Iterator[Any]:
    readers: list[Reader] = []

    def open_it(folder: Path, **more: Any) -> Reader:
        readers.append(Reader(browser, folder, **more))
        return readers[-1]

    yield open_it
    for reader in readers:
        reader.context.close()
        assert reader.heard == []


def records(folder: Path) -> list[Record]:
    with opened(folder) as store:
        return list(store.records())


def tallied(folder: Path) -> Tally:
    with opened(folder) as store:
        return Book(store).tally


# --- the file


def test_the_same_campaign_gives_the_same_bytes(mixed: Path) -> None:
    with opened(mixed) as store:
        again = "".join(page(Book(store)))
    assert again == (mixed / "index.html").read_text("utf-8")


def test_the_page_asks_for_nothing_and_is_told_so(mixed: Path) -> None:
    text = (mixed / "index.html").read_text("utf-8")
    assert "default-src 'none'" in text
    assert not re.findall(r"""(?:src|href|action)\s*=\s*["'](?!#|data:)|@import|url\(""", text)


def test_a_run_takes_less_than_200_bytes(tmp_path: Path) -> None:
    """So that 10,000 runs stay below 2 MB, with all that the page says besides."""
    swept(House(), tmp_path, "text-only", "crash-*", "reply-*")
    few = tmp_path / "few"
    swept(House(), few, "text-only", "Infer", "crash-after")
    size, least = ((folder / "index.html").stat().st_size for folder in (tmp_path, few))
    more = len(records(tmp_path)) - len(records(few))
    assert more > 100
    assert (size - least) / more < 200


# --- what stands there at once


def test_the_head_says_how_it_ended_and_how_the_count_was_made(read: Any, leaky: Path) -> None:
    reader, tally = read(leaky), tallied(leaky)
    head = reader.page.locator("header.top").inner_text()
    for part in (tally.came_to, tally.made, f"exit code 1: {EXITS[1]}"):
        assert part in head
    assert reader.page.locator("h1 .verdict").inner_text().lower() == tally.verdict
    for design in {row.design for row in tally.campaign.rows}:
        assert design in head


def test_coverage_and_what_is_not_covered(read: Any, leaky: Path) -> None:
    reader, tally = read(leaky), tallied(leaky)
    for sentence in tally.sometimes.never():
        expect(reader.page.locator("section", has=reader.page.locator("#coverage-title"))).to_contain_text(
            sentence
        )
    told = reader.page.locator("section", has=reader.page.locator("#not-covered-title"))
    for sentence in not_covered(tally):
        expect(told).to_contain_text(sentence)
    for blind in ("SQL dialects", "real model providers", "real object stores", "capture across processes"):
        assert blind in told.inner_text()


def test_without_scripts_the_tables_stand_and_the_reader_is_told_why_the_rest_is_missing(
    read: Any, leaky: Path
) -> None:
    reader = read(leaky, java_script_enabled=False)
    assert "need JavaScript" in reader.page.locator("noscript").inner_text()
    assert "reply-lost" in reader.page.locator("main").inner_text()


# --- the sentences of a seed


def test_every_sentence_stands_with_its_rows_and_what_they_came_to(read: Any, leaky: Path) -> None:
    reader, traced = read(leaky, java_script_enabled=False), tallied(leaky).traced
    lines = reader.page.locator(".traced tbody tr").all_inner_texts()
    sentences = [sentence for matrix in traced.matrices for sentence in matrix.sentences()]
    assert len(lines) == len(sentences) > 100
    for line, sentence in zip(lines, sentences, strict=True):
        for told in (sentence.number, sentence.text, traced.of_sentence(sentence)):
            assert told in line
        for carrier in sentence.carriers:
            assert f"by {carrier.check}: {carrier.planted}" in line
    assert {"passed", "not selected"} <= {traced.of_sentence(sentence) for sentence in sentences}


def test_sentences_are_filtered_by_words_and_result(read: Any, leaky: Path) -> None:
    reader, traced = read(leaky), tallied(leaky).traced
    matrix = traced.matrices[-1]
    found = [
        sentence.number
        for sentence in matrix.sentences()
        if traced.of_sentence(sentence) == "not selected" and "publisher" in sentence.text.lower()
    ]
    seed = reader.page.locator(".seed").last
    seed.get_by_label("Result").select_option("not selected")
    seed.get_by_label("Search").fill("publisher")
    shown = seed.locator(".traced tbody tr:visible")
    assert set(found) <= set(shown.locator("th").all_inner_texts())
    for line in shown.all_inner_texts():
        assert "publisher" in line.lower()
        assert "not selected" in line
    seed.get_by_label("Search").fill("nobody ever wrote this")
    expect(seed.locator(".empty")).to_be_visible()
    assert shown.count() == 0
    seed.get_by_role("button", name="Reset").click()
    expect(seed.locator(".empty")).to_be_hidden()
    assert shown.count() == len(list(matrix.sentences()))


def test_the_row_of_a_sentence_leads_into_the_matrix(read: Any, leaky: Path) -> None:
    reader = read(leaky)
    reader.page.locator(".carrier a", has_text="one-call").first.click()
    expect(reader.page.locator(".rows [aria-current=true] b")).to_have_text("one-call")
    assert reader.page.url.endswith("#matrix-title")


# --- the matrix


@pytest.mark.parametrize("row", [None, "leaky", show(HOSTILE)])
def test_every_cell_shows_its_gravest_mark_and_its_number_of_runs(
    read: Any, mixed: Path, row: str | None
) -> None:
    reader = read(mixed)
    if row:
        reader.row(row)
    counted: dict[tuple[str, str], Counter[str]] = {}
    for record in records(mixed):
        if record.step and row in (None, show(record.row)):
            counted.setdefault((record.step, record.fate), Counter())[record.mark] += 1
    assert reader.page.locator(".cell").count() == len(counted)
    for (step, fate), marks in counted.items():
        gravest = next(mark for mark in GRAVEST if marks[mark])
        cell = reader.cell(step, fate)
        assert cell.inner_text().split() == [gravest, f"{marks.total():,}"], (step, fate)
        assert cell.get_attribute("data-mark") == gravest


def test_sticky_forms_stand_beside_transient_ones_and_look_different(read: Any, leaky: Path) -> None:
    reader = read(leaky)
    styles = [
        reader.cell("harness call Acquire", fate).evaluate("cell => getComputedStyle(cell).borderTopStyle")
        for fate in ("reply-lost", "reply-lost!")
    ]
    assert styles == ["solid", "dashed"]
    heads = reader.page.locator(".matrix").first.locator("thead th").all_inner_texts()
    assert heads[heads.index("reply-lost") + 1] == "reply-lost!"


def test_arrow_keys_walk_the_matrix_and_enter_lists_the_runs_of_a_cell(read: Any, leaky: Path) -> None:
    reader = read(leaky)
    reader.cell("harness call Acquire", "reply-lost").focus()
    for key in ("ArrowRight", "ArrowDown", "ArrowLeft"):
        reader.page.keyboard.press(key)
    expect(reader.cell("harness call StartExecution", "reply-lost")).to_be_focused()
    reader.page.keyboard.press("Enter")
    expect(reader.page.locator("#chosen")).to_have_text("1 run of reply-lost at harness call StartExecution.")
    expect(reader.page.locator("#runs-title")).to_be_focused()
    assert reader.page.locator(".cell[aria-pressed=true]").count() == 1
    assert reader.page.locator("#runs [data-run]").all_inner_texts() == [
        "reply-lost at harness:a:call:StartExecution#1"
    ]


# --- filters


def shown(reader: Reader) -> int:
    return int(reader.page.locator("#count").inner_text().split()[0].replace(",", ""))


def test_search_finds_rows_steps_fates_endings_and_sentences(read: Any, mixed: Path) -> None:
    reader = read(mixed)
    everything = records(mixed)

    def texts(record: Record) -> str:
        return " ".join((show(record.row), record.step, record.fate, record.ending, *record.says)).lower()

    for words in (
        "acquire",
        "prepare crash",
        "leaky",
        "held by nobody",
        "nobody foresaw",
        "s blocked",
        "nothing",
    ):
        reader.page.locator("#words").fill(words)
        assert shown(reader) == sum(all(word in texts(each) for word in words.split()) for each in everything)
    expect(reader.page.locator("#matrix .empty")).to_be_visible()
    reader.page.get_by_role("button", name="Reset").click()
    expect(reader.page.locator("#count")).to_have_text(f"{len(everything)} runs.")


def test_filters_by_mark_fate_and_ending_narrow_each_other(read: Any, mixed: Path) -> None:
    reader, everything = read(mixed), records(mixed)
    for mark in ("==", "++"):
        reader.page.locator(f"[name=mark][value='{mark}']").uncheck()
    assert shown(reader) == sum(record.mark in ("--", "!!") for record in everything)
    reader.page.locator("#fate").select_option("reply-lost")
    assert shown(reader) == sum(
        record.mark in ("--", "!!") and record.fate == "reply-lost" for record in everything
    )
    reader.page.locator("#ending").select_option(index=1)
    assert reader.page.locator("#runs tbody tr").count() == shown(reader)
    reader.row("base")
    assert shown(reader) == 0


def test_a_list_too_long_to_read_is_shown_piece_by_piece(read: Any, mixed: Path) -> None:
    reader = read(mixed)
    reader.page.locator("#words").fill("ended as without")
    expect(reader.page.locator("#runs tbody tr")).to_have_count(40)
    reader.page.locator("#runs .more").click()
    expect(reader.page.locator("#runs tbody tr")).to_have_count(240)


# --- one run


def test_a_finding_tells_its_verdict_its_check_and_how_far_it_reaches(read: Any, leaky: Path) -> None:
    reader = read(leaky)
    reader.run("harness call Acquire", "reply-lost")
    found = next(
        each for each in records(leaky) if (each.step, each.fate) == ("harness call Acquire", "reply-lost")
    )
    expect(reader.page.locator("#run-title")).to_be_focused()
    assert reader.fact("Verdict") == f"finding: {found.ending}"
    assert reader.fact("Objected").splitlines() == list(found.says)
    assert reader.fact("Replay").splitlines()[0] == found.replay
    assert found.evidence is not None
    assert reader.fact("Last durable fact") == found.evidence.durable
    assert reader.fact("Lease at the end") == "w held by a"
    reach = reader.fact("Blast radius")
    assert reach.startswith("this Session")
    assert "a second Session on w ends completed" in reach
    assert "a new owner of a finds hosted_turn_recovery_required, and so does the next" in reach


def test_the_nearest_passing_run_is_the_rows_own(read: Any, leaky: Path) -> None:
    reader = read(leaky)
    reader.run("harness call Acquire", "reply-lost")
    beside = reader.page.locator(".fact-card").nth(1)
    assert "the row as written, without the fault" in beside.inner_text()
    assert reader.fact("Verdict", 1) == "passed: completed; w free"
    assert reader.fact("Blast radius", 1).startswith("nobody")
    reader.page.get_by_text("Diagram of the nearest passing run").click()
    expect(reader.page.locator("#drawing details .diagram")).to_contain_text("ClearLease")


def test_when_the_row_itself_fails_the_nearest_is_another_fate_at_the_step(read: Any, planted: Path) -> None:
    reader = read(planted)
    reader.row("ill")
    reader.run("harness call Acquire", "reply-lost")
    assert "the same step with duplicated" in reader.page.locator(".fact-card").nth(1).inner_text()
    reader.run("broker commit ClaimWorkspace", "commit-failed")
    assert "No run at this step passed" in reader.page.locator(".fact-card").nth(1).inner_text()


def test_a_field_case_has_no_other_run_to_stand_beside_it(read: Any, leaky: Path) -> None:
    reader = read(leaky)
    reader.page.locator(".chips button", has_text="rc-13-release").click()
    expect(reader.page.locator(".fact-card").nth(1)).to_contain_text("its faults are its own")
    expect(reader.page.locator(".diagram")).to_contain_text("reply-lost strikes call Release#1")


def test_a_run_that_broke_the_bench_says_what_broke_and_has_no_diagram(read: Any, mixed: Path) -> None:
    reader = read(mixed)
    reader.row(show(HOSTILE))
    reader.run("harness call Acquire", "crash-before")
    assert "nobody foresaw" in reader.fact("Objected")
    expect(reader.page.locator("#drawing .empty").first).to_have_text("The bench kept no trail of this run.")


def test_the_replay_line_is_copied(read: Any, leaky: Path) -> None:
    reader = read(leaky)
    reader.context.grant_permissions(["clipboard-read", "clipboard-write"])
    reader.run("harness call Release", "request-lost")
    reader.page.locator(".replay button").first.click()
    expect(reader.page.locator(".replay button").first).to_have_text("Copied")
    line = next(
        each for each in records(leaky) if (each.step, each.fate) == ("harness call Release", "request-lost")
    ).replay
    assert reader.page.evaluate("navigator.clipboard.readText()") == line


def test_the_address_of_a_run_opens_it_again(read: Any, leaky: Path) -> None:
    reader = read(leaky)
    reader.run("harness call Release", "request-lost")
    title = reader.page.locator("#run-title").inner_text()
    reader.page.reload()
    expect(reader.page.locator("#run-title")).to_have_text(title)


# --- the walk


def test_a_walk_with_the_keyboard(read: Any, leaky: Path) -> None:
    reader = read(leaky)
    reader.run("harness call Acquire", "reply-lost")
    reader.page.locator(".diagram").first.focus()
    assert reader.now() == "+0 ms !! reply-lost strikes call Acquire#1 of harness:a"
    assert "leases" not in reader.disk()

    reader.page.keyboard.press("n")
    assert reader.now() == "+0 ms !! harness:a asks broker: Acquire"
    reader.page.keyboard.press("c")
    assert reader.now() == "+2 ms ++ broker commits ClaimWorkspace: runtime_sessions, leases"
    assert reader.disk()["leases"] == {"w": "held by a"}
    assert reader.disk()["runtime_sessions"] == {"a.p1": "acquiring, generation 1"}
    assert reader.page.locator("[data-disk] .fresh").count() == 2
    assert "broker Acquire for harness:a" in reader.page.locator("[data-scripts]").inner_text()

    reader.page.keyboard.press("c")
    assert reader.disk()["runtime_sessions"] == {"a.p1": "ready, generation 1"}
    reader.page.keyboard.press("b")
    assert reader.disk()["runtime_sessions"] == {"a.p1": "acquiring, generation 1"}
    reader.page.keyboard.press("s")
    assert "strikes" in reader.now()
    reader.page.keyboard.press("End")
    expect(reader.page.get_by_role("button", name="Next")).to_be_disabled()
    assert "As it was when the world was healed" in reader.page.locator("[data-disk]").inner_text()


def test_the_buttons_do_what_the_keys_do(read: Any, leaky: Path) -> None:
    reader = read(leaky)
    reader.run("harness call Acquire", "reply-lost")
    for name, says in (
        ("Commit", "ClaimWorkspace"),
        ("Strike", "strikes"),
        ("Next", "asks broker"),
        ("Back", "strikes"),
    ):
        reader.page.get_by_role("button", name=name, exact=False).locator("visible=true").last.click()
        assert says in reader.now()


def test_the_strike_is_marked_and_a_reply_that_was_lost_ends_half_way(read: Any, leaky: Path) -> None:
    reader = read(leaky)
    reader.run("harness call Acquire", "reply-lost")
    assert reader.page.locator(".diagram .bolt").count() == 1
    cut = reader.page.locator(".diagram g", has_text="which does not arrive in time")
    assert cut.locator("text.bad-text").text_content() == "Lease"
    assert reader.page.locator(".diagram .heads text.party:not(.of)").all_text_contents()[:4] == [
        "client",
        "harness",
        "model",
        "broker",
    ]


def test_what_went_before_and_the_errands_can_be_drawn_too(read: Any, leaky: Path) -> None:
    reader = read(leaky)
    reader.run("harness call Release", "request-lost")
    entries = reader.page.locator(".diagram [data-at]")
    folded = entries.count()
    expect(reader.page.locator(".diagram")).to_contain_text("moves before, as in the row without the fault")
    reader.page.get_by_label("the moves before, too").check()
    whole = entries.count()
    reader.page.get_by_label("errands of journal and publisher").check()
    assert folded < whole < entries.count()
    expect(reader.page.locator(".diagram")).to_contain_text("ExtendWriter")


def test_the_diagram_is_told_as_text_too(read: Any, leaky: Path) -> None:
    reader = read(leaky)
    reader.run("harness call Acquire", "reply-lost")
    reader.page.get_by_text("The diagram as text").first.click()
    lines = reader.page.locator("ol.lines li").all_inner_texts()
    assert len(lines) == reader.page.locator(".diagram [data-at]").count()
    assert "+30,000 ms !! harness:a is left with doubt (timeout), for Acquire" in lines


def test_a_shard_says_where_the_rest_of_a_run_is(read: Any, tmp_path: Path) -> None:
    swept(House(), tmp_path, "text-only", "crash-*", "reply-*", "--shard", "2/2")
    reader = read(tmp_path)
    reader.page.locator(".cell").first.click()
    reader.page.locator("#runs [data-run]").first.click()
    expect(reader.page.locator("#drawing .empty").first).to_contain_text("turnproof merge")
    assert reader.fact("Blast radius")


# --- text that bites


def test_hostile_and_ill_formed_text_is_text(read: Any, planted: Path) -> None:
    reader = read(planted)
    reader.row(show(SCRIPT))
    reader.run("harness call Acquire", "reply-lost")
    assert reader.page.evaluate("window.bitten") is None
    assert reader.page.locator("img").count() == 0
    assert reader.fact("Objected") == f"check: {show(SCRIPT)}"
    assert reader.fact("Verdict") == f"finding: {show(SCRIPT)}"
    assert "\\ud800\\u202e" in reader.page.locator("#run-title").inner_text()
    expect(reader.page.locator(".why")).to_contain_text(show(SCRIPT))
    reader.page.locator("#words").fill("onerror=")
    assert shown(reader) == sum(record.row == SCRIPT for record in records(planted))


# --- eyes, ears, paper


CONTRAST = """() => {
    const lumen = colour => { const [r, g, b] = colour.match(/[\\d.]+/g).map(Number).map(each => {
        each /= 255; return each <= .03928 ? each / 12.92 : ((each + .055) / 1.055) ** 2.4; });
        return .2126 * r + .7152 * g + .0722 * b; };
    const ground = element => { for (let at = element; at; at = at.parentElement) {
        const colour = getComputedStyle(at).backgroundColor;
        if (!/, 0\\)$|transparent/.test(colour)) return colour; } return "rgb(255, 255, 255)"; };
    const found = [];
    for (const element of document.querySelectorAll("body *")) {
        const own = [...element.childNodes].some(node => node.nodeType === 3 && node.textContent.trim());
        if (!own || !element.checkVisibility() || element.closest("svg, option, :disabled")) continue;
        const [one, other] = [lumen(getComputedStyle(element).color), lumen(ground(element))];
        const ratio = (Math.max(one, other) + .05) / (Math.min(one, other) + .05);
        if (ratio < 4.5) found.push(`${element.tagName}.${element.className} ${ratio.toFixed(2)}`);
    }
    return [...new Set(found)];
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_stands_out_from_its_ground(read: Any, leaky: Path, scheme: str) -> None:
    reader = read(leaky, color_scheme=scheme)
    reader.run("harness call Acquire", "reply-lost")
    assert reader.page.evaluate(CONTRAST) == []


def test_the_scheme_is_the_systems_until_it_is_switched(read: Any, mixed: Path) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    dark, light = read(mixed, color_scheme="dark"), read(mixed, color_scheme="light")
    grounds = dark.page.evaluate(ground), light.page.evaluate(ground)
    assert grounds[0] != grounds[1]
    switch = light.page.get_by_role("button", name="Dark")
    assert switch.get_attribute("aria-pressed") == "false"
    switch.click()
    assert switch.get_attribute("aria-pressed") == "true"
    assert light.page.evaluate(ground) == grounds[0]
    dark.page.get_by_role("button", name="Dark").click()
    assert dark.page.evaluate(ground) == grounds[1]


@pytest.mark.parametrize("width", [390, 800, 1600])
def test_nothing_is_wider_than_the_window(read: Any, leaky: Path, width: int) -> None:
    reader = read(leaky, viewport={"width": width, "height": 844})
    assert reader.overflow() == 0
    reader.run("harness call Acquire", "reply-lost")
    reader.page.get_by_label("errands of journal and publisher").check()
    for summary in reader.page.locator("summary").all():
        summary.click()
    assert reader.overflow() == 0


INSIDE = """(frame, seen) => {
    const [one, other] = [frame, frame.querySelector(seen)].map(each => each.getBoundingClientRect());
    return [other.top >= one.top && other.bottom <= one.bottom, other.left >= one.left && other.right <= one.right];
}"""


def test_on_a_phone_the_walk_keeps_the_move_in_sight(read: Any, leaky: Path) -> None:
    reader = read(leaky, viewport=PHONE)
    reader.run("harness call Acquire", "reply-lost")
    frame = reader.page.locator(".diagram")
    frame.focus()
    for key in ("End", "Home", "c", "c", "s"):
        reader.page.keyboard.press(key)
        assert frame.evaluate(INSIDE, "[data-now]")[0]
    assert frame.evaluate(INSIDE, ".bolt") == [True, True]


def test_on_paper_there_are_no_buttons_and_nothing_is_cut_off(read: Any, leaky: Path) -> None:
    reader = read(leaky)
    reader.run("harness call Acquire", "reply-lost")
    reader.page.emulate_media(media="print")
    for hidden in (".filters", ".rows", "#scheme", ".tools", ".buttons", ".replay button"):
        expect(reader.page.locator(hidden).first).to_be_hidden()
    expect(reader.page.locator(".matrix").first).to_be_visible()
    assert reader.page.locator(".diagram").evaluate("frame => getComputedStyle(frame).maxHeight") == "none"
    assert len(reader.page.pdf(landscape=True)) > 20_000


def test_what_a_screen_reader_is_told(read: Any, leaky: Path) -> None:
    reader = read(leaky)
    reader.run("harness call Acquire", "reply-lost")
    nameless = """() => [...document.querySelectorAll("button, input, select, [role=img], [role=group], nav, section")]
        .filter(each => each.checkVisibility() && !(each.ariaLabel || each.labels?.length || each.textContent.trim()
            || each.getAttribute("aria-labelledby")))
        .map(each => each.outerHTML.slice(0, 80))"""
    assert reader.page.evaluate(nameless) == []
    matrix = reader.page.locator(".matrix").first
    assert matrix.locator("th[scope=row]").count() == matrix.locator("tbody tr").count()
    assert matrix.locator("caption").inner_text() == "Calls"
    label = reader.cell("harness call Acquire", "reply-lost!").get_attribute("aria-label")
    assert label == "harness call Acquire, reply-lost, at every attempt: 1 run, -- finding"
    told = reader.page.locator("#told")
    assert told.get_attribute("role") == "status"
    expect(told).to_contain_text("reply-lost at harness:a:call:Acquire#1 in one-call, finding.")
    assert reader.page.locator(".said-now").get_attribute("role") == "status"
    reader.page.locator(".skip").focus()
    expect(reader.page.locator(".skip")).to_be_in_viewport()


def test_a_browser_that_cannot_open_the_runs_says_so(browser: Browser, mixed: Path) -> None:
    context = browser.new_context(offline=True)
    opened_page = context.new_page()
    opened_page.add_init_script("delete globalThis.DecompressionStream")
    opened_page.goto((mixed / "index.html").resolve().as_uri())
    expect(opened_page.locator("#trouble")).to_contain_text("no DecompressionStream")
    context.close()
