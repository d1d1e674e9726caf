"""Text as the system under test sees it: UTF-16 strings, ECMAScript JSON, bounded previews.

A string of that system is a sequence of 16-bit code units and may hold half of a surrogate pair. A Python
string may hold both halves of one pair as two characters, which that system cannot tell from one character.
So text is paired where it enters (`parse_json`, `pair`) and made visible where it leaves (`show`).
"""

import hashlib
import json
import math
import re
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias, cast

Json: TypeAlias = "bool | float | str | list[Json] | dict[str, Json] | None"
"""A parsed JSON value. Every number is a double, as in ECMAScript."""

SHELL_TOOL: Final = "run_shell_command"
SHELL_TEXT_FIELDS: Final = ("command", "description")

PREVIEW_BYTES: Final = 8 * 1024
PREVIEW_HEAD_BYTES: Final = 2 * 1024
PREVIEW_GAP: Final = "\n[... preview truncated; end of buffered output follows ...]\n"

DIGEST_BYTES: Final = 256 * 1024
DIGEST_DEPTH: Final = 64
MAX_SAFE_INTEGER: Final = 2**53 - 1

_SURROGATE = re.compile(r"[\ud800-\udfff]")
_BYTE_ORDER_MARK = "\ufeff"
_REPLACEMENT = "\ufffd"
# Controls, lone surrogates, what breaks or reorders a line, and the two characters that XML cannot carry.
_INVISIBLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")


def pair(text: str) -> str:
    """Return `text` with each high surrogate joined to a low surrogate that follows it; unpaired ones stay.

    Apply it after joining text from two sources: one character may have been split between them.
    """
    if text.isascii() or _SURROGATE.search(text) is None:
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def units(text: str) -> str:
    """Return the UTF-16 code units of `text` as characters, so that its length is the ECMAScript length."""
    encoded = text.encode("utf-16-le", "surrogatepass")
    return "".join(map(chr, struct.unpack(f"<{len(encoded) // 2}H", encoded)))


def utf8(text: str) -> bytes:
    """Return the UTF-8 bytes of `text`, with U+FFFD for each unpaired surrogate, as the original encodes it.

    The length in bytes is that of `text`, because a surrogate and its replacement take three bytes each.
    """
    return _SURROGATE.sub(_REPLACEMENT, pair(text)).encode()


def has_unpaired(text: str) -> bool:
    r"""Say whether a UTF-16 surrogate in `text` lacks its other half: `/[\uD800-\uDFFF]/u` (000 §3)."""
    return _SURROGATE.search(pair(text)) is not None


def show(text: str) -> str:
    r"""Return `text` fit for a person, a terminal or a report, always encodable as UTF-8.

    Everything that reaches a person passes here. Unpaired surrogates, control characters (line breaks too),
    line and paragraph separators, direction overrides, U+FFFE and U+FFFF become `\ud800`-style escapes; all
    else stays. The same six characters typed as text look alike afterwards: this is for reading, never for
    reading back.
    """
    return _INVISIBLE.sub(_escape, pair(text))


def _escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match.group()):04x}"


def texts_in(value: object) -> Iterator[str]:
    """Every text in a JSON `value`, keys included, from left to right."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, list):
            waiting.extend(reversed(cast(list[object], item)))
        elif isinstance(item, dict):
            for key, part in reversed(cast(dict[str, object], item).items()):
                waiting += [part, key]


def shell_input_error(
    tool_name: object, arguments: object, unpaired: Callable[[str], bool] = has_unpaired
) -> str | None:
    """Return the fixed message for Shell text with an unpaired surrogate, or None (000 §3).

    Only `command` and then `description` are tested, each only if it is text, and only for the Shell tool.
    The message names the field and never its value. `unpaired` is the surrogate test, so that a design may
    hold another.
    """
    if tool_name != SHELL_TOOL or not isinstance(arguments, Mapping):
        return None
    fields = cast(Mapping[object, object], arguments)
    for field in SHELL_TEXT_FIELDS:
        text = fields.get(field)
        if isinstance(text, str) and unpaired(text):
            return (
                f"Hosted Shell {field} contains an unpaired UTF-16 surrogate. "
                "Provide valid Unicode and retry."
            )
    return None


def bounded_preview(parts: Iterable[object]) -> list[dict[str, str]]:
    """Return the model-facing preview of `parts`: nothing, or one text part of at most 8192 UTF-8 bytes.

    The text of all parts is joined first. Longer text keeps up to 2048 bytes of its head, a 61-byte marker,
    and its tail, cut at UTF-8 boundaries (003 Ownership and transport). Text that fits is unchanged; text
    that is cut loses a byte-order mark at its start and has U+FFFD for unpaired surrogates.
    """
    text = pair("".join(map(_part_text, parts)))
    encoded = utf8(text)
    if len(encoded) <= PREVIEW_BYTES:
        return [{"text": text}] if text else []
    # Well-formed bytes can only be cut inside the last character, which is what "ignore" then drops.
    head = encoded[:PREVIEW_HEAD_BYTES].decode(errors="ignore").removeprefix(_BYTE_ORDER_MARK)
    start = len(encoded) - (PREVIEW_BYTES - PREVIEW_HEAD_BYTES - len(PREVIEW_GAP))
    while encoded[start] & 0xC0 == 0x80:
        start += 1
    return [{"text": head + PREVIEW_GAP + encoded[start:].decode()}]


def _part_text(part: object) -> str:
    text = cast(Mapping[object, object], part).get("text") if isinstance(part, Mapping) else None
    return text if isinstance(text, str) else ""


DigestKind: TypeAlias = Literal["limit", "size", "depth", "data"]

_DIGEST_REASONS: Final[Mapping[DigestKind, str]] = {
    "limit": "the size limit is not a positive safe integer",
    "size": "the canonical JSON has more bytes than the limit",
    "depth": f"the value is nested deeper than {DIGEST_DEPTH}",
    "data": "the value is not plain JSON data",
}


class DigestError(ValueError):
    """A value that has no tool digest. `kind` says why; `code` is what the original answers for all kinds."""

    code: Final = "managed_tool_invalid_request"

    def __init__(self, kind: DigestKind) -> None:
        super().__init__(kind)
        self.kind: Final[DigestKind] = kind

    def __str__(self) -> str:
        return _DIGEST_REASONS[self.kind]


def tool_digest(value: object, max_bytes: float | None = DIGEST_BYTES) -> str:
    """Return the identity of tool arguments: the SHA-256 of their canonical JSON, as 64 hex digits.

    The digest that names Tool v3 arguments (003 Identity, admission and model history). `max_bytes` bounds
    the canonical text in UTF-8; None stands for the default. Raises `DigestError`: `limit` before anything
    else, then whatever comes first from left to right in the canonical text: `size` as soon as the text so
    far is too long, `depth` at a value more than 64 containers down, `data` where a value that is not plain
    JSON data would start.
    """
    limit = DIGEST_BYTES if max_bytes is None else max_bytes
    if isinstance(limit, bool) or not 0 < limit <= MAX_SAFE_INTEGER or limit % 1:
        raise DigestError("limit")
    text: list[str] = []
    refused: DigestError | None = None
    try:
        _write(text, value, _CANONICAL, DIGEST_DEPTH, 2 * limit)
    except DigestError as error:
        refused = error
    written = "".join(text).encode()
    if len(written) > limit:
        raise DigestError("size")
    if refused is not None:
        raise refused
    return hashlib.sha256(written).hexdigest()


def canonical_json(value: object) -> str:
    """Return the one JSON text of `value`: RFC 8785, with unpaired surrogates as lower-case escapes.

    Keys are in the order of their UTF-16 code units, numbers are ECMAScript's. There is no limit of size or
    depth. Raises `DigestError` of kind `data` for what JSON cannot say: NaN, infinities, cycles, keys that
    are not text.
    """
    return _written(value, _CANONICAL)


def stringify(value: object, *, sort_keys: bool = False) -> str:
    """Return what ECMAScript's `JSON.stringify` writes: keys as inserted, integer-like keys first, by number.

    With `sort_keys` the keys are inserted in the order of their UTF-16 code units. A number that is not
    finite is `null`. Raises `DigestError` of kind `data` for what is not plain JSON data.
    """
    return _written(value, _SORTED if sort_keys else _INSERTED)


def _utf16_order(keys: Iterable[str]) -> list[str]:
    names = list(keys)
    if "".join(names).isascii():
        return sorted(names)
    return sorted(names, key=lambda key: key.encode("utf-16-be", "surrogatepass"))


_ARRAY_INDEX = re.compile(r"0|[1-9][0-9]{0,9}")
_MAX_ARRAY_INDEX = 2**32 - 2


def _own_order(keys: Iterable[str]) -> list[str]:
    """Order `keys` as an ECMAScript object lists them: array indexes by number, then the rest as given."""
    indexes: list[str] = []
    names: list[str] = []
    for key in keys:
        is_index = _ARRAY_INDEX.fullmatch(key) is not None and int(key) <= _MAX_ARRAY_INDEX
        (indexes if is_index else names).append(key)
    return sorted(indexes, key=int) + names


def _sorted_own_order(keys: Iterable[str]) -> list[str]:
    return _own_order(_utf16_order(keys))


class _Form(NamedTuple):
    """A way to write JSON. Without a text for numbers that are not finite, they are refused."""

    order: Callable[[Iterable[str]], list[str]]
    not_finite: str | None


_CANONICAL = _Form(_utf16_order, None)
_INSERTED = _Form(_own_order, "null")
_SORTED = _Form(_sorted_own_order, "null")


class _Container(NamedTuple):
    """A container being written: each member comes with the text that stands before it."""

    value: object
    opening: str
    members: Iterator[tuple[str, object]]
    closing: str


def _written(value: object, form: _Form) -> str:
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, list):
        items = cast(list[object], value)
        flat = [text for text in (_scalar(item, form) for item in items) if text is not None]
        if len(flat) == len(items):
            return f"[{','.join(flat)}]"
    pieces: list[str] = []
    _write(pieces, cast(object, value), form)
    return "".join(pieces)


def _write(
    text: list[str], value: object, form: _Form, max_depth: float = math.inf, max_pieces: float = math.inf
) -> None:
    """Write `value` from left to right, on a stack of its own: no nesting may exhaust the interpreter's.

    When it is refused, `text` holds what comes before the place. No character takes more than two pieces, so
    that a limit of pieces keeps a value that holds one list many times from growing without end.
    """
    open_: list[_Container] = [_Container(None, "", iter([("", value)]), "")]
    inside: set[int] = set()
    while open_:
        if len(text) > max_pieces:
            raise DigestError("size")
        container = open_[-1]
        for before, item in container.members:
            text.append(before)
            if len(open_) - 1 > max_depth:
                raise DigestError("depth")
            scalar = _scalar(item, form)
            if scalar is not None:
                text.append(scalar)
                continue
            if id(item) in inside:
                raise DigestError("data")
            open_.append(_container(item, form))
            text.append(open_[-1].opening)
            inside.add(id(item))
            break
        else:
            text.append(container.closing)
            inside.discard(id(container.value))
            open_.pop()


def _scalar(value: object, form: _Form) -> str | None:
    """Return the JSON text of `value`, or None if it is no scalar."""
    if isinstance(value, str):
        return _quoted(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        text = _number(value) or form.not_finite
        if text is None:
            raise DigestError("data")
        return text
    return None


def _container(value: object, form: _Form) -> _Container:
    if isinstance(value, list | tuple):
        items = cast(Sequence[object], value)
        return _Container(value, "[", (("," if at else "", item) for at, item in enumerate(items)), "]")
    if isinstance(value, Mapping):
        return _Container(value, "{", _fields(cast(Mapping[object, object], value), form), "}")
    raise DigestError("data")


def _fields(value: Mapping[object, object], form: _Form) -> Iterator[tuple[str, object]]:
    fields = {pair(key): item for key, item in value.items() if isinstance(key, str)}
    # Fewer fields: some key is no text, or two keys are the same text in UTF-16.
    if len(fields) != len(value):
        raise DigestError("data")
    keys = form.order(fields)
    return ((f"{',' if at else ''}{_quoted(key)}:", fields[key]) for at, key in enumerate(keys))


_quote = json.JSONEncoder(ensure_ascii=False).encode


def _quoted(text: str) -> str:
    """Return `text` as `JSON.stringify` does: escapes for quotes, backslashes, C0, lone surrogates."""
    quoted = _quote(pair(text))
    return quoted if quoted.isascii() else _SURROGATE.sub(_escape, quoted)


def _number(number: float) -> str | None:
    """Return the ECMAScript text of `number` as a double, or None if that is not finite."""
    try:
        double = float(number)
    except OverflowError:
        return None
    if not math.isfinite(double):
        return None
    if double == 0:
        return "0"
    # Both languages write the shortest digits that read back as the same double; only the layout differs.
    coefficient, _, exponent = repr(abs(double)).partition("e")
    whole, _, fraction = coefficient.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(digits) - len(fraction) + int(exponent or 0)
    return ("-" if double < 0 else "") + _laid_out(digits.rstrip("0"), point)


def _laid_out(digits: str, point: int) -> str:
    """Place the decimal point after `point` of `digits`, with an exponent below 1e-6 and from 1e21 on."""
    if len(digits) <= point <= 21:
        return digits.ljust(point, "0")
    if 0 < point < len(digits):
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"0.{'0' * -point}{digits}"
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{digits[0]}{fraction}e{point - 1:+d}"


class JsonError(ValueError):
    """Text that is not JSON. `position` counts the characters before the place."""

    def __init__(self, expected: str, position: int) -> None:
        super().__init__(expected, position)
        self.expected: Final = expected
        self.position: Final = position

    def __str__(self) -> str:
        return f"not JSON: expected {self.expected} at character {self.position}"


def _no_constant(name: str) -> Json:
    raise ValueError(name)


# What both languages read alike, once there are no halves of characters to join.
_PLAIN_JSON: Final = json.JSONDecoder(parse_int=float, parse_constant=_no_constant)


def parse_json(text: str) -> Json:
    """Return the value of JSON `text` by the rules of ECMAScript's `JSON.parse`, at any depth.

    Numbers are doubles (1e400 is infinite), the last of equal keys wins, `__proto__` is a key like any other,
    and strings are paired as UTF-16, an escaped half with a plain one too. Raises `JsonError` for anything
    else.
    """
    if "\\u" not in text and _SURROGATE.search(text) is None:
        try:
            return _PLAIN_JSON.decode(text)
        except (ValueError, RecursionError):
            pass  # not JSON, or deeper than the interpreter's stack
    return _parse(text)


def _parse(text: str) -> Json:
    source = _Source(text)
    root: list[Json] = []
    open_: list[list[Json] | dict[str, Json]] = [root]
    key = ""
    while True:
        value = source.value()
        holder = open_[-1]
        if isinstance(holder, dict):
            holder[key] = value
        else:
            holder.append(value)
        if isinstance(value, dict | list) and not source.takes(_closing(value)):
            open_.append(value)
        else:
            while len(open_) > 1 and not source.takes(","):
                source.needs(_closing(open_.pop()))
            if len(open_) == 1:
                source.ends()
                return root[0]
        if isinstance(open_[-1], dict):
            key = source.key()


def _closing(container: list[Json] | dict[str, Json]) -> str:
    return "}" if isinstance(container, dict) else "]"


_SPACE: Final = frozenset(" \t\n\r")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
# Possessive, so that neither long nor unfinished strings are tried twice.
_STRING_REST = re.compile(r'((?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+)"')
_ESCAPED = re.compile(r"\\(?:u(....)|(.))")
_SHORT_ESCAPES: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_EXPECTED: Final = {"]": "',' or ']'", "}": "',' or '}'", ":": "':'", '"': "a key"}
_CONSTANTS: Final[Mapping[str, Json]] = {"null": None, "true": True, "false": False}


class _Source:
    """JSON text and how far it has been read. White space before a token belongs to the token."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def takes(self, token: str) -> bool:
        """Read `token` if it comes next, and say whether it did."""
        self.skip_space()
        if not self.text.startswith(token, self.at):
            return False
        self.at += len(token)
        return True

    def skip_space(self) -> None:
        while self.at < len(self.text) and self.text[self.at] in _SPACE:
            self.at += 1

    def needs(self, token: str) -> None:
        if not self.takes(token):
            raise JsonError(_EXPECTED[token], self.at)

    def ends(self) -> None:
        self.skip_space()
        if self.at < len(self.text):
            raise JsonError("the end", self.at)

    def key(self) -> str:
        self.needs('"')
        key = self.string()
        self.needs(":")
        return key

    def value(self) -> Json:
        """Read a scalar, or the opening of a container: that container, still empty."""
        if self.takes('"'):
            return self.string()
        if self.takes("{"):
            return {}
        if self.takes("["):
            return []
        for name, constant in _CONSTANTS.items():
            if self.takes(name):
                return constant
        number = _NUMBER.match(self.text, self.at)
        if number is None:
            raise JsonError("a value", self.at)
        self.at = number.end()
        return float(number.group())

    def string(self) -> str:
        """Read the rest of a string whose opening quote has been read."""
        rest = _STRING_REST.match(self.text, self.at)
        if rest is None:
            raise JsonError("a well-formed string", self.at - 1)
        self.at = rest.end()
        return pair(_ESCAPED.sub(_unescaped, rest.group(1)))


def _unescaped(match: re.Match[str]) -> str:
    unit, short = match.groups()
    return chr(int(unit, 16)) if unit else _SHORT_ESCAPES.get(short, short)
