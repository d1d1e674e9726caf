"""The texts of the acceptance matrix: what is ill-formed and where it stands, and what must stay as it is."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

EMOJI = "\N{GRINNING FACE}"

SHAPES: Mapping[str, str] = MappingProxyType(
    {
        "lone-high": "\ud800",
        "lone-low": "\udc00",
        "high-ascii": "\ud83dx",
        "reversed": "\ude00\ud83d",
        "high-high": "\ud83d\ud83d",
        "low-low": "\ude00\ude00",
        "pair-unpaired": f"{EMOJI}\ud83d",
    }
)
"""The six malformed shapes of the seed; the first of them, "unpaired high/low", has two forms."""

PLACES: Mapping[str, str] = MappingProxyType(
    {
        "start": "{} ends the word here",
        "middle": "in the middle {} of the words",
        "end": "at the very end {}",
        "after-emoji": f"after a whole character {EMOJI}{{}} it stands",
    }
)
"""Where in a text a shape stands. Each text is long enough to be recognised where it does not belong."""

COMPATIBLE: Mapping[str, str] = MappingProxyType(
    {
        "ascii": "plain ASCII",
        "chinese": "\u4f60\u597d\uff0c\u4e16\u754c",
        "emoji": f"{EMOJI} alone",
        "pair": "\U0001f469\u200d\U0001f4bb of two characters",
        "combining": "e\u0301 and a\u030a\u0323",
        "escape": "\x1b[31mred\x1b[0m",
        "control": "a\x01b",
        "delete": "a\x7fb",
        "line-separator": "a\u2028b",
        "paragraph-separator": "a\u2029b",
        "literal-escape": "printable \\ud800 of six characters",
        "extension-b": "\U00020000\U0002a6d6",
        "mathematical": "\U0001d49c\U0001d4cf",
        "byte-order-mark": "\ufeffmark",
        "noncharacter": "a\uffffb",
        "next-to-surrogates": "\ud7ff\ue000",
    }
)
"""Valid text that must stay what it is, byte for byte: the seed's, and what the field cases add (RC-62)."""
