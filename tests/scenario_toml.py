"""A row of ours as a scenario file: what an author would write, for tests that compare both."""

import json
from base64 import b64encode

from msgspec.structs import asdict

from sim.design import SCALED, SEED, SMALL
from sim.scenario import Exit, Generate, Pass, Print, Touch

DESIGNS = {SEED.name: ("seed", SEED), SMALL.name: ("small", SMALL), SCALED.name: ("scaled", SCALED)}


def quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def step(step) -> str:
    match step:
        case Touch(file, line):
            return f"{{ touch = {quoted(file)}, line = {quoted(line)} }}"
        case Print(stream, unit, count):
            return f'{{ print = "{stream}", base64 = "{b64encode(unit).decode()}", times = {count} }}'
        case Generate(stream, seed, length):
            return f'{{ generate = "{stream}", seed = {quoted(seed)}, bytes = {length} }}'
        case Pass(ms):
            return f"{{ pass-ms = {ms} }}"
        case Exit(code):
            return f"{{ exit = {code} }}"


def call(call) -> str:
    flags = f"truncated = {str(call.truncated).lower()}, incomplete = {str(call.incomplete).lower()}"
    return f"{{ id = {quoted(call.id)}, tool = {quoted(call.name)}, json = '''{call.arguments}''', {flags} }}"


def limits(design) -> list[str]:
    """The limits in which a design differs from the one whose name it bears."""
    usual = asdict(DESIGNS[design.name][1].limits)
    others = {name: limit for name, limit in asdict(design.limits).items() if limit != usual[name]}
    told = [f"{name.replace('_', '-')} = {limit}" for name, limit in others.items()]
    return ["[limits]", *told] if told else []


def toml(row) -> str:
    design = DESIGNS[row.design.name][0]
    lines = [f'design = "{design}"', f"faults = {json.dumps(list(row.faults))}", *limits(row.design)]
    lines += [f"reread = {str(row.scenario.reread).lower()}", f"strict = {str(row.scenario.strict).lower()}"]
    for session in row.scenario.sessions:
        lines += ["[[session]]", f'name = "{session.name}"', f'workspace = "{session.workspace}"']
        lines += [f"after = {quoted(session.after)}"]
        lines += [f"profiles = {json.dumps([each.profile for each in session.definitions])}"]
        lines += [f"provisioner = {quoted(session.definitions[0].provisioner)}"]
        lines += [f'leader = "{session.leader}"']
        for turn in session.turns:
            lines += ["[[session.turn]]", f"prompt = {quoted(turn.text)}", f"cancel = {quoted(turn.cancel)}"]
            lines += [f"prompt-id = {quoted(turn.prompt)}", f"then = {quoted(turn.then)}"]
            for answer in turn.answers:
                batch = ",\n".join(map(call, answer.calls))
                said = f"calls = [\n{batch}\n]" if answer.calls else f"text = {quoted(answer.text)}"
                lines += ["[[session.turn.answer]]", said]
        for aside in session.asides:
            lines += ["[[session.aside]]", f"at = {quoted(aside.at)}", f"deed = {quoted(aside.deed)}"]
            lines += [f"prompt-id = {quoted(aside.prompt)}", f"prompt = {quoted(aside.text)}"]
            lines += [f"later-ms = {aside.later}"]
    for program in row.scenario.programs:
        lines += ["[[program]]", f"command = {quoted(program.command)}"]
        lines += [f"step = [{', '.join(map(step, program.steps))}]"]
    return "\n".join(lines) + "\n"
