"""The text, its tokeniser, and batches of windows."""

import torch
from torch import Tensor

PAD = 0
TEXT = """
a stove hums while dusk comes
four grey birds take plum ink
snow hid the old park bench
ink dries fast on cold tin
""".strip().split("\n")


class Tokenizer:
    """Numbers the characters of some lines, and the end of a line, from 1 on; 0 is for padding."""

    def __init__(self, lines: list[str]) -> None:
        characters = sorted(set("\n".join([*lines, ""])))
        self.number = {character: number for number, character in enumerate(characters, start=1)}
        self.character = {number: character for character, number in self.number.items()}
        self.size = len(characters) + 1

    def encode(self, text: str) -> list[int]:
        return [self.number[character] for character in text]

    def decode(self, ids: list[int]) -> str:
        return "".join(self.character[number] for number in ids if number != PAD)


def split(lines: list[str], held_out: int = 2) -> tuple[list[str], list[str]]:
    """The lines to train on, and the last ones, which are held out."""
    return lines[:-held_out], lines[-held_out:]


def get_window(line: list[int], start: int, length: int) -> tuple[list[int], list[int]]:
    """The inputs from start on, and for each its target, the next token; padding counts in no loss."""
    x = line[start : start + length]
    y = line[start + 1 : start + 1 + length]
    x = x[: len(y)]
    missing = length - len(y)
    return x + [PAD] * missing, y + [-100] * missing


def get_batch(lines: list[list[int]], rows: int, length: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Windows of lines that are drawn, each from a place that is drawn: x and y, both (rows, length)."""
    xs, ys = [], []
    for _ in range(rows):
        line = lines[int(torch.randint(len(lines), (1,), generator=generator))]
        last = max(len(line) - length // 2, 1)
        start = int(torch.randint(last, (1,), generator=generator))
        x, y = get_window(line, start, length)
        xs.append(x)
        ys.append(y)
    return torch.tensor(xs), torch.tensor(ys)
