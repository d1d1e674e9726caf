"""PostgreSQL and MariaDB of this machine, started for the tests on a socket of a folder that goes with them."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pymysql

PATIENCE_S = 60
NO_SYNC = ("--innodb-flush-method=nosync", "--debug-no-sync")
"""Nothing of these servers outlives them."""


class Absent(Exception):
    """The server is not installed here."""


@contextmanager
def postgresql() -> Iterator[str]:
    """A URL of a PostgreSQL that nobody else uses. Absent: it is not installed."""
    with _folder("postgres") as (folder, alone):
        programs = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
        initdb, postgres = (program(name, *programs) for name in ("initdb", "postgres"))
        made = [
            "-D",
            folder / "data",
            "-U",
            "postgres",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--locale=C",
            "--no-sync",
        ]
        subprocess.run([initdb, *made], check=True, capture_output=True, cwd=folder, **alone)
        settings = {
            "listen_addresses": "",
            "fsync": "off",
            "unix_socket_directories": folder,
            "shared_buffers": "16MB",
        }
        told = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        with _running([postgres, "-D", folder / "data", *told], folder, alone) as alive:
            _until(lambda: psycopg.connect(host=str(folder), user="postgres").close(), psycopg.Error, alive)
            yield f"postgresql+psycopg://postgres@/postgres?host={folder}"


@contextmanager
def mariadb() -> Iterator[str]:
    """A URL of a MariaDB that nobody else uses. Absent: it is not installed.

    It reads snapshots as MySQL does, whatever this version's default.
    """
    with _folder("mysql") as (folder, alone):
        install, server = program("mariadb-install-db"), program("mariadbd", Path("/usr/sbin"))
        where = ["--no-defaults", f"--datadir={folder / 'data'}", "--innodb-log-file-size=8M", *NO_SYNC]
        login = ["--auth-root-authentication-method=normal", "--skip-test-db"]
        subprocess.run([install, *where, *login], check=True, capture_output=True, cwd=folder, **alone)
        path = folder / "socket"
        settings = [
            "--skip-networking",
            "--innodb-flush-log-at-trx-commit=0",
            "--loose-innodb-snapshot-isolation=OFF",
        ]
        command = [server, *where, f"--socket={path}", f"--pid-file={folder / 'pid'}", *settings]
        with _running(command, folder, alone) as alive:
            _until(lambda: _listens(path), OSError, alive)
            with pymysql.connect(unix_socket=str(path), user="root") as connection:
                connection.cursor().execute("CREATE DATABASE turnproof")
            yield f"mariadb+pymysql://root@/turnproof?unix_socket={path}"


def _listens(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(path))


@contextmanager
def _folder(user: str) -> Iterator[tuple[Path, dict[str, object]]]:
    """A folder with a short name, for sockets, and how to start a program that may use it: no server runs as root."""
    folder = Path(tempfile.mkdtemp(prefix="tp-"))
    alone: dict[str, object] = {}
    if os.geteuid() == 0:
        try:
            shutil.chown(folder, user, user)
        except LookupError:
            folder.rmdir()
            raise Absent(f"there is no user '{user}', so the server's package is not installed") from None
        alone = {"user": user, "group": user, "extra_groups": ()}
    try:
        yield folder, alone
    finally:
        shutil.rmtree(folder)


def program(name: str, *places: Path) -> str:
    """Where a program is, that of the last place first. Absent: it is not installed."""
    places_told = os.pathsep.join([*map(str, reversed(places)), os.environ.get("PATH", os.defpath)])
    found = shutil.which(name, path=places_told)
    if found is None:
        raise Absent(f"'{name}' is not installed")
    return found


@contextmanager
def _running(
    command: Sequence[str | Path], folder: Path, alone: dict[str, object]
) -> Iterator[subprocess.Popen[bytes]]:
    """A server, from its start until it is killed: nothing of it is kept."""
    with open(folder / "log", "wb") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder, **alone)
    try:
        yield server
    except TimeoutError as error:
        raise RuntimeError((folder / "log").read_text(errors="replace")[-2_000:]) from error
    finally:
        server.kill()
        server.wait()


def _until(connected: Callable[[], None], refused: type[Exception], server: subprocess.Popen[bytes]) -> None:
    """Wait until the server answers."""
    end = time.monotonic() + PATIENCE_S
    while True:
        try:
            return connected()
        except refused as error:
            if server.poll() is not None or time.monotonic() > end:
                raise TimeoutError("the server does not answer") from error
        time.sleep(0.02)
