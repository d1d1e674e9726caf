from click.testing import CliRunner

from reports.cli import cli
from reports.demo import Demo, scenario
from scenarios.files import problems


def test_the_demo_finds_its_bug_because_it_is_there():
    planted, whole = Demo(planted=True, columns=80), Demo(planted=False, columns=80)

    assert problems(scenario(planted=True)) == []
    assert len(planted.records) == len(whole.records)
    assert planted.findings
    assert not whole.findings
    assert "released-before-settled" in planted.findings[0].says[0]


def test_the_demo_tells_the_finding_and_how_to_go_on(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told = CliRunner().invoke(cli, ["demo"])

    assert told.exit_code == 0, told.output
    for chapter in (
        "1. A rule",
        "2. The sweep",
        "3. The first",
        "4. What",
        "5. The nearest",
        "6. By yourself",
    ):
        assert chapter in told.stdout
    assert "reply-lost strikes call Acquire#1" in told.stdout
    assert CliRunner().invoke(cli, ["demo"]).stdout == told.stdout

    assert CliRunner().invoke(cli, ["demo", "--save", "demo.turn.toml"]).exit_code == 0
    swept = CliRunner().invoke(cli, ["sweep", "demo.turn.toml", "reply-lost", "Acquire", "-j", "1"])
    assert swept.exit_code == 1
    assert CliRunner().invoke(cli, ["demo", "--save", "demo.turn.toml"]).exit_code == 2
