"""Formulas drawn as lines of text: each line fits the terminal, and no fraction is torn from its denominator."""

from __future__ import annotations

import re

from texicode.pipeline import init_arts, render_tex_rows

# What TeXicode does not know, or puts too near to what comes next.
SPELLINGS = {
    r"\operatorname": r"\mathrm",
    r"\lVert": r"\Vert",
    r"\rVert": r"\Vert",
    r"\log ": r"\log\,",
    r"\exp ": r"\exp\,",
}
TOKEN = re.compile(r"\\[A-Za-z]+|\\.|.", re.DOTALL)
RELATIONS: tuple[str, ...] = ("=", "+", "-", r"\leftarrow", r"\sim", r"\approx", r"\le", r"\ge")
FACTORS: tuple[str, ...] = (r"\frac", r"\text", r"\sum", r"\mathrm", r"\;")
SIZES = re.compile(r"\\(?:left|right|[bB]igg?[lr]?)(?![A-Za-z])")
INDENT = "  "  # of what goes on below


def lines_of(formula: str, width: int) -> str:
    """One below the other what stands side by side, each part in lines of its own where it is too wide.

    Raises: KeyError, IndexError, ValueError where it cannot be drawn.
    """
    return "\n\n".join("\n".join(drawn(part, width)) for part in split(formula, (r"\qquad",), drop=True))


def drawn(formula: str, width: int) -> list[str]:
    """Its rows. What is too wide is broken before relations, then before factors, then within parentheses."""
    first, *others = broken(formula, width) if widest(rows_of(formula)) > width else [formula]
    parts = [fitted(first, width), *(indented(fitted(line, width - len(INDENT))) for line in others)]
    gap = [""] if any(len(part) > 1 for part in parts) else []
    return [row for number, part in enumerate(parts) for row in (*(gap if number else ()), *part)]


def broken(formula: str, width: int) -> list[str]:
    """Its lines, as formulas of their own."""
    pieces = [formula]
    for before, within in ((RELATIONS, False), (RELATIONS + FACTORS, False), (RELATIONS + FACTORS, True)):
        finer: list[str] = []
        for piece in pieces:
            wide = widest(rows_of(piece)) > width - len(INDENT)
            finer += split(SIZES.sub("", piece) if within else piece, before, within=within) if wide else [piece]
        pieces = finer
    return filled(pieces, width)


def fitted(line: str, width: int) -> list[str]:
    rows = rows_of(line)
    return rows if widest(rows) <= width else fraction(line, width) or rows


def filled(pieces: list[str], width: int) -> list[str]:
    """As many of them on a line as fit."""
    lines = pieces[:1]
    for piece in pieces[1:]:
        if widest(rows_of(lines[-1] + piece)) <= width - len(INDENT):
            lines[-1] += piece
        else:
            lines.append(piece)
    return lines


def fraction(formula: str, width: int) -> list[str]:
    """One whose numerator or denominator takes several lines, below what stands before it; none where there is none."""
    tokens = TOKEN.findall(formula)
    inside = depths(tokens)
    if not any(token == r"\frac" and not depth for token, depth in zip(tokens, inside, strict=True)):
        return []
    start = next(place for place, token in enumerate(tokens) if token == r"\frac" and not inside[place])
    end, last = [place for place in range(start, len(tokens)) if tokens[place] == "}" and not inside[place]][:2]
    before, rest = ("".join(part).strip() for part in (tokens[:start], tokens[last + 1 :]))
    above, below = ("".join(part).strip()[1:] for part in (tokens[start + 1 : end], tokens[end + 1 : last]))
    top, bottom = drawn(above, width), drawn(below, width)
    line = "─" * max(widest(top), widest(bottom))
    return [*(rows_of(before) if before else ()), *top, line, *bottom, *(rows_of(rest) if rest else ())]


def split(formula: str, before: tuple[str, ...], drop: bool = False, within: bool = False) -> list[str]:
    """Pieces that begin with one of these, or follow a comma, outside of braces and, unless `within`, parentheses."""
    tokens = TOKEN.findall(formula)
    pieces, last = [""], ""
    for place, (token, depth) in enumerate(zip(tokens, depths(tokens, within), strict=True)):
        begins = depth == 0 and token in before and last not in ("", "(", "_", "^", *RELATIONS)
        if begins and pieces[-1].strip():
            pieces.append("")
        if not (drop and depth == 0 and token in before):
            pieces[-1] += token
        words = token == "}" and r"\text" in before and r"\text" in pieces[-1][: pieces[-1].rindex("{")][-6:]
        if (
            depth == 0
            and not drop
            and (token == "," or (words and tokens[place + 1 : place + 2] not in (["_"], ["^"])))
        ):
            pieces.append("")
        last = token if token.strip() else last
    return [piece for piece in pieces if piece.strip()]


def depths(tokens: list[str], within: bool = False) -> list[int]:
    """Of each token: how many braces, environments and, unless `within`, parentheses it stands in."""
    opening, closing = {r"\begin", "{"}, {r"\end", "}"}
    if not within:
        opening, closing = opening | {"(", "["}, closing | {")", "]"}
    depth, found = 0, []
    for token in tokens:
        depth -= token in closing
        found.append(depth)
        depth += token in opening
    return found


def rows_of(formula: str) -> list[str]:
    """Raises: KeyError, IndexError, ValueError."""
    for spelling, known in SPELLINGS.items():
        formula = formula.replace(spelling, known)
    init_arts({"fonts": "normal"})
    rows = render_tex_rows(" ".join(formula.split()), False)
    if rows[0].startswith("TeXicode:") or ("?" in "".join(rows) and "?" not in formula):  # as it says that it failed
        raise ValueError(rows[0])
    return [row.rstrip() for row in rows]


def widest(rows: list[str]) -> int:
    return max(map(len, rows), default=0)


def indented(rows: list[str]) -> list[str]:
    return [(INDENT + row).rstrip() for row in rows]
