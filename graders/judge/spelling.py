"""Text for a terminal whose encoding lacks some characters: they are spelled, and nothing is lost."""

from __future__ import annotations

import codecs
import itertools
import unicodedata

HANDLER = "spelled"  # for `errors=` of a stream, once this module is imported
SPELLINGS = {
    "√": "sqrt ", "−": "-", "·": "*", "Σ": "sum ", "∑": "sum ", "∫": "integral ", "≤": "<=", "≥": ">=", "≠": "!=",
    "≈": "~=", "∝": "~", "∞": "infinity", "∩": " and ", "∈": " in ", "∉": " not in ", "∂": "d", "∇": "grad ", "⊙": "*",
    "×": "x", "±": "+-", "←": "<-", "→": "->", "⟨": "<", "⟩": ">", "‖": "||", "∥": "||", "ℓ": "l", "⊤": "^T",
    "⌊": "floor(", "⌋": ")", "⌈": "ceil(", "⌉": ")", "∘": " o ", "↦": "->", "🙂": ":-)",
    "–": "-", "—": "-", "…": "...", "’": "'", "‘": "'", "“": '"', "”": '"', "•": "*", "′": "'", "″": "''", "‴": "'''",
    "⁄": "/", "─": "-", "│": "|", "╶": "-", "╴": "-", "◌": "o", "○": "o", "◐": "o", "✓": "+", "✗": "x", "━": "=",
    "╸": "=", "╺": "-",
}  # fmt: skip
MARKS = {"\u0302": "_hat", "\u0303": "_tilde", "\u0304": "_bar"}  # above letters of formulas


def spelled(text: str, encoding: str | None) -> str:
    """What a terminal of this encoding would show; best before lines are broken."""
    return text.encode(encoding or "ascii", HANDLER).decode(encoding or "ascii")


def spell(error: UnicodeError) -> tuple[str, int]:
    """What Python calls for characters that cannot be encoded. Raises: UnicodeError where it was no encoding."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    groups = itertools.groupby(error.object[error.start : error.end], height)
    return "".join(mark + "".join(map(plain, group)) for mark, group in groups), error.end


def height(character: str) -> str:
    """`^` or `_` for what is written above or below the line."""
    name = unicodedata.name(character, "")
    if "SUBSCRIPT" in name:
        return "_"
    return "^" if "SUPERSCRIPT" in name or name.startswith("MODIFIER LETTER") else ""


def plain(character: str) -> str:
    """`tau` for τ, `2` for ², `a` for ä, and where nothing is known, the character's name."""
    if character.isascii() or character in SPELLINGS:
        return SPELLINGS.get(character, character)
    parts = unicodedata.normalize("NFKD", character)
    if parts != character:
        return "".join(map(plain, parts))
    if unicodedata.combining(character):
        return MARKS.get(character, "")
    name = unicodedata.name(character, f"U+{ord(character):04X}")
    if not (name.startswith("GREEK") and "LETTER" in name):
        return f"<{name.lower()}>"
    word = name.split(" ")[-1]
    return word.capitalize() if "CAPITAL" in name else word.lower()


codecs.register_error(HANDLER, spell)
