"""What is checked of model.py, which the kata mini_gpt's grader does, and its known mistakes, which are mini_gpt's."""

import dataclasses
import math
import runpy
from pathlib import Path

import torch
from torch import Tensor

from graders.kata import Case, Grader, Mistake, gpt, planted_as

ROOT = Path(__file__).parents[3]
KATA = runpy.run_path(str(ROOT / "katas/blocks/mini_gpt/grader.py"))
KNOWN: tuple[Mistake, ...] = runpy.run_path(str(ROOT / "solutions/blocks/mini_gpt/mistakes.py"))["MISTAKES"]
TEXT = Path(__file__).with_name("model.py").read_text(encoding="utf-8")


class Oracle(gpt.GPT):
    """It also begins as the file's model should, and drops out."""

    def __init__(self, vocab_size: int, context: int, dim: int, heads: int, layers: int, dropout: float = 0.0) -> None:
        super().__init__(vocab_size, context, dim, heads, layers)
        self.dropout = dropout
        for p in self.parameters():
            if p.dim() > 1:
                p.data.normal_(std=0.02)
        for name, p in self.named_parameters():
            if name.endswith(("linear.bias", "fc1.bias", "fc2.bias")):
                p.data.zero_()

    def forward(self, ids: Tensor) -> Tensor:
        made = self.scores(ids)
        return torch.nn.functional.dropout(made, self.dropout, self.training)


# Scenarios


def begins(MiniGPT, sizes):
    """How many times 0.02 the weights' standard deviations are, to the next power of 2; biases are all alike."""
    model = MiniGPT(*sizes)
    found = {}
    for name, p in sorted(model.named_parameters(remove_duplicate=False)):
        if "ln" not in name and "head" not in name:
            spread = p.std().item()
            found[name] = round(math.log2(spread / 0.02)) if spread else "all alike"
    return found


def drops(MiniGPT, ids, sizes):
    model = MiniGPT(*sizes, dropout=0.4)
    found = {}
    for training in (True, False):
        model.train(training)
        one, other = model(ids), model(ids)
        found["in training" if training else "in evaluation"] = "same" if torch.equal(one, other) else "differs"
    return found


ANSWER = KATA["GRADER"].answers[0]
IN_FLOAT32 = (torch.float32,)
GRADER = Grader(
    answers=(
        dataclasses.replace(
            ANSWER,
            signature="class MiniGPT(vocab_size, context, dim, heads, layers, dropout=0.0)",
            oracle=Oracle,
            half=False,
            budgets=(),
            cases=(
                *(case for case in ANSWER.cases if case.in_core),
                Case("begins", lambda draw: {"sizes": [60, 40, 64, 4, 2]}, scenario=begins, dtypes=IN_FLOAT32),
                Case(
                    "drops",
                    lambda draw: {"ids": draw.integers(3, 5, high=7), "sizes": [7, 6, 8, 2, 1]},
                    scenario=drops,
                    dtypes=IN_FLOAT32,
                ),
            ),
        ),
    ),
    banned=KATA["GRADER"].banned,
)
test_later_tokens_change_nothing = KATA["test_later_tokens_change_nothing"]
test_drawn_as_probable = KATA["test_drawn_as_probable"]


STD = "nn.init.normal_(module.weight, mean=0.0, std=0.02)"
DRAWN_FROM = "p = torch.softmax(logits.double() / temperature, dim=-1)"
OWN = (
    Mistake(
        "begins_too_large",
        "weights begin with a standard deviation of 2, so the first logits are far apart; use 0.02",
        {"std=0.02": "std=2.0"},
    ),
    Mistake(
        "embeddings_not_initialised",
        "embeddings keep torch's N(0, 1), and with them the tied output projection; initialise them as well, with 0.02",
        {"if isinstance(module, (nn.Linear, nn.Embedding)):": "if isinstance(module, nn.Linear):"},
    ),
    Mistake(
        "begins_constant",
        "all weights begin with the same number, so all channels stay alike; draw them",
        {STD: "nn.init.constant_(module.weight, 0.02)"},
    ),
    Mistake(
        "dropout_in_evaluation",
        "dropout is applied in evaluation also; use the module, or hand F.dropout self.training",
        {"x = self.dropout(x)": "x = F.dropout(x, self.dropout.p)"},
    ),
    Mistake(
        "merged_by_view",
        "view cannot merge heads after a transpose; use reshape, or contiguous() before view",
        {"mixed.transpose(1, 2).reshape(B, S, D)": "mixed.transpose(1, 2).view(B, S, D)"},
    ),
    Mistake(
        "fc2_of_a_wrong_size",
        "fc2 maps from dim channels, but the hidden layer has four times as many; map from 4 · dim to dim",
        {"nn.Linear(4 * dim, dim)": "nn.Linear(dim, dim)"},
    ),
    Mistake(
        "mask_of_floats",
        "the mask is made of floats, which ~ refuses; make it of bools",
        {"torch.ones(S, S, dtype=torch.bool, device=x.device)": "torch.ones(S, S, device=x.device)"},
    ),
    Mistake(
        "one_position_too_few",
        "the position embedding has a row less than the context, so a full window has no last position; give it "
        "context rows",
        {"nn.Embedding(context, dim)": "nn.Embedding(context - 1, dim)"},
    ),
    Mistake(
        "drawn_by_log_probabilities",
        "tokens are drawn by log-probabilities, which are negative; multinomial takes probabilities",
        {DRAWN_FROM: DRAWN_FROM.replace("softmax", "log_softmax")},
    ),
    Mistake(
        "token_without_its_axis",
        "the new token has no axis of its own, so it cannot be joined to the text; keep the axis in argmax",
        {"logits.argmax(dim=-1, keepdim=True)": "logits.argmax(dim=-1)"},
    ),
)
# Of mini_gpt's mistakes, those whose symptom shows: with a wrong scale, the model still learns its lines.
SHOWN = (
    *("not_causal", "itself_hidden", "next_token_seen", "past_hidden", "softmax_over_queries"),
    *("heads_split_by_view", "heads_merged_without_transpose", "logits_are_probabilities"),
    *("context_not_cropped", "cropped_at_the_end", "first_logits_taken", "worst_token", "temperature_multiplied"),
    *("last_token_only", "prompt_only"),
    *("labels_not_shifted", "softmax_before_the_loss", "first_logits_left_out"),
)
MISTAKES = (*OWN, *planted_as([one for one in KNOWN if not one.slow], TEXT, SHOWN))
