"""Set everything up and run: `python3 run.py sweep` is the main job, `python3 run.py test` runs the tests.

The first start makes `.venv`, with the pinned requirements and this project in it; a stamp makes every later
start instant. After `test` come arguments of pytest; anything else is passed to `turnproof` as it is.
"""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
MADE_BY = " ".join([sys.version, sys.base_prefix, str(ROOT)])
PINS = {"run": "requirements.txt", "test": "requirements-dev.txt"}  # the second includes the first
NO_VENV = "Python's venv module does not work here. On Debian and its kin it is the package python3-venv."
NO_PINS = "the pinned requirements could not be installed. Can pip reach a package index from here?"


def main(args):
    """Set up what this start needs, then become it."""
    if sys.version_info < (3, 11):  # noqa: UP036 (an older Python must be able to say so)
        stop("Python 3.11 or newer is needed, and this is " + sys.version.split()[0] + ".")
    kind = "test" if args[:1] == ["test"] else "run"
    if read("ready-" + kind) != stamp(kind):
        set_up(kind)
    command = [str(BIN / "turnproof"), *args]
    if kind == "test":
        os.chdir(ROOT)
        command = [str(BIN / "python"), "-m", "pytest", "-n", "auto", "--timeout=300", *args[1:]]
    if os.name == "nt":
        sys.exit(subprocess.call(command))
    os.execv(command[0], command)


def set_up(kind):
    """Make the environment if it is missing or not this Python's; install the pins and the project."""
    print("turnproof: setting up .venv (once; it may take a minute)", file=sys.stderr, flush=True)
    if read("made-by") != MADE_BY:
        attempt([sys.executable, "-m", "venv", "--clear", str(VENV)], NO_VENV)
        (VENV / "made-by").write_text(MADE_BY, encoding="utf-8")
    for known in PINS:
        (VENV / ("ready-" + known)).unlink(missing_ok=True)
    pip = [str(BIN / "python"), "-m", "pip", "install", "-qq", "--no-user", "--disable-pip-version-check"]
    attempt([*pip, "--require-hashes", "-r", str(ROOT / PINS[kind])], NO_PINS)
    attempt([*pip, "--no-deps", "--no-build-isolation", "-e", str(ROOT)], "the project failed to install.")
    for known in {"run", kind}:
        (VENV / ("ready-" + known)).write_text(stamp(known), encoding="utf-8")


def stamp(kind):
    """What the environment depends on, as a digest."""
    files = (ROOT / PINS[kind]).read_bytes() + (ROOT / "pyproject.toml").read_bytes()
    return hashlib.sha256(MADE_BY.encode() + files).hexdigest()


def read(name):
    """A note left in the environment by an earlier start; None when there is none."""
    return (VENV / name).read_text(encoding="utf-8") if (VENV / name).is_file() else None


def attempt(command, failure):
    """Run one step of the set-up; end with the exit code for a bench error when it fails."""
    if subprocess.call(command, stdin=subprocess.DEVNULL):
        stop(failure)


def stop(message):
    """Say why nothing can be run."""
    print("turnproof: " + message, file=sys.stderr)
    sys.exit(3)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except KeyboardInterrupt:
        sys.exit(130)
