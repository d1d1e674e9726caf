"""What a new scenario file begins as, and the schema that stands beside it."""

from __future__ import annotations

import json

from scenarios.files.form import schema

SCHEMA = "scenario.schema.json"
"""The file of the schema, where an editor looks for it."""

STARTER = f"""#:schema ./{SCHEMA}
# A scenario of Turnproof. Try:  turnproof run THIS_FILE    turnproof sweep THIS_FILE    pytest THIS_FILE
# `turnproof validate` names every error with its line; docs/scenario-files.md tells what each key means.

why = "a build is run once, and its failure is told to the model"

# design = "scaled"             # or "seed": every size and time real
# answers = {{ "lease.is_held" = false }}  # what a rule of the design always answers instead: who notices?
# faults = ["harness:a:call:Release#1=reply-lost"]

[[session]]
name = "a"
workspace = "w"

[[session.turn]]
prompt = "build it"
# cancel = "worker:w:act:Spawn#1"   # the user cancels when this is reached

[[session.turn.answer]]             # the first thing the model answers: a batch of calls
calls = [
  {{ command = "make", timeout = 40_000 }},
  # arguments as JSON text, in which escapes can say anything, also half a character:
  # {{ json = '{{"command": "echo \\ud800"}}' }},
]

[[session.turn.answer]]             # and the next, when it has seen the results
text = "done"

[[program]]                         # what a command does; without one: a file, both streams, exit 0
command = "make"
step = [
  {{ touch = "effects.log", line = "made" }},
  {{ print = "stdout", text = "compiling\\n", times = 3 }},
  {{ print = "stderr", random = "a seed", bytes = 40 }},
  {{ pass-ms = 1_500 }},
  {{ exit = 2 }},
]

[promise]                           # what is not promised is taken from the run as it is
endings = ["completed"]
spawns = 1
lease = "free"
"""


def schema_text() -> str:
    """The JSON Schema of scenario files, as it is published."""
    return json.dumps(schema(), indent=2) + "\n"
