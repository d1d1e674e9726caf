"""The text rules, against the recorded vectors and against oracles that share nothing with them."""

import hashlib
import itertools
import json
import pickle
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import rfc8785
from hypothesis import example, given, reject, settings
from hypothesis import strategies as st

from sim.text import (
    PREVIEW_GAP,
    DigestError,
    JsonError,
    bounded_preview,
    canonical_json,
    has_unpaired,
    pair,
    parse_json,
    shell_input_error,
    show,
    stringify,
    tool_digest,
    units,
    utf8,
)

VECTORS = Path(__file__).parent / "vectors"

Case = dict[str, Any]


def vectors(name: str) -> Case:
    return json.loads((VECTORS / f"{name}.json").read_text(encoding="utf-8"))


def report(wrong: list[str]) -> None:
    """Fail with every wrong case at once, in ASCII: a lone surrogate in a report would break the reporter."""
    assert not wrong, "\n" + "\n".join(ascii(line) for line in wrong)


def joined(code_units: list[int]) -> str:
    return b"".join(unit.to_bytes(2, "little") for unit in code_units).decode("utf-16-le", "surrogatepass")


# A loaded machine is no finding.
unhurried = settings(deadline=None)

# Plain `st.text()` never makes a surrogate, so text is made of code units, often surrogates side by side.
code_units = st.lists(
    st.one_of(
        st.sampled_from([0xD800, 0xDBFF, 0xDC00, 0xDFFF, 0xD83D, 0xDE00]),
        st.sampled_from([0, 0x0A, 0x1B, 0x22, 0x5C, 0x61, 0x7F, 0x2028, 0xD7FF, 0xE000, 0xFEFF]),
        st.integers(0, 0xFFFF),
    ),
    max_size=12,
)
utf16_text = code_units.map(joined)
ragged_text = code_units.map(lambda values: "".join(map(chr, values)))
well_formed = st.text(max_size=12)
doubles = st.floats(allow_nan=False, allow_infinity=False)


def json_values(text: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    scalars = st.one_of(st.none(), st.booleans(), doubles, text)
    return st.recursive(
        scalars,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=4),
        max_leaves=12,
    )


def naive_unpaired(values: list[int]) -> bool:
    """Say whether a half is alone, by looking at every code unit and its neighbours."""
    for at, unit in enumerate(values):
        following = values[at + 1] if at + 1 < len(values) else 0
        preceding = values[at - 1] if at else 0
        if 0xD800 <= unit < 0xDC00 and not 0xDC00 <= following < 0xE000:
            return True
        if 0xDC00 <= unit < 0xE000 and not 0xD800 <= preceding < 0xDC00:
            return True
    return False


# The Shell text check


def case_arguments(case: Case) -> object:
    return None if case["inputJson"] is None else parse_json(case["inputJson"])


@pytest.mark.parametrize("group", ["bad", "good", "other"])
def test_shell_text_vectors(group: str) -> None:
    cases = [case for case in vectors("validator")["cases"] if _family(case) == group]
    assert cases
    report(
        [
            f"{case['id']} {case['group']}: {answer!r}, expected {case['expected']!r}"
            for case in cases
            if (answer := shell_input_error(case["toolName"], case_arguments(case))) != case["expected"]
        ]
    )


def _family(case: Case) -> str:
    family = case["group"].split("/")[0]
    return family if family in {"bad", "good"} else "other"


def test_the_surrogate_test_is_a_rule_that_can_be_replaced() -> None:
    """Without its Unicode flag the pattern sees single code units, and refuses every valid emoji."""

    def without_unicode_flag(text: str) -> bool:
        return re.search("[\ud800-\udfff]", units(text)) is not None

    cases = vectors("validator")["cases"]
    wrong: list[str] = []
    separating = 0
    for case in cases:
        answer = shell_input_error(case["toolName"], case_arguments(case), without_unicode_flag)
        separating += answer != case["expected"]
        if answer != case["mutantNoUFlag"]:
            wrong.append(f"{case['id']} {case['group']}: {answer!r}, expected {case['mutantNoUFlag']!r}")
    report(wrong)
    assert separating


SURROGATE_ALPHABET = [[0x61], [0xD800], [0xDBFF], [0xDC00], [0xDFFF], [0xD83D, 0xDE00], [0x4E2D]]


@pytest.mark.parametrize("field", ["command", "description"])
def test_every_short_word_over_the_surrogate_alphabet(field: str) -> None:
    wrong: list[str] = []
    for length in range(4):
        for word in itertools.product(SURROGATE_ALPHABET, repeat=length):
            values = [unit for letter in word for unit in letter]
            # The same text as one string and as halves that arrived one by one.
            for text in (joined(values), "".join(map(chr, values))):
                refused = shell_input_error("run_shell_command", {"command": "pwd", field: text}) is not None
                if refused != naive_unpaired(values):
                    wrong.append(f"{field} {text!r}: refused is {refused}")
    report(wrong)


@unhurried
@given(code_units)
def test_unpaired_is_what_a_scan_of_code_units_finds(values: list[int]) -> None:
    assert has_unpaired(joined(values)) == naive_unpaired(values)
    assert has_unpaired("".join(map(chr, values))) == naive_unpaired(values)


@unhurried
@given(ragged_text, ragged_text)
def test_the_message_names_the_first_wrong_field_and_no_value(command: str, description: str) -> None:
    arguments = {"description": description, "command": command, "x\ud800": "\ud800"}
    message = shell_input_error("run_shell_command", arguments)
    if has_unpaired(command):
        assert message == (
            "Hosted Shell command contains an unpaired UTF-16 surrogate. Provide valid Unicode and retry."
        )
    elif has_unpaired(description):
        assert message == (
            "Hosted Shell description contains an unpaired UTF-16 surrogate. Provide valid Unicode and retry."
        )
    else:
        assert message is None
    assert arguments == {"description": description, "command": command, "x\ud800": "\ud800"}
    assert shell_input_error("write_file", arguments) is None


# UTF-16


@unhurried
@given(code_units)
def test_pairing_joins_what_utf16_joins_and_nothing_else(values: list[int]) -> None:
    ragged = "".join(map(chr, values))
    assert pair(ragged) == joined(values)
    assert pair(pair(ragged)) == pair(ragged)
    assert [ord(unit) for unit in units(ragged)] == values
    assert [ord(unit) for unit in units(pair(ragged))] == values


@unhurried
@given(utf16_text, utf16_text)
def test_a_pair_split_between_two_texts_is_one_character(left: str, right: str) -> None:
    assert units(pair(left + right)) == units(left) + units(right)


@unhurried
@given(ragged_text)
def test_utf8_replaces_only_what_has_no_encoding(text: str) -> None:
    assert utf8(text) == b"".join(
        b"\xef\xbf\xbd" if 0xD800 <= ord(character) < 0xE000 else character.encode()
        for character in pair(text)
    )


@unhurried
@given(ragged_text)
def test_shown_text_can_go_anywhere(text: str) -> None:
    shown = show(text)
    assert shown.encode().decode() == shown
    assert len(shown.splitlines()) <= 1
    assert not re.search(r"[\x00-\x1f\x7f-\x9f\ufffe\uffff]", shown)
    assert show(shown) == shown
    assert "".join(show(character) for character in pair(text)) == shown


@unhurried
@given(st.text(st.characters(categories=["L", "M", "N", "P", "S"]), max_size=12))
@example("\u00e9t\u00e9 \u4e2d\u6587 e\u0301 \\ud800 \U0001f469\u200d\U0001f467 \ufffd")
def test_printable_text_is_shown_unchanged(text: str) -> None:
    assert show(text) == text


def test_what_cannot_be_seen_is_shown_as_an_escape() -> None:
    assert show("a\ud800b") == r"a\ud800b"
    assert show("\udc00\ud83d\ude00") == "\\udc00\U0001f600"
    assert show("\x1b[31m\n\x7f\x9b\u2028\u202e\u2066") == r"\u001b[31m\u000a\u007f\u009b\u2028\u202e\u2066"


# The preview


def recorded_random(seed: int) -> Iterator[float]:
    """Repeat the generator that the vectors name."""
    state = seed
    while True:
        state = (state + 0x6D2B79F5) & 0xFFFFFFFF
        mixed = (state ^ state >> 15) * (state | 1) & 0xFFFFFFFF
        mixed ^= mixed + (mixed ^ mixed >> 7) * (mixed | 61) & 0xFFFFFFFF
        yield ((mixed ^ mixed >> 14) & 0xFFFFFFFF) / 2**32


def generated(piece: Case) -> str:
    if "lit" in piece:
        return piece["lit"]
    if "repeat" in piece:
        return piece["repeat"] * piece["count"]
    if "seq" in piece:
        seq = piece["seq"]
        numbers = range(seq["from"], seq["to"])
        return "".join(seq["unit"].replace("#", str(number).zfill(seq["pad"])) for number in numbers)
    rand = piece["rand"]
    picks = itertools.islice(recorded_random(rand["seed"]), rand["count"])
    return "".join(rand["alphabet"][int(pick * len(rand["alphabet"]))] for pick in picks)


def case_parts(case: Case) -> list[object]:
    return [
        part["json"] if "json" in part else {"text": "".join(map(generated, part["text"]))}
        for part in case["parts"]
    ]


def measured(text: str) -> Case:
    return {
        "utf16Length": len(units(text)),
        "utf8Bytes": len(utf8(text)),
        "utf8Sha256": hashlib.sha256(utf8(text)).hexdigest(),
        "utf16leSha256": hashlib.sha256(text.encode("utf-16-le", "surrogatepass")).hexdigest(),
    }


def described(preview: list[dict[str, str]]) -> Case:
    if not preview:
        return {"count": 0}
    text = preview[0]["text"]
    head, gap, tail = text.partition(PREVIEW_GAP)
    return {
        "count": len(preview),
        "keys": list(preview[0]),
        "truncated": bool(gap),
        "text": text,
        "head16": pair(units(text)[:16]),
        "tail16": pair(units(text)[-16:]),
        "headUtf8Bytes": len(utf8(head)),
        "tailUtf8Bytes": len(utf8(tail)),
        "gapAtUtf16": len(units(head)),
        **measured(text),
    }


def text_of(part: object) -> str | None:
    match part:
        case {"text": str() as text}:
            return text
        case _:
            return None


def test_preview_vectors() -> None:
    recorded = vectors("preview")
    assert recorded["gap"] == PREVIEW_GAP
    wrong: list[str] = []
    for case in recorded["cases"]:
        parts = case_parts(case)
        whole = pair("".join(text for part in parts if (text := text_of(part)) is not None))
        if measured(whole) != case["input"]:
            wrong.append(f"{case['id']} {case['group']}: the input is not the recorded one")
        actual = described(bounded_preview(parts))
        wrong += [
            f"{case['id']} {case['group']} {key}: {actual.get(key)!r}, expected {expected!r}"
            for key, expected in case["expected"].items()
            if actual.get(key) != expected
        ]
    report(wrong)


def brute_preview(text: str) -> str:
    """Try every cut from the permitted one inwards until the bytes decode."""
    encoded = utf8(text)
    if len(encoded) <= 8192:
        return text
    head = next(decoded for end in range(2048, -1, -1) if (decoded := decodes(encoded[:end])) is not None)
    tail = next(
        decoded for start in range(6083, -1, -1) if (decoded := decodes(encoded[-start:])) is not None
    )
    return (head[1:] if head[:1] == "\ufeff" else head) + PREVIEW_GAP + tail


def decodes(encoded: bytes) -> str | None:
    try:
        return encoded.decode()
    except UnicodeDecodeError:
        return None


letters = st.sampled_from(
    ["a", "\n", "\0", "\u00e9", "\u4e2d", "\U0001f600", "\ufeff", "\ud83d", "\ude00", "\u0301"]
)
long_text = st.lists(
    st.tuples(st.lists(letters, min_size=1, max_size=5).map("".join), st.integers(1, 2100)), max_size=5
).map(lambda runs: "".join(run * count for run, count in runs))


@unhurried
@given(long_text, st.lists(st.integers(0, 30_000), max_size=3))
def test_preview_is_the_longest_that_decodes(text: str, cuts: list[int]) -> None:
    text = pair(text)
    edges = [0, *sorted(cuts), len(text) + 30_000]
    parts: list[object] = [{"text": text[start:end]} for start, end in itertools.pairwise(edges)]
    preview = bounded_preview([None, "ignored", {"text": 7}, *parts])
    assert preview == ([{"text": brute_preview(text)}] if text else [])
    assert not preview or len(utf8(preview[0]["text"])) <= 8192


# Canonical JSON and the tool digest


def nested(depth: int, leaf: object, wrap: Callable[[object], object]) -> object:
    for _ in range(depth):
        leaf = wrap(leaf)
    return leaf


def in_list(inner: object) -> object:
    return [inner]


def in_object(inner: object) -> object:
    return {"k": inner}


def case_value(case: Case) -> object:
    if "inputJson" in case:
        return parse_json(case["inputJson"])
    made = case["generator"]
    match made["kind"]:
        case "stringOf":
            return made["unit"] * made["count"]
        case "nestArrays":
            return nested(made["depth"], made["leaf"], in_list)
        case "nestArraysEmpty":
            return nested(made["depth"] - 1, [], in_list)
        case "nestObjects":
            return nested(made["depth"], made["leaf"], lambda inner: {made["key"]: inner})
        case "objectStringField":
            return {made["key"]: made["unit"] * made["count"]}
        case "arrayOf":
            return [made["item"]] * made["count"]
        case "manyKeys":
            return {f"k{made['count'] - at}": at for at in range(made["count"])}
        case unknown:
            raise AssertionError(f"no such generator: {unknown}")


def digest_or_kind(value: object, max_bytes: float | None = None) -> str:
    try:
        return tool_digest(value, max_bytes)
    except DigestError as error:
        return error.kind


def test_every_refusal_has_the_same_code() -> None:
    with pytest.raises(DigestError) as refusal:
        tool_digest(1, 0)
    assert refusal.value.code == "managed_tool_invalid_request"


def test_refusals_can_cross_to_another_process() -> None:
    for refused in (lambda: tool_digest({}, 1), lambda: parse_json("[1")):
        with pytest.raises(ValueError, match=r"than the limit|not JSON") as refusal:
            refused()
        copy = pickle.loads(pickle.dumps(refusal.value))
        assert (type(copy), str(copy), vars(copy)) == (
            type(refusal.value),
            str(refusal.value),
            vars(refusal.value),
        )


def test_digest_vectors() -> None:
    wrong: list[str] = []
    for case in vectors("digest")["cases"]:
        value, expected = case_value(case), case["expected"]
        answer = digest_or_kind(value, case["maxBytes"])
        if answer != (expected["error"] or expected["digest"]):
            wrong.append(f"{case['id']} {case['group']}: {answer}, expected {expected}")
        if not expected["error"] and len(canonical_json(value).encode()) != expected["canonicalUtf8Bytes"]:
            wrong.append(f"{case['id']} {case['group']}: {len(canonical_json(value).encode())} bytes")
        if "canonical" in expected and canonical_json(value) != expected["canonical"]:
            wrong.append(f"{case['id']} {case['group']}: {canonical_json(value)!r}")
    report(wrong)


@unhurried
@given(json_values(well_formed))
def test_canonical_json_is_rfc_8785_where_that_is_defined(value: object) -> None:
    assert canonical_json(value).encode() == rfc8785.dumps(value)  # pyright: ignore[reportArgumentType]


@unhurried
@given(doubles)
@example(5e-324)
@example(1e21)
@example(1e-7)
@example(123456789012345680000.0)
def test_numbers_are_laid_out_as_ecmascript_does(number: float) -> None:
    text = canonical_json(number)
    assert text.encode() == rfc8785.dumps(number)
    assert float(text) == number


@unhurried
@given(json_values(ragged_text))
def test_canonical_json_reads_back_as_itself(value: object) -> None:
    try:
        text = canonical_json(value)
    except DigestError:
        reject()  # Two keys of one dict were one key in UTF-16.
    assert not has_unpaired(text)
    assert canonical_json(parse_json(text)) == text
    assert tool_digest(value) == hashlib.sha256(text.encode()).hexdigest()


@unhurried
@given(st.dictionaries(utf16_text, doubles, max_size=6), st.randoms(use_true_random=False))
def test_key_order_does_not_matter(fields: dict[str, float], random: Any) -> None:
    shuffled = list(fields.items())
    random.shuffle(shuffled)
    assert tool_digest(dict(shuffled)) == tool_digest(fields)


@unhurried
@given(json_values(utf16_text))
def test_the_size_limit_is_exact(value: object) -> None:
    size = len(canonical_json(value).encode())
    assert digest_or_kind(value, size) == tool_digest(value)
    assert digest_or_kind(value, size - 1) == ("size" if size > 1 else "limit")


@pytest.mark.parametrize("max_bytes", [0, -1, 1.5, 2.0**53, float("inf"), float("nan"), True])
def test_a_limit_must_be_a_positive_safe_integer(max_bytes: float) -> None:
    assert digest_or_kind(float("nan"), max_bytes) == "limit"
    assert digest_or_kind(1, 2**53 - 1) == tool_digest(1)


@pytest.mark.parametrize("wrap", [in_list, in_object])
def test_depth_is_counted_from_the_outermost_value(wrap: Callable[[object], object]) -> None:
    assert len(digest_or_kind(nested(64, 1, wrap))) == 64
    assert digest_or_kind(nested(65, 1, wrap)) == "depth"
    assert digest_or_kind(nested(65, object(), wrap)) == "depth"
    assert digest_or_kind(nested(64, object(), wrap)) == "data"


def test_the_first_wrong_thing_from_left_to_right_is_the_answer() -> None:
    deep, bad = nested(70, 1, in_list), float("inf")
    assert digest_or_kind(["xx", deep], 4) == "size"
    assert digest_or_kind(deep, 30) == "size"
    assert digest_or_kind(deep, 64) == "size"
    assert digest_or_kind(deep, 65) == "depth"
    assert digest_or_kind([deep, bad]) == "depth"
    assert digest_or_kind([bad, deep]) == "data"
    assert digest_or_kind([bad, "xxxxx"], 4) == "data"
    assert digest_or_kind({"b": bad, "a": "xxxxx"}, 8) == "size"
    assert digest_or_kind({7: "xxxxx"}, 1) == "data"
    assert digest_or_kind({"xxxxx": bad}, 5) == "size"


def cycle() -> object:
    inner: list[object] = []
    inner.append({"again": inner})
    return inner


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        float("-inf"),
        10**400,
        {1: 1},
        {"\U0001f600": 1, "\ud83d\ude00": 2},
        b"bytes",
        {1, 2},
        object(),
        cycle(),
    ],
    ids=["nan", "infinity", "huge", "number key", "one key twice", "bytes", "set", "object", "cycle"],
)
def test_what_is_not_plain_json_data(value: object) -> None:
    assert digest_or_kind(value) == "data"
    with pytest.raises(DigestError, match="plain JSON data"):
        canonical_json([value])


def test_the_same_value_twice_is_no_cycle() -> None:
    shared = ["x"]
    assert canonical_json([shared, {"a": shared}, shared]) == '[["x"],{"a":["x"]},["x"]]'


def test_integers_are_doubles() -> None:
    assert canonical_json([2**53 + 1, -0.0, 10**21, True, (1, 2)]) == "[9007199254740992,0,1e+21,true,[1,2]]"


# ECMAScript's own JSON


def test_deep_nesting_never_exhausts_the_interpreter() -> None:
    arrays = "[" * 100_000 + "]" * 100_000
    objects = '{"k":' * 10_000 + "1" + "}" * 10_000
    for text in (arrays, objects):
        value = parse_json(text)
        assert canonical_json(value) == text
        assert digest_or_kind(value) == "depth"
        assert bounded_preview([value]) == []
        with pytest.raises(JsonError):
            parse_json(text[:-1])


def refuse_constant(name: str) -> float:
    raise ValueError(name)


def stdlib_value(text: str) -> object:
    """Parse as the standard library does, made strict, then join pairs that it leaves apart."""
    value = json.loads(text, parse_int=float, parse_constant=refuse_constant)
    return json.loads(json.dumps(value))


WORDS = ["null", "true", "false", "NaN", "Infinity", "d83d", "de00", "1e400", "-0", "10", "00", "\\u", "\\n"]
MARKS = [*"[]{},:\"\\'/+-.eE01 \t\n\r\v\0\x1f\x7f\xa0\ud83d\ude00\u0661\ufeff", '"a"', '"__proto__"']
tokens = st.sampled_from([*WORDS, *MARKS])


def spoiled(value: object, noise: str, at: int) -> str:
    text = json.dumps(value)
    at %= len(text) + 1
    return text[:at] + noise + text[at:]


near_json = st.builds(
    spoiled, json_values(utf16_text), st.lists(tokens, max_size=2).map("".join), st.integers(0, 200)
)


@unhurried
@given(st.lists(tokens, max_size=8).map("".join) | near_json)
def test_parsing_accepts_and_answers_what_a_strict_parser_does(text: str) -> None:
    try:
        expected = stdlib_value(text)
    except ValueError:
        with pytest.raises(JsonError) as refusal:
            parse_json(text)
        assert 0 <= refusal.value.position <= len(text)
        assert str(refusal.value).isascii()
        return
    value = parse_json(text)
    assert json.dumps(value) == json.dumps(expected)


PARSED: list[tuple[str, object]] = [
    ("1", 1.0),
    ("1e400", float("inf")),
    ("-1e400", float("-inf")),
    ("9007199254740993", 9007199254740992.0),
    ('{"a":1,"b":2,"a":3}', {"a": 3.0, "b": 2.0}),
    ('{"__proto__":{"a":1}}', {"__proto__": {"a": 1.0}}),
    (r'"\ud83d\ude00"', "\U0001f600"),
    ('"\ud83d\\ude00"', "\U0001f600"),
    ('{"\ud83d\\ude00":1,"\U0001f600":2}', {"\U0001f600": 2.0}),
    (r'"\uDE00\uD83D"', "\ude00\ud83d"),
    (r'"\\ud800\/\u0041"', "\\ud800/A"),
    ('"\x7f\u2028"', "\x7f\u2028"),
    (" \t\r\n[ ] ", []),
]


def test_parsing_by_example() -> None:
    for text, value in PARSED:
        parsed = parse_json(text)
        assert (ascii(text), type(parsed), parsed) == (ascii(text), type(value), value)


REFUSED = [
    *("", " ", "NaN", "-Infinity", "nul", "True", "/**/1", "'a'", "1 2", "\ufeff1", "\xa01", "1\x0b", "\f1"),
    *("01", "+1", "1.", ".5", "1e", "-", "1_0", "\u0661"),
    *("[", "]", "[1,]", "[,1]", "[1}", "{", '{"a"}', '{"a":}', '{"a":1,}', '{"a":1]', "{a:1}", "{1:2}"),
    *('"', '"a', '"\n"', '"\x00"', '"\x1f"', '"\\x41"', '"\\u12"', '"\\u12g4"'),
]


def accepted(text: str) -> bool:
    try:
        parse_json(text)
    except JsonError:
        return False
    return True


def test_parsing_refuses() -> None:
    report([text for text in REFUSED if accepted(text)])
    with pytest.raises(JsonError, match="expected ',' or ']' at character 4"):
        parse_json("[1 \n2]")
    with pytest.raises(JsonError, match="expected a key at character 7"):
        parse_json('{"a":1,}')


def test_stringify_lists_keys_as_an_ecmascript_object_does() -> None:
    fields = {
        "b": 1,
        "10": 2,
        "01": 3,
        "9": 4,
        "4294967295": 5,
        "4294967294": 6,
        "\uff5e": 7,
        "\U0001f600": 8,
    }
    assert stringify({"z": [fields, float("nan")], "-1": None}) == (
        '{"z":[{"9":4,"10":2,"4294967294":6,"b":1,"01":3,"4294967295":5,"\uff5e":7,"\U0001f600":8},null],"-1":null}'
    )
    assert stringify(fields, sort_keys=True) == (
        '{"9":4,"10":2,"4294967294":6,"01":3,"4294967295":5,"b":1,"\U0001f600":8,"\uff5e":7}'
    )
