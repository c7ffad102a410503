"""Which prepared question a candidate's own words mean: by scikit-learn's TF-IDF over words and pieces of words, and by
BM25 over stems and what they have in common.

A wrong answer given is worse than none, so a question is only taken for meant where that is as good as sure. One that
has a clear lead is answered until somebody says no; else the likeliest are asked back. tests/test_matching.py measures
how often that is right, on paraphrases that were written apart from the phrasings; tests/fit_matching.py fits the
weights by half of the katas.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer  # type: ignore[import-untyped]
from sklearn.pipeline import make_union  # type: ignore[import-untyped]

from graders.catalogue.katas import Kata
from graders.catalogue.texts import Question, clarifying, general, shared
from graders.sitting.asking_back import MAYBE, Match
from graders.sitting.wording import content

CLOSEST = (0.4, 0.3, 0.2, 0.1)  # the weights of the nearest phrasings
ANSWER, WHOLE = 0.5, 1.0  # and of the answer, and of all words of a question
BM25, SATURATION, LENGTH = 0.05, 1.2, 0.75  # its weight, its k₁ and its b
GENERAL = 0.1  # by which a question about any kata is further than one about this one
LEAD, KNOWN, BIAS = 5.8, 2.5, -1.92  # what makes it sure; tests/fit_matching.py fits them
SURE = 0.95  # the probability from which on the best one is taken for meant,
CLEAR = 0.72  # and from which on it is, until somebody says no
OFFERED = 3  # at most, in asking back
WORD = re.compile(r"\w+")


class Matcher:
    """The prepared questions of one kata: its own, numbered from 0, and after them the general ones.

    Args:
        kinds: more texts in which people ask, to tell which words say much.
    """

    def __init__(
        self, own: Sequence[Question], general: Sequence[Question] = (), kinds: Iterable[Question] = ()
    ) -> None:
        questions = (*own, *general)
        phrasings = [(number, text) for number, one in enumerate(questions) for text in (one.question, *one.phrasings)]
        whole = [" ".join((one.question, *one.phrasings, one.answer)) for one in questions]
        known = [*whole, *(" ".join(kind.phrasings) for kind in kinds)]
        words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, token_pattern=WORD.pattern)
        pieces = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5), sublinear_tf=True)
        self.reader = make_union(words, pieces).fit(known)
        self.owners = np.array([number for number, _ in phrasings])
        self.phrasings = self.reader.transform([text for _, text in phrasings])
        self.answers = self.reader.transform([one.answer for one in questions])
        self.whole = self.reader.transform(whole)
        self.stems = CountVectorizer(analyzer=content)
        self.rarity = rarities(
            self.stems.fit_transform([" ".join((one.question, *one.phrasings)) for one in questions])
        )
        self.further = np.array([0.0] * len(own) + [GENERAL] * len(general))
        self.vocabularies = [set(words_of(text)) for text in whole]
        self.weights: dict[str, float] = dict(zip(words.get_feature_names_out(), words.idf_, strict=True))
        self.unknown = 1 + math.log(1 + len(known))  # the weight of a word that none of these has

    def scores(self, text: str) -> Any:
        """How near the text is to each question: to its nearest phrasings, to its answer, and to all its words."""
        said = self.reader.transform([text])

        def near(known: Any) -> Any:
            return (said @ known.T).toarray()[0] / 2  # the mean by words and by pieces

        phrasings = near(self.phrasings)
        owned = [phrasings[self.owners == number] for number in range(len(self.further))]
        closest = [np.sort(one)[::-1][: len(CLOSEST)] for one in owned]
        nearest = np.array([one @ CLOSEST[: len(one)] for one in closest])
        said_of = self.rarity @ (self.stems.transform([text]).toarray()[0] > 0)
        return BM25 * said_of + nearest + ANSWER * near(self.answers) + WHOLE * near(self.whole) - self.further

    def known(self, text: str, number: int) -> float:
        """The share of the text's words that the question has; a word that few texts have counts more."""
        words = words_of(text)
        weights = [self.weights.get(word, self.unknown) for word in words]
        hits = [weight for word, weight in zip(words, weights, strict=True) if word in self.vocabularies[number]]
        return sum(hits) / max(sum(weights), 1)

    def evidence(self, text: str) -> tuple[Any, float, float]:
        """The scores; by how much the best one leads; and how many of the text's words it has."""
        scores = self.scores(text)
        first, *rest = np.argsort(-scores)
        return scores, scores[first] - (scores[rest[0]] if rest else 0.0), self.known(text, first)

    def match(self, text: str, sure: float = SURE) -> Match:
        scores, lead, known = self.evidence(text)
        order = [int(one) for one in np.argsort(-scores) if scores[one] >= MAYBE]
        likely = 1 / (1 + math.exp(-LEAD * lead - KNOWN * known - BIAS))
        if order and likely >= sure:
            return Match(order[0], (order[0],))
        return Match(None, tuple(order[:OFFERED]), bool(order) and likely >= CLEAR)


def rarities(counts: Any) -> Any:
    """What each word of each text counts by BM25, from how often each text has it."""
    counts = counts.toarray()
    having, lengths = (counts > 0).sum(axis=0), counts.sum(axis=1, keepdims=True)
    rarity = np.log(1 + (len(counts) - having + 0.5) / (having + 0.5))
    usual = 1 - LENGTH + LENGTH * lengths / lengths.mean()
    return rarity * counts * (SATURATION + 1) / (counts + SATURATION * usual)


def matcher_of(kata: Kata) -> Matcher:
    """Raises: UsageError."""
    return Matcher(clarifying(kata), general(kata), shared(kata).values())


def words_of(text: str) -> list[str]:
    return WORD.findall(text.lower())
