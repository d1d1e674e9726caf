"""The same chunks on a real cluster: a scheduler and its workers on this machine, some of them killed."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from wide import ROOT, TESTS, files, program, start, swept, turnproof

from reports.book import Book
from reports.store import STORE, opened

pytest.importorskip("distributed")

QUIET = {"DASK_LOGGING__DISTRIBUTED": "critical", "PYTHONPATH": f"{TESTS}{os.pathsep}{ROOT}"}
LOOPBACK = ["--host", "127.0.0.1", "--no-dashboard"]


class Cluster:
    """A scheduler with workers, each a process of its own that nothing restarts."""

    def __init__(self, processes: ExitStack, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self.port}"
        self._processes = processes
        self._folder = folder
        self.scheduler = self._start("scheduler", *LOOPBACK, "--port", str(self.port))
        self.workers = [self.work(), self.work()]

    def work(self, **environment: str) -> subprocess.Popen[bytes]:
        words = ["worker", self.address, *LOOPBACK, "--no-nanny", "--nthreads", "1"]
        return self._start(*words, "--local-directory", str(self._folder), **environment)

    def _start(self, kind: str, *words: str, **environment: str) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.dask_{kind}", *words],
            env={**os.environ, **QUIET, **environment},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self._folder,
        )
        self._processes.callback(process.wait)
        self._processes.callback(process.kill)
        return process


@pytest.fixture
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with ExitStack() as processes:
        yield Cluster(processes, tmp_path_factory.mktemp("cluster"))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of a sweep by the local engine."""
    return swept(tmp_path_factory.mktemp("whole"))


def sweep(cluster: Cluster, out: Path, bench: str = "Slow") -> subprocess.Popen[str]:
    return start(bench, "sweep", "--engine", "dask", "--scheduler", cluster.address, "--out", str(out))


def under_way(out: Path, process: subprocess.Popen[str]) -> None:
    """Wait until the first chunk is stored."""
    while process.poll() is None and not (out / f"{STORE}-wal").exists():
        time.sleep(0.02)
    size = (out / f"{STORE}-wal").stat().st_size
    while process.poll() is None and (out / f"{STORE}-wal").stat().st_size == size:
        time.sleep(0.02)
    assert process.poll() is None


def test_a_cluster_writes_the_bytes_of_the_local_engine_although_a_worker_is_killed(
    tmp_path: Path, cluster: Cluster, whole: dict[str, bytes]
) -> None:
    with sweep(cluster, tmp_path) as process:
        under_way(tmp_path, process)
        cluster.workers[0].send_signal(signal.SIGKILL)
        stdout, stderr = process.communicate()
    assert process.returncode == 1, stderr
    assert cluster.workers[1].poll() is None
    assert "findings: " in stdout
    assert "Traceback" not in stderr
    assert files(tmp_path) == whole


def test_a_lost_scheduler_is_said_and_the_sweep_can_be_resumed(
    tmp_path: Path, cluster: Cluster, whole: dict[str, bytes]
) -> None:
    with sweep(cluster, tmp_path) as process:
        under_way(tmp_path, process)
        cluster.scheduler.send_signal(signal.SIGKILL)
        stdout, stderr = process.communicate()
    assert process.returncode == 4, stderr
    assert f"the scheduler at {cluster.address} is gone" in stderr
    assert "Traceback" not in stderr, stderr
    assert "incomplete: " in stdout
    assert "--resume" in stdout
    assert turnproof("sweep", "--resume", "--out", str(tmp_path)).exit_code == 1
    assert files(tmp_path) == whole


def test_a_sweep_on_a_cluster_stops_when_asked(tmp_path: Path, cluster: Cluster) -> None:
    with sweep(cluster, tmp_path) as process:
        under_way(tmp_path, process)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate()
    assert process.returncode == 130, stderr
    assert "incomplete: " in stdout
    assert "Traceback" not in stderr


def test_runs_that_kill_their_workers_are_isolated(tmp_path: Path, cluster: Cluster) -> None:
    with sweep(cluster, tmp_path, "Deadly") as process:
        while process.poll() is None:
            time.sleep(0.1)
            cluster.workers = [each if each.poll() is None else cluster.work() for each in cluster.workers]
        _, stderr = process.communicate()
    assert process.returncode == 3, stderr
    with opened(tmp_path) as store:
        broken = [record for record in Book(store).records() if record.status == "broken"]
        assert store.done == store.outline.due
    assert {record.where for record in broken} == {
        "reply-lost at harness call Call7",
        "reply-lost! at harness call Call7",
    }


def test_workers_with_other_code_are_refused(tmp_path: Path, cluster: Cluster) -> None:
    words = ["sweep", "--engine", "dask", "--scheduler", cluster.address, "--out", str(tmp_path)]
    with start("Wide", *words, before="import reports.campaign as c; c.code = lambda: 'another'") as process:
        _, stderr = process.communicate()
    assert process.returncode == 3
    says = r"OtherCode: the code of turnproof there is [0-9a-f]{12}, here it is another"
    assert re.search(says, flat(stderr)), stderr


def flat(text: str) -> str:
    return " ".join(text.split())


def test_a_scheduler_that_does_not_answer_is_said_and_nothing_is_replaced(tmp_path: Path) -> None:
    before = swept(tmp_path)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    words = ["sweep", "--engine", "dask", "--scheduler", address, "--out", str(tmp_path)]
    done = subprocess.run([*program("Wide"), *words], capture_output=True, text=True, check=False)
    assert done.returncode == 4
    assert f"no scheduler answers at {address}" in flat(done.stderr)
    assert "Traceback" not in done.stderr
    assert files(tmp_path) == before


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--engine", "dask"], "needs --scheduler ADDRESS"),
        (["--scheduler", "tcp://127.0.0.1:1"], "add --engine dask"),
        (["--engine", "dask", "--scheduler", "tcp://127.0.0.1:1", "-j", "2"], "-j is for processes"),
        (["--engine", "dask", "--scheduler", "foo://127.0.0.1:1"], "foo"),
    ],
)
def test_options_that_do_not_go_together_are_wrong_usage(tmp_path: Path, words: list[str], says: str) -> None:
    result = turnproof("sweep", *words, "--out", str(tmp_path / "out"))
    assert result.exit_code == 2
    assert says in result.stderr


def test_without_the_extra_it_says_how_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.delitem(sys.modules, "faults.cluster", raising=False)
    words = ["--engine", "dask", "--scheduler", "tcp://127.0.0.1:1", "--out", str(tmp_path / "out")]
    result = turnproof("sweep", *words)
    assert result.exit_code == 2
    assert "the package 'distributed', which comes with the extra 'cluster'" in flat(result.stderr)
