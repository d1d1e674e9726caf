"""A campaign survives what ends its processes, and comes to the same bytes however it was made."""

from __future__ import annotations

import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from wide import ROWS, Wide, files, program, start, swept, turnproof

from faults.engine import CHUNK, Broken, Chunk, Delivery
from faults.sweeps import Selection
from reports.bench import House
from reports.book import Book
from reports.campaign import Campaign, Record
from reports.files import WRITERS, write
from reports.outline import WHOLE, Outline, Shard
from reports.sometimes import Seen
from reports.store import BEFORE, STORE, begun, opened, resumed
from sim.history import History
from sim.points import Plan, Watcher

KILLS = 12


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of a sweep that nothing disturbed."""
    return swept(tmp_path_factory.mktemp("whole"), "-j", "1")


def counted(shard: Shard = WHOLE) -> tuple[Campaign, Outline]:
    campaign = Campaign(Wide(), Selection(tuple(ROWS)), 1)
    list(campaign.count())
    return campaign, campaign.outline(shard)


def stored(out: Path) -> dict[tuple[int, int], list[str]]:
    """The chunks in a folder with their records, as SQLite itself shows them."""
    with sqlite3.connect(out / STORE) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        if db.execute("SELECT count(*) FROM sqlite_schema").fetchone() == (0,):
            return {}
        chunks = db.execute("SELECT place, start, runs, records FROM chunks").fetchall()
    db.close()
    found = {
        (place, start): zlib.decompress(packed).decode().split("\n") for place, start, _, packed in chunks
    }
    assert [runs for _, _, runs, _ in chunks] == [len(records) for records in found.values()]
    return found


# --- kill, stop, resume


def test_a_sweep_that_is_killed_at_any_moment_goes_on_to_the_same_bytes(
    tmp_path: Path, whole: dict[str, bytes]
) -> None:
    kills = kill_and_resume(tmp_path, whole, KILLS, random.Random(3))
    assert kills == KILLS


def kill_and_resume(tmp_path: Path, whole: dict[str, bytes], kills: int, moments: random.Random) -> int:
    """Kill a sweep at random moments, go on with it, and compare; how many kills met a process at work."""
    met = campaigns = 0
    while met < kills:
        campaigns += 1
        out = tmp_path / str(campaigns)
        for _ in range(moments.randint(1, 4)):
            met += killed(out, moments.uniform(0.0, 2.5))
        assert turnproof("sweep", "--resume", "--out", str(out)).exit_code == 1
        assert files(out) == whole
        assert sorted(path.name for path in out.iterdir()) == sorted([STORE, *WRITERS])
        shutil.rmtree(out)
        if met >= kills:
            return kills
    return met


def killed(out: Path, after_s: float) -> bool:
    """Begin or go on with a sweep and kill it, so long after it has made its folder; whether it was still at work."""
    before = held(out)
    with start("Slow", "sweep", "--resume", "-j", "2", "--out", str(out)) as process:
        while not out.exists() and process.poll() is None:
            time.sleep(0.01)
        time.sleep(after_s)
        met = process.poll() is None
        process.kill()
    after = held(out)
    assert before <= after
    return met


def held(out: Path) -> set[tuple[int, int]]:
    """What a killed process has left in the store: whole chunks, and nothing else."""
    if not (out / STORE).exists():
        return set()
    copy = out.with_name(f"{out.name}-copy")
    shutil.copytree(out, copy)  # to look at it would mend it
    found = stored(copy)
    shutil.rmtree(copy)
    _, outline = counted()
    sizes = {(outline.places[each.key], each.start): each.stop - each.start for each in outline.ranges()}
    assert {at: len(records) for at, records in found.items()} == {at: sizes[at] for at in found}
    return set(found)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 4)])
def test_a_sweep_that_is_stopped_says_how_to_go_on_and_does(
    tmp_path: Path, whole: dict[str, bytes], number: int, code: int
) -> None:
    with start("Slow", "sweep", "-j", "2", "--out", str(tmp_path)) as process:
        while not (tmp_path / STORE).exists():
            time.sleep(0.01)
        time.sleep(0.6)
        process.send_signal(number)
        stdout, _ = process.communicate()
    assert process.returncode == code
    assert "with --resume goes on from here" in stdout
    assert turnproof("report", "--out", str(tmp_path)).exit_code == 4
    assert turnproof("sweep", "--resume", "--out", str(tmp_path)).exit_code == 1
    assert files(tmp_path) == whole


def test_to_resume_makes_only_what_is_missing(tmp_path: Path, whole: dict[str, bytes]) -> None:
    campaign, outline = counted()
    lost = [Chunk("leaky", 0, CHUNK), Chunk("wide", CHUNK, 2 * CHUNK)]
    with begun(tmp_path, outline) as store:
        for chunk in outline.ranges():
            if chunk not in lost:
                fill(store, campaign, chunk)
    with resumed(tmp_path, outline) as store:
        assert list(store.missing()) == lost
    assert turnproof("sweep", "--resume", "--out", str(tmp_path)).exit_code == 1
    assert files(tmp_path) == whole


def fill(store: object, campaign: Campaign, chunk: Chunk) -> None:
    for number in range(chunk.start, chunk.stop):
        store.add(chunk.key, number, campaign.work(chunk.key, number))  # type: ignore[attr-defined]


def test_a_finished_campaign_that_is_resumed_runs_nothing_and_ends_alike(tmp_path: Path) -> None:
    first = swept(tmp_path)
    result = turnproof("sweep", "--resume", "--out", str(tmp_path), bench=Listing())
    assert result.exit_code == 1
    assert files(tmp_path) == first


class Listing(Wide):
    """A bench that shows its points but makes no run with a fault."""

    def judge(self, row: str, plan: Plan, history: History) -> object:  # type: ignore[override]
        assert not plan.strikes, "a run was made"
        return super().judge(row, plan, history)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["wide"], "selected rows"),
        (["-k", "0"], "faults in a run"),
        (["reply-lost"], "selected fates"),
        (["Acquire"], "selected points"),
    ],
)
def test_another_campaign_is_not_resumed(tmp_path: Path, words: list[str], says: str) -> None:
    before = swept(tmp_path)
    result = turnproof("sweep", *words, "--resume", "--out", str(tmp_path))
    assert result.exit_code == 2
    assert "holds another campaign; it differs in: " in result.stderr
    assert says in result.stderr
    assert files(tmp_path) == before


def test_a_changed_design_or_plan_is_another_campaign(tmp_path: Path) -> None:
    class Changed(Wide):
        design_digest = "ba9876543210"

    class Moved(Wide):
        def play(self, row: str, plan: Plan, watcher: Watcher | None = None) -> History:
            return super().play("last" if row == "wide" else row, plan, watcher)

    swept(tmp_path)
    result = turnproof("sweep", "--resume", "--out", str(tmp_path), bench=Changed())
    assert "design (0123456789ab, ba9876543210) of leaky" in result.stderr
    assert "and 2 more" in result.stderr
    result = turnproof("sweep", "--resume", "--out", str(tmp_path), bench=Moved())
    assert result.exit_code == 2
    assert "number of runs (" in result.stderr
    assert "of wide." in result.stderr


# --- what was there before


def test_a_finished_campaign_is_kept_until_another_one_is_finished(tmp_path: Path) -> None:
    swept(tmp_path)
    finished = stored(tmp_path)
    killed(tmp_path, 0)
    with start("Slow", "sweep", "wide", "--out", str(tmp_path)) as process:
        while not (tmp_path / BEFORE).exists():
            time.sleep(0.01)
        process.kill()
    (tmp_path / "again").mkdir()
    shutil.copy(tmp_path / BEFORE, tmp_path / "again" / STORE)
    assert stored(tmp_path / "again") == finished
    result = turnproof("sweep", "leaky", "--out", str(tmp_path))
    assert result.exit_code == 1
    assert not (tmp_path / BEFORE).exists()


def test_an_unfinished_campaign_is_replaced_and_that_is_said(tmp_path: Path) -> None:
    campaign, outline = counted()
    with begun(tmp_path, outline) as store:
        fill(store, campaign, next(iter(outline.ranges())))
    result = turnproof("sweep", "last", "--out", str(tmp_path))
    assert result.exit_code == 0
    assert f"an unfinished sweep, {CHUNK} of {outline.due:,} runs" in " ".join(result.stderr.split())
    assert "--resume" in result.stderr


def test_two_cannot_write_the_same_folder(tmp_path: Path) -> None:
    _, outline = counted()
    with begun(tmp_path, outline) as store:
        for words in (["sweep"], ["sweep", "--resume"], ["report"]):
            result = turnproof(*words, "--out", str(tmp_path))
            assert result.exit_code == 3
            assert "Another turnproof is writing" in result.stderr
        result = turnproof("merge", str(tmp_path), "--out", str(tmp_path / "merged"))
        assert result.exit_code == 3
        assert list(store.missing()) == list(outline.ranges())
    assert [path.name for path in tmp_path.iterdir()] == [STORE]


# --- report


def test_a_report_tells_a_stored_campaign_again_without_a_run(tmp_path: Path) -> None:
    class Gone(Wide):
        def rows(self) -> dict[str, object]:  # type: ignore[override]
            raise AssertionError("the bench was asked")

    before = swept(tmp_path)
    for name in WRITERS:
        (tmp_path / name).unlink()
    result = turnproof("report", "--out", str(tmp_path), bench=Gone())
    assert result.exit_code == 1
    assert "findings: " in result.stdout
    assert files(tmp_path) == before


@pytest.mark.parametrize("content", [b"", b"this is no database, whatever its name is" * 50])
def test_a_folder_without_a_campaign_is_said(tmp_path: Path, content: bytes) -> None:
    (tmp_path / STORE).write_bytes(content)
    for words in (["report", "--out", str(tmp_path)], ["merge", str(tmp_path), "--out", str(tmp_path / "m")]):
        result = turnproof(*words)
        assert result.exit_code == 2
        assert "campaign" in result.stderr
        assert "Traceback" not in result.stderr
    result = turnproof("report", "--out", str(tmp_path / "nowhere"))
    assert result.exit_code == 2
    assert "There is no campaign in" in result.stderr


def test_a_store_of_another_format_is_not_read(tmp_path: Path) -> None:
    swept(tmp_path)
    with sqlite3.connect(tmp_path / STORE) as db:
        db.execute("UPDATE campaign SET format = '0'")
    db.close()
    result = turnproof("report", "--out", str(tmp_path))
    assert result.exit_code == 2
    assert "in format 0; this one reads 1" in result.stderr


# --- shards


@pytest.mark.parametrize("of", [1, 2, 4, 8])
def test_shards_put_together_are_the_sweep_without_shards(
    tmp_path: Path, whole: dict[str, bytes], of: int
) -> None:
    outs = [str(tmp_path / str(number)) for number in range(1, of + 1)]
    for number, out in enumerate(outs, 1):
        result = turnproof("sweep", "--shard", f"{number}/{of}", "--out", out)
        assert result.exit_code in (0, 1)
        assert of == 1 or f"shard {number}/{of}, " in result.stdout
    result = turnproof("merge", *reversed(outs), "--out", str(tmp_path / "merged"))
    assert result.exit_code == 1
    assert files(tmp_path / "merged") == whole


@pytest.mark.parametrize("of", [1, 2, 3, 4, 8, 50])
def test_every_run_is_in_one_shard_and_shards_are_even(of: int) -> None:
    _, outline = counted()
    shards = [msgspec.structs.replace(outline, shard=Shard(number, of)) for number in range(1, of + 1)]
    chunks = [chunk for shard in shards for chunk in shard.ranges()]
    assert sorted(chunks, key=str) == sorted(outline.ranges(), key=str)
    counts = [sum(1 for _ in shard.ranges()) for shard in shards]
    assert max(counts) - min(counts) <= 1
    assert sum(shard.due for shard in shards) == outline.due


def test_missing_shards_are_named_and_can_be_made_up_for(tmp_path: Path, whole: dict[str, bytes]) -> None:
    for number in (1, 4):
        turnproof("sweep", "--shard", f"{number}/4", "--out", str(tmp_path / str(number)))
    words = [str(tmp_path / "1"), str(tmp_path / "4"), "--out", str(tmp_path / "merged")]
    result = turnproof("merge", *words)
    assert result.exit_code == 4
    assert "they are of shard 2/4, 3/4" in result.stderr
    assert "incomplete: " in result.stdout
    assert turnproof("sweep", "--resume", "--out", str(tmp_path / "merged")).exit_code == 1
    assert files(tmp_path / "merged") == whole


def test_shards_may_overlap_but_not_contradict(tmp_path: Path, whole: dict[str, bytes]) -> None:
    cuts = ("1/2", "2/2", "1/3", "3/4")
    outs = [str(tmp_path / cut.replace("/", "-")) for cut in cuts]
    for cut, out in zip(cuts, outs, strict=True):
        turnproof("sweep", "--shard", cut, "--out", out)
    merged = tmp_path / "merged"
    assert turnproof("merge", *outs, "--out", str(merged)).exit_code == 1
    assert files(merged) == whole
    with sqlite3.connect(Path(outs[2]) / STORE) as db:
        records = [*stored(Path(outs[2]))[0, 0]]
        records[5] = records[5].replace("passed", "missed")
        db.execute(
            "UPDATE chunks SET records = ? WHERE place = 0 AND start = 0",
            (zlib.compress("\n".join(records).encode()),),
        )
    db.close()
    result = turnproof("merge", *outs, "--out", str(tmp_path / "other"))
    assert result.exit_code == 3
    assert "says otherwise of run 5 of leaky than a folder before it" in result.stderr


def test_shards_of_different_campaigns_are_not_put_together(tmp_path: Path) -> None:
    turnproof("sweep", "--shard", "1/2", "--out", str(tmp_path / "1"))
    turnproof("sweep", "wide", "--shard", "2/2", "--out", str(tmp_path / "2"))
    result = turnproof("merge", str(tmp_path / "1"), str(tmp_path / "2"), "--out", str(tmp_path / "m"))
    assert result.exit_code == 2
    assert "differs in: selected rows" in result.stderr
    result = turnproof("merge", str(tmp_path / "1"), "--out", str(tmp_path / "1"))
    assert result.exit_code == 2
    result = turnproof("sweep", "--shard", "2/2", "--resume", "--out", str(tmp_path / "1"))
    assert result.exit_code == 2
    assert "holds shard 1/2, not shard 2/2" in result.stderr


@pytest.mark.parametrize("shard", ["0/4", "5/4", "3", "a/b", "1/0", "-1/2", "1/2/3", "²/3"])
def test_a_shard_that_is_none_is_wrong_usage(tmp_path: Path, shard: str) -> None:
    result = turnproof("sweep", f"--shard={shard}", "--out", str(tmp_path))
    assert result.exit_code == 2
    assert "is no shard" in result.stderr


def test_the_real_bench_in_two_processes_and_in_shards_is_the_same(tmp_path: Path) -> None:
    words = ["sweep", "one-call", "rc-13-release", "text-only", "crash-after", "Release", "Infer", "-j"]
    for name, more in (
        ("1", ["1"]),
        ("2", ["2"]),
        ("a", ["2", "--shard", "1/2"]),
        ("b", ["1", "--shard", "2/2"]),
    ):
        result = turnproof(*words, *more, "--out", str(tmp_path / name), bench=House())
        assert result.exit_code == 0, result.output
    turnproof("merge", str(tmp_path / "a"), str(tmp_path / "b"), "--out", str(tmp_path / "m"))
    assert files(tmp_path / "1") == files(tmp_path / "2") == files(tmp_path / "m")


# --- processes


@pytest.mark.parametrize("jobs", ["1", "2", "3"])
def test_any_number_of_processes_writes_the_same_bytes(
    tmp_path: Path, whole: dict[str, bytes], jobs: str
) -> None:
    assert swept(tmp_path, "-j", jobs) == whole


def test_a_lost_process_takes_nothing_along_that_it_had_told(
    tmp_path: Path, whole: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "marks").mkdir()
    monkeypatch.setenv("TURNPROOF_MARKS", str(tmp_path / "marks"))
    subprocess.run([*program("DiesOnce"), "sweep", "-j", "2", "--out", str(tmp_path / "o")], check=False)
    assert len(list((tmp_path / "marks").iterdir())) >= 2
    assert files(tmp_path / "o") == whole


def test_a_run_that_kills_its_process_is_reported_and_every_other_is_judged(tmp_path: Path) -> None:
    subprocess.run([*program("Deadly"), "sweep", "-j", "2", "--out", str(tmp_path)], check=False)
    with opened(tmp_path) as store:
        records = list(Book(store).records())
    broken = [record for record in records if record.status == "broken"]
    assert {(record.row, record.where) for record in broken} == {
        ("wide", "reply-lost at harness call Call7"),
        ("wide", "reply-lost! at harness call Call7"),
    }
    assert len(records) == counted()[1].due


# --- the store and the files


def test_a_record_comes_back_as_it_was_whatever_text_is_in_it(tmp_path: Path) -> None:
    _, outline = counted()
    answers = frozenset({("a", True), ("a", "\ud800"), ("a", 2), ("b", None)})
    seen = Seen(answers, frozenset({"reply-lost!"}), ("acquire", "\udfff"))
    record = Record(
        "leaky", "s", "f", "w\ud800", "passed", "==", "e\x00", "{}", ("one", "\u2028"), "r", seen=seen
    )
    with begun(tmp_path, outline) as store:
        store.add("leaky", 0, record)
        store.flush()
        assert list(store.records()) == [record_told_once(record)]


def record_told_once(record: Record) -> Record:
    """No more than two answers of a rule are kept: they are enough to know."""
    answers = frozenset({("a", True), ("a", 2), ("b", None)})
    return msgspec.structs.replace(record, seen=msgspec.structs.replace(record.seen, answers=answers))


def test_a_run_that_is_stored_twice_counts_once(tmp_path: Path) -> None:
    campaign, outline = counted()
    chunk = next(iter(outline.ranges()))
    with begun(tmp_path, outline) as store:
        for _ in range(3):
            fill(store, campaign, chunk)
        assert store.done == CHUNK
        broken = campaign.kept(Delivery(chunk.key, chunk.start, Broken("late")))
        store.add(chunk.key, chunk.start, broken)
        store.flush()
        assert "broken" not in {record.status for record in store.records()}


def test_files_are_put_in_place_all_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = swept(tmp_path)

    def full(_book: Book) -> Iterator[str]:
        yield "half"
        raise OSError(28, "No space left on device")

    names = list(WRITERS)
    monkeypatch.setattr("reports.files.WRITERS", {**WRITERS, names[-1]: full})
    with opened(tmp_path) as store, pytest.raises(OSError, match="No space left"):
        write(Book(store), tmp_path)
    assert files(tmp_path) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([STORE, *names])


def test_a_folder_in_the_place_of_a_file_is_said_and_nothing_is_replaced(tmp_path: Path) -> None:
    before = swept(tmp_path)
    name = list(WRITERS)[-1]
    (tmp_path / name).unlink()
    (tmp_path / name).mkdir()
    result = turnproof("sweep", "wide", "--out", str(tmp_path))
    assert result.exit_code == 3
    assert "is a folder, and a file of that name goes there" in result.stderr
    first = next(iter(WRITERS))
    assert (tmp_path / first).read_bytes() == before[first]


def test_a_disk_that_fills_up_midway_keeps_what_it_holds_and_shows_the_rest(
    tmp_path: Path, whole: dict[str, bytes]
) -> None:
    def small() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))

    words = [*program("Wide"), "sweep", "-j", "2", "--out", str(tmp_path)]
    done = subprocess.run(words, preexec_fn=small, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "Cannot write the files of this sweep" in done.stderr
    assert "Traceback" not in done.stderr
    assert f"findings: {counted()[1].due:,} runs = " in done.stdout
    assert sorted(path.name for path in tmp_path.iterdir() if path.name in WRITERS) == []
    with opened(tmp_path) as store:
        assert 0 < store.done < store.outline.due
    assert turnproof("sweep", "--resume", "--out", str(tmp_path)).exit_code == 1
    assert files(tmp_path) == whole


def test_an_empty_name_is_no_folder_and_an_impossible_one_cannot_be_written() -> None:
    for words in (["sweep"], ["report"], ["merge", "x"]):
        result = turnproof(*words, "--out", "")
        assert result.exit_code == 2
        assert "a folder has a name" in result.stderr
    result = turnproof("sweep", "--out", "/proc/x")
    assert result.exit_code == 3
    assert "Cannot write into the folder '/proc/x'" in result.stderr


def test_a_standard_error_that_is_full_changes_nothing(tmp_path: Path) -> None:
    with open("/dev/full", "w") as full:
        process = start("Wide", "sweep", "last", "--out", str(tmp_path), stderr=full)
        stdout, _ = process.communicate()
    assert process.returncode == 0
    assert "clean: " in stdout
