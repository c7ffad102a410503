"""What is checked of data.py, and its known mistakes."""

import runpy
from pathlib import Path

import torch

from graders.kata import Answer, Arguments, Case, Draw, Grader, Mistake

RIGHT = runpy.run_path(str(Path(__file__).with_name("data.py")))
WORDS = ("sea", "ox", "my ink", "a fig", "tin cup", "we", "jars of red", "up")

# Scenarios


def tokenised(Tokenizer, lines):
    tokenizer = Tokenizer(lines)
    ids = [tokenizer.encode(f"\n{line}\n") for line in lines]
    return {"size": tokenizer.size, "ids": ids, "texts": [tokenizer.decode([*one, 0, 0]) for one in ids]}


def windows(get_batch, lines, rows, length, seed):
    """All windows that occur in many draws, which all that can be drawn do, and whether the generator decides."""
    generator = torch.Generator().manual_seed(seed)
    made = [torch.cat(get_batch(lines, rows, length, generator), 1) for _ in range(400)]
    again = get_batch(lines, rows, length, torch.Generator().manual_seed(seed))
    return {
        "shape": list(made[0].shape),
        "windows": torch.cat(made).unique(dim=0),
        "whether the same seed gives the same": torch.equal(torch.cat(again, 1), made[0]),
    }


# Inputs


def lines_of(draw: Draw) -> list[str]:
    return [WORDS[int(place)] for place in draw.permutation(len(WORDS))[:5]]


def window(draw: Draw, start: int, length: int) -> Arguments:
    return {"line": draw.integers(9, low=1, high=30).tolist(), "start": start, "length": length}


def batches(draw: Draw) -> Arguments:
    lines = [draw.integers(size, low=1, high=30).tolist() for size in (9, 12, 5)]
    return {"lines": lines, "rows": 3, "length": 4, "seed": draw.size(1, 10**6)}


GRADER = Grader(
    answers=(
        Answer(
            "class Tokenizer(lines)",
            methods=("encode(text)", "decode(ids)"),
            oracle=RIGHT["Tokenizer"],
            cases=(Case("tokenised", lambda draw: {"lines": lines_of(draw)}, scenario=tokenised),),
        ),
        Answer(
            "split(lines, held_out=2)",
            oracle=RIGHT["split"],
            cases=(
                Case("held_out", lambda draw: {"lines": lines_of(draw)}),
                Case("three_held_out", lambda draw: {"lines": lines_of(draw), "held_out": 3}),
            ),
        ),
        Answer(
            "get_window(line, start, length)",
            oracle=RIGHT["get_window"],
            cases=(
                Case("inside", lambda draw: window(draw, 2, 4)),
                Case("at_the_end", lambda draw: [window(draw, 5, 6), window(draw, 0, 12), window(draw, 4, 4)]),
            ),
        ),
        Answer(
            "get_batch(lines, rows, length, generator)",
            oracle=RIGHT["get_batch"],
            cases=(Case("windows", batches, scenario=windows),),
        ),
    ),
)

TARGETS = "y = line[start + 1 : start + 1 + length]"
START = "start = int(torch.randint(last, (1,), generator=generator))"
EMPTY = "    xs, ys = [], []\n"
BACK = "return torch.tensor(xs), torch.tensor(ys)"
MISTAKES = (
    Mistake(
        "targets_not_shifted",
        "each input is its own target; the target is the next token, so y should begin one token later",
        {TARGETS: "y = line[start : start + length]"},
    ),
    Mistake(
        "targets_two_ahead",
        "the target is the token after the next; y should begin one token after x",
        {TARGETS: "y = line[start + 2 : start + 2 + length]"},
    ),
    Mistake(
        "targets_of_the_start",
        "the targets are those of the line's first window, whatever the start; cut y at the start as well",
        {TARGETS: "y = line[1 : 1 + length]"},
    ),
    Mistake(
        "padding_is_a_target",
        "padding counts in the loss; its target should be -100, which cross-entropy leaves out",
        unplanted=[{"[-100] * missing": "[PAD] * missing"}],
    ),
    Mistake(
        "not_padded",
        "windows at the end of a line stay short, and do not fit into one tensor; fill x and y up to the length",
        {"return x + [PAD] * missing, y + [-100] * missing": "return x, y"},
    ),
    Mistake(
        "rows_mixed_up",
        "the inputs come in another order than their targets; keep both in one order",
        {
            BACK: "order = torch.randperm(rows, generator=generator)\n"
            "    return torch.tensor(xs)[order], torch.tensor(ys)"
        },
    ),
    Mistake(
        "one_batch_again_and_again",
        "the generator is made anew in each call, so every batch is the same; draw from the one that is given",
        {EMPTY: f"    generator = torch.Generator().manual_seed(0)\n{EMPTY}"},
    ),
    Mistake(
        "always_from_the_start",
        "every window begins where its line does, so the rest of a line is never learned; draw the start",
        {START: "start = 0"},
    ),
    Mistake(
        "one_line_only",
        "all windows come from the first line; draw a line for each",
        {"int(torch.randint(len(lines), (1,), generator=generator))": "0"},
    ),
    Mistake(
        "held_out_lines_trained_on",
        "the lines to train on include those that are held out; leave the last ones out",
        {"return lines[:-held_out], lines[-held_out:]": "return lines, lines[-held_out:]"},
    ),
    Mistake(
        "held_out_swapped",
        "the two parts are swapped, so the last lines are trained on and the first ones held out; the first part is "
        "for training",
        {"return lines[:-held_out], lines[-held_out:]": "return lines[-held_out:], lines[:-held_out]"},
    ),
    Mistake(
        "decoded_one_off",
        "decode gives each number the character before its own; numbers begin at 1 in both directions",
        {
            "self.character = {number: character for character, number in self.number.items()}": (
                "self.character = dict(enumerate(characters, start=2)) | {1: characters[-1]}"
            )
        },
    ),
    Mistake(
        "no_room_for_padding",
        "the size leaves padding out, so the last character has a number outside the vocabulary; count padding as well",
        {"self.size = len(characters) + 1": "self.size = len(characters)"},
    ),
    Mistake(
        "numbered_from_zero",
        "characters are numbered from 0, which is the number of padding, so one of them is lost in decode; begin at 1",
        {"in enumerate(characters, start=1)": "in enumerate(characters)"},
    ),
    Mistake(
        "floats_for_ids",
        "ids are floats, which an embedding refuses; they should be int64",
        {BACK: "return torch.tensor(xs, dtype=torch.float32), torch.tensor(ys)"},
    ),
)
