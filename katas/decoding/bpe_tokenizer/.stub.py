"""Byte-pair encoding by hand. Statement: katas/decoding/bpe_tokenizer/README.md."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

CHUNK = re.compile(r" ?\S+|\s+")
Pair = tuple[int, int]


def merge(ids: list[int], pair: Pair, new: int) -> list[int]:
    """The ids with `new` in place of each `pair`, from left to right. A helper: it is not tested by itself."""
    # TODO: write it if you like: train and encode can both use it.
    raise NotImplementedError


class BPETokenizer:
    """Byte-pair encoding on bytes: ids 0 to 255 are the bytes, id 256 + i is merges[i].

    Attributes:
        merges: the pairs of ids, in the order in which they were learnt.
        vocab: id -> the bytes that it stands for.
    Source: arXiv:1508.07909, algorithm 1, on the bytes of UTF-8 in place of characters.
    """

    def __init__(self) -> None:
        # TODO: start without merges, and with a vocab of the 256 bytes.
        raise NotImplementedError

    def train(self, text: str, vocab_size: int) -> None:
        """Learns vocab_size − 256 merges, or fewer where no pair is left.

        Raises: ValueError if vocab_size is below 256.
        """
        # TODO: start anew, and split the text into chunks of bytes. How often does each chunk occur?
        # TODO: count the pairs, and take the most frequent one. If several are, see "Formula" in the statement.
        # TODO: give it the next id, write it into merges and vocab, and merge it in every chunk. Count again.
        # TODO: then make it robust: a vocab_size below 256, and a text in which no pair is left.
        raise NotImplementedError

    def encode(self, text: str) -> list[int]:
        """Splits the text as in training, and in each chunk applies the merges, the one learnt first before others."""
        # TODO: split the text into chunks of bytes.
        # TODO: in each, merge the pair that was learnt first, until none of its pairs was learnt.
        # TODO: then make it fast: most chunks of a text occur many times.
        raise NotImplementedError

    def decode(self, ids: Sequence[int]) -> str:
        """The text that these ids stand for; bytes that are no UTF-8 become U+FFFD, as `errors="replace"` does."""
        # TODO: join the bytes of all ids, then decode them once.
        raise NotImplementedError
