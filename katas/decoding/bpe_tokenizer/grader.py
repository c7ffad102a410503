"""What is checked of BPETokenizer."""

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache, partial
from itertools import pairwise

import torch

from graders.kata import Answer, Arguments, Budget, Case, Draw, Grader, Inputs


class Oracle:
    """Each id is a character, so that `str.replace` merges a pair from left to right; pairs are counted anew."""

    def __init__(self) -> None:
        self.merges: list[tuple[int, int]] = []
        self.vocab = {byte: bytes([byte]) for byte in range(256)}
        self.tied = self.rare = False  # whether several pairs were the most frequent in some step, or occurred once

    def split(self, text: str) -> list[str]:
        return [chunk.encode().decode("latin-1") for chunk in re.findall(r" ?\S+|\s+", text)]

    def train(self, text: str, vocab_size: int) -> None:
        assert vocab_size >= 256
        self.__init__()  # type: ignore[misc]
        chunks = Counter(self.split(text))
        for new in range(256, vocab_size):
            pairs = Counter[tuple[str, str]]()
            for chunk, count in chunks.items():
                for pair in pairwise(chunk):
                    pairs[pair] += count
            if not pairs:
                break
            most = max(pairs.values())
            found = [(ord(left), ord(right)) for (left, right), count in pairs.items() if count == most]
            self.tied, self.rare = self.tied or len(found) > 1, self.rare or most == 1
            left, right = max(found, key=lambda pair: [self.vocab[one] for one in pair])
            self.merges.append((left, right))
            self.vocab[new] = self.vocab[left] + self.vocab[right]
            chunks = Counter({one.replace(chr(left) + chr(right), chr(new)): n for one, n in chunks.items()})

    def encode(self, text: str) -> list[int]:
        @cache
        def merged(chunk: str) -> list[int]:
            for new, (left, right) in enumerate(self.merges, start=256):
                chunk = chunk.replace(chr(left) + chr(right), chr(new))
            return [*map(ord, chunk)]

        return [one for chunk in self.split(text) for one in merged(chunk)]

    def decode(self, ids: Sequence[int]) -> str:
        return b"".join(self.vocab[one] for one in ids).decode(errors="replace")


def letters(draw: Draw, alphabet: str, length: int) -> str:
    return "".join(alphabet[i] for i in draw.integers(length, high=len(alphabet)).tolist())


def words(draw: Draw, number: int, alphabet: str = "abcdefghijklmnopqrstuvwxyz") -> str:
    return " ".join(letters(draw, alphabet, int(draw.integers(1, low=2, high=10))) for _ in range(number))


def frequent(draw: Draw, alphabet: str, length: int, vocab_size: int, tied: bool = True) -> Arguments:
    """A text of which each merged pair occurs twice or more: one alone is the most frequent, unless some are tied."""
    tokenizer = Oracle()
    while not tokenizer.merges or tokenizer.rare or (tokenizer.tied and not tied):
        text = letters(draw, alphabet, length)
        tokenizer.train(text, vocab_size)
    return {"text": text, "vocab_size": vocab_size}


def of(*asked: tuple[str, int, int]) -> Inputs:
    """Of alphabets, lengths and vocab_sizes, both up to a fifth larger."""
    return lambda draw: [
        frequent(
            draw,
            alphabet,
            draw.size(length, length * 6 // 5),
            vocab_size + draw.size(0, (vocab_size - 256) // 3),
            tied=False,
        )
        for alphabet, length, vocab_size in asked
    ]


def drawn(draw: Draw, vocab_size: int, *alphabets: str) -> list[Arguments]:
    """Of texts in which several pairs are as frequent as others."""
    return [frequent(draw, one, 150, vocab_size) for one in alphabets]


def ties(draw: Draw) -> list[Arguments]:
    """All pairs of the first text are equally frequent; in the second, (b, c) beats (aa, c), although aa is 256."""
    asked = [("ab\nmn\nZy\n" * 2, 258), ("aac\naac\nbc\nbc\naa\n", 258)]
    return [{"text": text, "vocab_size": size} for text, size in asked] + drawn(
        draw, 264, "abc ", "aé日🙂 ", "xyzabc\n", "ab  \u3000"
    )


def encoded(draw: Draw) -> list[Arguments]:
    """Texts that the training did not see; with three letters and many merges, their order matters everywhere."""
    alphabets = ("ab ", "aéö ", "Abc ", "abc", "ab   \n")
    made = [*of(("ab ", 80, 260), ("aéö ", 90, 260))(draw), *drawn(draw, 272, *alphabets[2:])]
    return [
        one | {"other": letters(draw, f"{alphabet}z", draw.size(50, 80))}
        for one, alphabet in zip(made, alphabets, strict=True)
    ]


def any_text(draw: Draw) -> list[Arguments]:
    strange = "Naïve e\u0301 日本語 🙂👩\u200d👧 \x00\x7f tab\t\tend  \r\n\n ½ ﬁ \u00a0\u3000\ufffd"
    mixed = letters(draw, strange, 30)
    simple = {"text": "é日 é日\n", "vocab_size": 258, "other": "né 日本 🙂"}
    return [simple, simple | {"other": "é日" * 100}] + [  # a chunk of 500 bytes
        {"text": f"{mixed}\n" * 3, "vocab_size": 270, "other": one}
        for one in (strange, mixed + "  ", " ", "", "\ufeff\n x")
    ]


def broken(draw: Draw) -> list[Arguments]:
    """Bytes of characters that are not whole, and characters whose bytes are in several ids."""
    asked = ([0xE6, 0x97], [0xE6, 0x97, 0xA5], [97, 0x80, 98], [0xF0, 0x9F, 0x99, 256, 0x82], (0xC3, 0xA9), [255], [])
    return [{"ids": one} for one in (*asked, draw.integers(draw.size(10, 30), high=256).tolist())]


def few_pairs(draw: Draw) -> list[Arguments]:
    """The last merges are of pairs that occur once, and one makes a token of 40 bytes."""
    asked = (("ab" * 20, 300), ("a b c\n", 300), (letters(draw, "abcd ", 20), 400), ("", 258), ("ab", 256))
    return [{"text": text, "vocab_size": size} for text, size in asked]


def learn(BPETokenizer, text, vocab_size):
    tokenizer = BPETokenizer()
    tokenizer.train(text, vocab_size)
    new = sorted(tokenizer.vocab.items())[256:]
    return {"merges": tokenizer.merges, "vocab from 256 on": [f"{i}: {piece!r}" for i, piece in new]}


def use(BPETokenizer, text, vocab_size, other):
    tokenizer = BPETokenizer()
    tokenizer.train(text, vocab_size)
    ids = tokenizer.encode(other)
    return {"ids": ids, "decoded": tokenizer.decode(ids)}


def decode(BPETokenizer, ids):
    tokenizer = BPETokenizer()
    tokenizer.train("aaa", 257)
    return {"decoded": tokenizer.decode(ids)}


def untrained(BPETokenizer, text):
    tokenizer = BPETokenizer()
    pieces = [tokenizer.vocab[i] for i in range(256)]
    found = {"merges": tokenizer.merges, "ids": tokenizer.encode(text), "length of vocab": len(tokenizer.vocab)}
    found["decoded"] = tokenizer.decode(found["ids"])
    return found | {"vocab[0] to vocab[255], joined": b"".join(pieces).hex()}


def train_again(BPETokenizer, text, vocab_size, other):
    tokenizer = BPETokenizer()
    tokenizer.train(text, vocab_size)
    tokenizer.decode(tokenizer.encode(other))
    tokenizer.train("", vocab_size)
    left = len(tokenizer.merges), len(tokenizer.vocab)
    tokenizer.train(other, vocab_size - 2)
    found = {"merges": tokenizer.merges, "length of vocab": len(tokenizer.vocab), "ids": tokenizer.encode(other)}
    found["lengths of merges and vocab after a training on no text"] = left
    known = [i for i in found["ids"] if i in tokenizer.vocab]  # else all mistakes would raise the same KeyError
    return found | {"decoded": tokenizer.decode(known)}


def train_two(BPETokenizer, text, vocab_size, other):
    one, two = BPETokenizer(), BPETokenizer()
    one.train(text, vocab_size)
    before = {"merges of a new one": BPETokenizer().merges, "ids of an untrained one": two.encode(text)}
    two.train(other, vocab_size)
    two.decode(two.encode(other))
    found = {"merges of the first": one.merges, "ids of the first": one.encode(other)}
    return before | found | {"decoded by the first": one.decode(found["ids of the first"])}


def learn_long(BPETokenizer, text, times, vocab_size):
    tokenizer = BPETokenizer()
    tokenizer.train(text * times, vocab_size)
    return {"merges": torch.tensor(tokenizer.merges)}


def encode_long(BPETokenizer, text, vocab_size, other, times):
    tokenizer = BPETokenizer()
    tokenizer.train(text, vocab_size)
    return {"ids": torch.tensor(tokenizer.encode(other * times))}


def long_text(draw: Draw, characters: int) -> Arguments:
    text = words(draw, 150) + "\n"
    return {"text": text, "times": characters // len(text), "vocab_size": 356}


def long_other(draw: Draw, characters: int) -> Arguments:
    other = words(draw, 300) + "\n"
    return {"text": words(draw, 70), "vocab_size": 486, "other": other, "times": characters // len(other)}


TRAINING = Budget(
    "long_training",
    sizes={"characters": (10_000, 100_000)},
    inputs=long_text,
    asks=("time",),
    scenario=learn_long,
)
ENCODING = Budget(
    "long_encoding",
    sizes={"characters": (14_000, 140_000)},
    inputs=long_other,
    asks=("time",),
    time=15,  # 5 to 8 where every chunk is merged anew; 29 to 65 where every merge is tried in every chunk
    scenario=encode_long,
)
ask = partial(Case, dtypes=(torch.float64,))
robust = partial(ask, category="robustness")
GRADER = Grader(
    answers=(
        Answer(
            "class BPETokenizer()",
            oracle=Oracle,
            methods=("train(text, vocab_size)", "encode(text)", "decode(ids)"),
            half=False,
            budgets=(TRAINING, ENCODING),
            cases=(
                ask("words", of(("abcd ", 30, 258), ("abcde ", 120, 260), ("etaoin  ", 150, 259)), scenario=learn),
                ask("overlaps", of(("a", 7, 257), ("aab ", 60, 260), ("ab ", 80, 260)), scenario=learn),
                ask("spaces", of(("ab  \n", 40, 258), ("ab  \n", 90, 260), ("ab   \t", 90, 260)), scenario=learn),
                ask("bytes", of(("éa ", 30, 258), ("éaö ", 90, 261)), scenario=learn),
                ask("ties", ties, scenario=learn),
                ask("encoded", encoded, scenario=use),
                ask("any_text", any_text, scenario=use),
                robust("broken_characters", broken, scenario=decode),
                robust("no_pair_left", few_pairs, scenario=learn),
                robust("untrained", lambda draw: {"text": letters(draw, "aé🙂 ", 20)}, scenario=untrained),
                robust("trained_again", encoded, scenario=train_again),
                robust("two_tokenizers", encoded, scenario=train_two),
                ask(
                    "vocab_size_below_256",
                    lambda draw: [{"text": "abab", "vocab_size": size} for size in (255, 1, 0, -1)],
                    scenario=learn,
                    raises=ValueError,
                ),
            ),
        ),
    ),
)
