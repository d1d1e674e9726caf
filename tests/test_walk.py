import pytest
from click.testing import CliRunner

from reports.cli import cli
from reports.walk import Walk, process_of
from scenarios.row import reached
from scenarios.rows import ROWS
from sim.history import Committed, Crashed, Struck
from sim.points import Fate, Plan, Strike
from sim.run import run


@pytest.fixture(scope="module")
def struck():
    row = ROWS["rc-13-release"]
    return run(row.scenario, row.plan, row.design).events


@pytest.fixture
def walk(struck):
    return Walk(struck)


def test_it_goes_forward_and_back_and_stays_at_the_ends(walk):
    assert not walk.back()
    assert walk.next()
    assert walk.at == 1
    assert walk.back()
    assert walk.at == 0
    assert not walk.go(10**6)
    assert walk.at == len(walk.steps) - 1
    assert not walk.next()


def test_it_stops_at_every_commit_and_at_nothing_else(walk, struck):
    stops = []
    while walk.commit():
        stops.append(walk.step.place)

    assert stops == [place for place, event in enumerate(struck) if isinstance(event, Committed)]


def test_it_finds_the_strike_from_before_and_from_behind(walk, struck):
    place = next(place for place, event in enumerate(struck) if isinstance(event, Struck))
    assert walk.strike()
    assert walk.step.place == place
    walk.go(len(walk.steps) - 1)
    assert walk.strike()
    assert walk.step.place == place


def test_nothing_strikes_in_a_clean_run():
    row = ROWS["text-only"]
    walk = Walk(run(row.scenario, design=row.design).events)

    assert not walk.strike()
    assert walk.at == 0


def test_the_disk_is_what_was_committed_so_far_without_what_was_removed(walk):
    assert list(walk.disk()) == []
    walk.strike()
    held = {(table, key) for table, key, _ in walk.disk()}
    assert ("leases", "w") in held
    for _ in range(2):  # BeginRelease, ClearLease
        walk.commit()
    assert ("leases", "w") not in {(table, key) for table, key, _ in walk.disk()}


def test_the_live_scripts_are_those_that_began_and_did_not_end_and_the_dead_are_gone(walk):
    walk.strike()
    waiting = {script.actor: script.waits for script in walk.scripts() if script.waits}
    assert waiting["client"] == "AwaitTurn -> harness:a"


def test_the_scripts_of_a_dead_process_are_gone_and_others_live_on():
    row = ROWS["one-call"]
    at = next(each.point for each in reached(row) if each.point.label == "StartExecution")
    crashed = Walk(run(row.scenario, Plan((Strike(at, Fate("crash-waiting")),)), row.design).events)
    crashed.strike()
    before = {process_of(script.actor) for script in crashed.scripts()}
    while not isinstance(crashed.events[crashed.step.place], Crashed):
        crashed.next()
    after = {process_of(script.actor) for script in crashed.scripts()}

    assert "owner:a" in before
    assert "owner:a" not in after
    assert "client" in after


def test_letters_from_a_pipe_lead_through_a_run():
    letters = "s\nd\nl\nc\nb\ng 1\ng 0\nnonsense\n"
    result = CliRunner().invoke(cli, ["run", "rc-13-release", "--step"], input=letters)

    assert result.exit_code == 0, result.output
    assert "reply-lost strikes call Release#1" in result.stdout
    assert "leases w: holder" in result.stdout
    assert "client play#1 waits for AwaitTurn -> harness:a" in result.stdout
    assert "commit BeginRelease" in result.stdout
    assert result.stdout.count("there are steps 1 to") == 1
    assert "n or Enter  next step" in result.stdout
    assert result.stdout.splitlines()[-3].startswith("passed: recovery-blocked")
