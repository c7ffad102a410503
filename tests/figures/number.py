"""Numbers as a text writes them: `−1.20`, `16 777 216`, `6 · 10⁻⁸`, `2/3`, `½`, `∞`."""

from __future__ import annotations

import math
import re
import unicodedata
from fractions import Fraction

SUPERSCRIPTS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
NUMBER = re.compile(
    r"""(?<![\w.^])(?P<sign>[-−]?)(?:
        (?P<base>\d+)(?P<raised>⁻?[⁰¹²³⁴-⁹]+) |
        (?P<digits>\d{1,3}(?:[ \u00a0\u2009\u202f]\d{3})+(?!\d)|\d+)(?:\.(?P<decimals>\d+))?
        (?:e(?P<e>[-−]?\d+)|[ ]?·[ ]?10(?P<power>⁻?[⁰¹²³⁴-⁹]+)|/(?P<over>[1-9]\d*))?
        |(?P<vulgar>[½⅓⅔¼¾⅛]) | (?P<name>∞|NaN))""",
    re.VERBOSE,
)


def agrees(written: re.Match[str], value: float, units: float = 0.5) -> bool:
    """Whether the value is what is written, rounded to the digits that are written (units: of the last of them)."""
    number, unit = read_number(written)
    if math.isnan(number) or math.isinf(number):
        return number == value or (math.isnan(number) and math.isnan(value))
    return abs(value - number) <= unit * (units + 1e-6)


def read_number(found: re.Match[str]) -> tuple[float, float]:
    """The number and the weight of its last digit; of a fraction, which is exact, nearly none."""
    sign = -1 if found["sign"] else 1
    if found["name"]:
        return sign * (math.inf if found["name"] == "∞" else math.nan), 0
    if found["vulgar"]:
        return sign * unicodedata.numeric(found["vulgar"]), 1e-6
    if found["raised"]:
        raised = float(int(found["base"])) ** int(found["raised"].translate(SUPERSCRIPTS))
        return sign * raised, raised if found["base"] == "10" else 1e-6
    digits = re.sub(r"\D", "", found["digits"])
    if found["over"]:
        return float(sign * Fraction(int(digits), int(found["over"]))), 1e-6
    decimals = found["decimals"] or ""
    power = int((found["e"] or (found["power"] or "0").translate(SUPERSCRIPTS)).replace("−", "-"))
    unit = 10.0 ** (power - len(decimals))
    return sign * int(digits + decimals) * unit, unit
