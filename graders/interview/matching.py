"""Which prepared question a candidate's own words mean: TF-IDF over words and pieces of words, by scikit-learn.

A wrong answer given is worse than none, so a question is only taken for one that is clearly nearer than all others.
tests/test_matching.py measures how often that is right, on paraphrases that were written apart from the phrasings.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer  # type: ignore[import-untyped]

from graders.catalogue.statement import Question

CLOSEST = (0.6, 0.25, 0.15)  # the weights of the three nearest phrasings
LEAST, AHEAD = 0.62, 0.30  # what the best should have, and be ahead of the second by, to be taken for meant
MAYBE = 0.40  # from which on it is worth asking back


class Match(NamedTuple):
    """What was understood.

    Args:
        meant: the number of the question, from 0; None where that is not sure.
        maybe: those that it may be, the likelier first; none where it is none of them.
    """

    meant: int | None
    maybe: tuple[int, ...]


class Matcher:
    """The prepared questions of one kata."""

    def __init__(self, questions: Sequence[Question]) -> None:
        phrasings = [(number, text) for number, one in enumerate(questions) for text in (one.question, *one.phrasings)]
        texts = [text for _, text in phrasings]
        whole = [" ".join((one.question, *one.phrasings, one.answer)) for one in questions]
        self.owners = np.array([number for number, _ in phrasings])
        self.words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, token_pattern=r"\w+").fit(whole)
        self.pieces = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5), sublinear_tf=True).fit(whole)
        self.one_by_one = [(reader, reader.transform(texts)) for reader in (self.words, self.pieces)]
        self.answers = [(reader, reader.transform([one.answer for one in questions])) for reader, _ in self.one_by_one]
        self.whole = [(self.words, self.words.transform(whole))]

    def scores(self, text: str) -> Any:
        """How near the text is to each question: to its nearest phrasings, to its answer, and to all its words."""

        def near(known: list[tuple[Any, Any]]) -> Any:
            return np.mean([(reader.transform([text]) @ all_of.T).toarray()[0] for reader, all_of in known], axis=0)

        phrasings = near(self.one_by_one)
        closest = [np.sort(phrasings[self.owners == number])[::-1][:3] for number in range(self.owners.max() + 1)]
        nearest = np.array([one @ CLOSEST[: len(one)] for one in closest])
        return nearest + 0.3 * near(self.answers) + near(self.whole)

    def match(self, text: str, least: float = LEAST, ahead: float = AHEAD) -> Match:
        scores = self.scores(text)
        first, *rest = np.argsort(-scores)
        if scores[first] >= least and (not rest or scores[first] - scores[rest[0]] >= ahead):
            return Match(int(first), (int(first),))
        return Match(None, tuple(int(one) for one in (first, *rest[:1]) if scores[one] >= MAYBE))
