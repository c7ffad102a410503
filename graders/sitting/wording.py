"""Words as people type them: which are everyday words, which are forms of one word, and which mean the same."""

from __future__ import annotations

import re
from collections.abc import Iterable

SPELLINGS = (
    (re.compile(r"\bin[- ]place\b"), "inplace"),
    (re.compile(r"[−-]inf(inity)?\b|±?[−-]?∞"), " infinity "),
    (re.compile(r"n['’]t\b|['’](?:s|re|ll|d|ve|m)\b"), ""),
    (re.compile(r"\b(?:come|give|hand|get|spit)s?((?: \w+){0,2}?) (?:back|out)\b|\byields?\b"), r"return\1"),
)
WORD = re.compile(r"[^\W\d](?:[\w.]*\w)?|\d+")
ENDING = re.compile(r"(?<=\w\w\w)(?:i[sz]ations?|i[sz]ed|i[sz]ing|i[sz]es?|ations?|ing|ed|ies|es|(?<!s)s|y|ly|e)$")
EVERYDAY = frozenset(
    WORD.findall(
        """a about acceptable actually all allowed always am an and any anything are as at be been being by call called
        can chance come comes could did do does done each else even ever every everything exactly expect expected fine
        for from get gets give given gives go going good got handle happen happens has have having here how i if in
        include included into is it its just kind know like make many may me mean might must my need needed needs no
        not of ok okay on one only or our out please possible really right shall should so some something sort specific
        still suppose supposed sure tell than that the their them then there these they thing this those to too us use
        used using want wanted was we well were what when where which who why will with without would yes you your"""
    )
)
READY = frozenset(WORD.findall("ready go start begin done enough clear else more further"))  # who says so goes on,
GOING_ON = READY.union(  # where nothing else is said
    WORD.findall(
        """all alright am can code coding could for have i it is let me move no not nothing now ok okay on other plan
        question questions right so thank thanks that the then think to us want we will with write you"""
    )
)
SAME = """empty zero-size | shape size dimension dim rank ndim axis layout | default usual | batch sample row |
dtype precision float16 float32 float64 bf16 fp16 bfloat16 half double integer int type | tie equal duplicate tied |
inplace overwrite mutate modify change clobber write | allowed permitted forbidden banned ban off-limits call use |
nan inf infinite infinity | fast speed time memory cost vectorise loop performance complexity | label target class |
raise error exception valueerror validate invalid refuse reject check | divide average sum reduce reduction normaliser |
gradient grad backward differentiable differentiate autograd slope derivative | return output result | device gpu cuda |
log logarithm ln nats bits base | mask masked padding pad | huge extreme overflow underflow big large stable range far |
normalise unit l2 norm | temperature tau | seed random generator rng | embedding feature | order sort descending"""


def words_of(text: str) -> list[str]:
    """In small letters; names with dots are one word, and spellings of one word are one."""
    text = text.lower()
    for spelling, word in SPELLINGS:
        text = spelling.sub(word, text)
    return WORD.findall(text)


def stem(word: str) -> str:
    return ENDING.sub("", word)


def is_vague(text: str) -> bool:
    """Whether no two words of it say something."""
    return len({stem(word) for word in words_of(text) if word not in EVERYDAY}) < 2


def goes_on(text: str) -> bool:
    """Whether it only says that somebody has no question left."""
    words = set(words_of(text))
    return words <= GOING_ON and not words.isdisjoint(READY)


def stems(words: str | Iterable[str]) -> frozenset[str]:
    return frozenset(map(stem, words.split() if isinstance(words, str) else words))


MEANING = {stem(word): line.split()[0] for line in SAME.split("|") for word in line.split()}


def meaning(word: str) -> str:
    """What it has in common with others of its meaning; empty where it has none."""
    return MEANING.get(stem(word), "")


def content(text: str) -> list[str]:
    """Stems of the words that say something, and after each that has others of its meaning, their name in capitals."""
    found = [stem(word) for word in words_of(text) if word not in EVERYDAY]
    return [said for one in found for said in (one, MEANING.get(one, "").upper()) if said]
