"""The id rules, against the recorded vectors and against oracles that share nothing with them."""

import hashlib
import json
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from hypothesis import given, settings
from hypothesis import strategies as st

from sim.ids import (
    capture_id,
    hook_child_id,
    hook_plan_id,
    segment_resource_id,
    semantic_input_digest,
    shell_history_id,
)

VECTORS = Path(__file__).parent / "vectors" / "ids.json"

RULES: dict[str, Callable[..., str]] = {
    "shellHistoryId": shell_history_id,
    "segmentResourceId": segment_resource_id,
    "captureId": capture_id,
    "hookPlanId": hook_plan_id,
    "hookChildId": hook_child_id,
    "semanticInputDigest": semantic_input_digest,
}

# A loaded machine is no finding.
unhurried = settings(deadline=None)

code_units = st.lists(st.sampled_from([0x61, 0x22, 0x0A, 0xD83D, 0xDE00, 0xE000]) | st.integers(0, 0xFFFF))
texts = code_units.map(
    lambda values: b"".join(unit.to_bytes(2, "little") for unit in values).decode(
        "utf-16-le", "surrogatepass"
    )
)


def compact(value: object) -> bytes:
    """Write JSON as ECMAScript does, by the standard library: raw text, but escapes for lone surrogates."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return "".join(f"\\u{ord(unit):04x}" if 0xD800 <= ord(unit) < 0xE000 else unit for unit in text).encode()


def sha256(value: object) -> str:
    return hashlib.sha256(compact(value)).hexdigest()


def test_id_vectors() -> None:
    cases: list[dict[str, Any]] = json.loads(VECTORS.read_text(encoding="utf-8"))["cases"]
    wrong = [
        ascii(f"{case['fn']}{case['input']}: {answer}, expected {case['expected']}")
        for case in cases
        if (answer := RULES[case["fn"]](*case["input"])) != case["expected"]
    ]
    assert not wrong, "\n" + "\n".join(wrong)
    assert {case["fn"] for case in cases} == set(RULES)


@unhurried
@given(texts)
def test_history_ids_are_version_5_uuids_over_the_encoded_name(execution: str) -> None:
    encoded = "".join("\ufffd" if 0xD800 <= ord(unit) < 0xE000 else unit for unit in execution).encode()
    digest = hashlib.sha1(b"qwen-hosted-shell-history/1:" + encoded, usedforsecurity=False).digest()
    assert shell_history_id(execution) == str(uuid.UUID(bytes=digest[:16], version=5))


@unhurried
@given(texts, st.integers(0, 65_535))
def test_ids_are_hashes_of_the_compact_json_of_their_parts(text: str, ordinal: int) -> None:
    assert segment_resource_id(text, "stdout", ordinal) == sha256([text, "stdout", ordinal])
    assert segment_resource_id(text, "stderr", "seal") == sha256([text, "stderr", "seal"])
    key = {"tenantId": text, "workspaceId": "w", "sessionId": "s"}
    assert capture_id(key, text, "42") == sha256([key, text, "42"])[:32]
    assert hook_plan_id("PreToolUse", text) == "hook-plan-" + sha256(["PreToolUse", text])
    assert hook_child_id(text, ordinal) == "hook-" + sha256([text, ordinal])


DELIVERY = ["session_id", "transcript_path", "cwd", "hook_event_name", "timestamp", "messages"]
names = st.sampled_from([*DELIVERY, "tool_input", "command", "b", "a", "\uff5e", "\U0001f600"])
scalars = st.none() | st.booleans() | st.integers(-9, 9) | texts
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=6,
)


def in_order(value: object) -> object:
    match value:
        case dict():
            fields = cast(dict[str, object], value)
            return {key: in_order(fields[key]) for key in sorted(fields, key=utf16)}
        case list():
            return [in_order(item) for item in cast(list[object], value)]
        case _:
            return value


def utf16(key: str) -> bytes:
    return key.encode("utf-16-be")


@unhurried
@given(st.dictionaries(names, values, max_size=6))
def test_a_hook_input_means_what_is_not_delivery(hook_input: dict[str, Any]) -> None:
    meant = {key: value for key, value in hook_input.items() if key not in DELIVERY}
    assert semantic_input_digest(hook_input) == sha256(in_order(meant))
    redelivered = dict(reversed(hook_input.items())) | dict.fromkeys(DELIVERY, "other")
    assert semantic_input_digest(redelivered) == semantic_input_digest(hook_input)


def test_delivery_fields_count_below_the_top() -> None:
    assert semantic_input_digest({"tool_input": {"cwd": "a"}}) != semantic_input_digest(
        {"tool_input": {"cwd": "b"}}
    )


def test_integer_like_keys_come_first_and_by_number() -> None:
    expected = hashlib.sha256(b'{"2":{"9":null,"10":1},"01":3,"a":4}').hexdigest()
    assert semantic_input_digest({"a": 4, "01": 3, "2": {"10": 1, "9": float("inf")}}) == expected
