"""What is checked of policy.py, and its known mistakes."""

import runpy
from pathlib import Path

import torch
from torch import nn

from graders.kata import Answer, Arguments, Case, Draw, Grader, Mistake

RIGHT = runpy.run_path(str(Path(__file__).with_name("policy.py")))

# Scenarios


def scored(Policy, prompts, tokens, width):
    policy = Policy(width)
    for _, p in sorted(policy.named_parameters()):
        p.data.copy_(torch.linspace(-1, 1, p.numel()).view_as(p))
    later = tokens.clone()
    later[:, -1] = 10 - later[:, -1]
    return {"logits": policy(prompts, tokens), "with another last token": policy(prompts, later)}


def sampled(rollout, after, prompts, seed):
    """A policy that is sure of each next token; after a prompt it is the prompt itself."""

    def policy(prompts, tokens):
        before = torch.cat([prompts[:, None], tokens[:, :-1]], 1)
        follows = torch.cat([prompts[:, None], torch.tensor(after)[before[:, 1:]]], 1)
        return 60.0 * nn.functional.one_hot(follows, 11)

    tokens, mask = rollout(policy, prompts, torch.Generator().manual_seed(seed))
    return {"tokens": tokens, "mask": mask}


def drawn(rollout, rows, seed):
    """Where token 3 has half of the probability and token 4 the rest: which of them are ever drawn, and how often."""

    def policy(prompts, tokens):
        logits = torch.full((*tokens.shape, 11), -60.0)
        logits[:, :, 3], logits[:, :, 4] = 1.5, 0.0
        return logits

    tokens, _ = rollout(policy, torch.zeros(rows, dtype=torch.int64), torch.Generator().manual_seed(seed))
    share = (tokens == 3).double().mean().item()
    return {"tokens that occur": tokens.unique(), "share of the likelier, in twentieths": round(20 * share)}


# Inputs


def chains(draw: Draw) -> Arguments:
    """Each digit leads to the next of a drawn order, and three of them to the end."""
    order = draw.permutation(10).tolist()
    after = {digit: order[(place + 1) % 10] for place, digit in enumerate(order)}
    ends = order[::4]
    return {
        "after": [10 if digit in ends else after[digit] for digit in range(10)] + [5],
        "prompts": draw.permutation(10),
        "seed": draw.size(1, 10**6),
    }


def answers(draw: Draw) -> Arguments:
    """Of all lengths, right and wrong."""
    tokens, prompts = draw.integers(40, 6, high=10), draw.integers(40, high=10)
    for row in range(40):
        length = row % 7
        tokens[row, length:] = 10
        if row % 2 and length:
            prompts[row] = tokens[row, :length].sum() % 10
    return {"prompts": prompts, "tokens": tokens}


IN_FLOAT32 = {"dtypes": (torch.float32,)}
GRADER = Grader(
    answers=(
        Answer(
            "class Policy(width=48)",
            methods=("forward(prompts, tokens)",),
            oracle=RIGHT["Policy"],
            cases=(
                Case(
                    "scored",
                    lambda draw: {
                        "prompts": draw.integers(4, high=10),
                        "tokens": draw.integers(4, 5, high=11),
                        "width": 6,
                    },
                    scenario=scored,
                    **IN_FLOAT32,
                ),
            ),
        ),
        Answer(
            "rollout(policy, prompts, generator)",
            oracle=RIGHT["rollout"],
            cases=(
                Case("sampled", chains, scenario=sampled, **IN_FLOAT32),
                Case(
                    "drawn",
                    lambda draw: {"rows": 4000, "seed": draw.size(1, 10**6)},
                    scenario=drawn,
                    **IN_FLOAT32,
                ),
            ),
        ),
        Answer("reward(prompts, tokens)", oracle=RIGHT["reward"], cases=(Case("rewarded", answers, **IN_FLOAT32),)),
    ),
)

BEFORE = "tokens[:, :-1]], dim=1)"
MASK = "        mask[:, place] = going_on.float()\n"
STOP = "        going_on = going_on & (drawn != END)\n"
SOFTMAX = "probabilities = torch.softmax(logits, dim=-1)"
DRAWN = "drawn = torch.multinomial(probabilities, 1, generator=generator)[:, 0]"
MISTAKES = (
    Mistake(
        "sees_the_answer",
        "each token is scored by itself, which the policy cannot know yet; show it the prompt and the tokens before it",
        {BEFORE: "tokens[:, 1:]], dim=1)"},
    ),
    Mistake(
        "prompt_as_a_digit",
        "a prompt has the embedding of a digit, so the two are mixed up; give prompts numbers of their own",
        unplanted=[{"prompts[:, None] + END + 1": "prompts[:, None]"}],
    ),
    Mistake(
        "prompt_out_of_range",
        "a prompt's number is outside the embedding; prompts follow the 11 tokens, and begin at END + 1",
        {"prompts[:, None] + END + 1": "prompts[:, None] + 2 * (END + 1)"},
    ),
    Mistake(
        "end_not_in_the_mask",
        "the mask leaves out the END that was chosen, so ending is never learned; take the mask before the END counts",
        unplanted=[{MASK: "", STOP: STOP + MASK}],
    ),
    Mistake(
        "all_in_the_mask",
        "the mask also has what follows the END; leave it out",
        {MASK: MASK.replace("going_on.float()", "1.0")},
    ),
    Mistake(
        "never_ends",
        "an answer goes on after its END; put END in all places after the first",
        {"torch.where(going_on, drawn, END)": "drawn"},
    ),
    Mistake(
        "ends_with_the_batch",
        "all answers end as soon as one does; keep for each answer whether it goes on",
        {STOP: "        going_on = going_on & (drawn != END).all()\n"},
    ),
    Mistake(
        "always_the_best",
        "the best token is always taken, so all answers of a group are equal; draw",
        {DRAWN: "drawn = probabilities.argmax(dim=-1)"},
    ),
    Mistake(
        "hotter",
        "answers are drawn at another temperature than their log-probabilities are taken at; leave the logits as they "
        "are",
        {SOFTMAX: "probabilities = torch.softmax(logits / 2, dim=-1)"},
    ),
    Mistake(
        "drawn_by_logits",
        "tokens are drawn by logits, which can be negative; take their softmax",
        {SOFTMAX: "probabilities = logits"},
    ),
    Mistake(
        "softmax_over_answers",
        "the softmax runs over the answers of the batch; it should run over the tokens",
        {SOFTMAX: SOFTMAX.replace("-1", "0")},
    ),
    Mistake(
        "first_token_scored",
        "each token is drawn by the first place's logits; take the last place's",
        {"tokens[:, : place + 1])[:, -1]": "tokens[:, : place + 1])[:, 0]"},
    ),
    Mistake(
        "length_not_rewarded",
        "one digit is enough for the reward, and the prompt itself always right; ask for two digits",
        {"digits.sum(dim=1) >= 2": "digits.sum(dim=1) >= 0"},
    ),
    Mistake(
        "without_an_end",
        "only answers without an END are rewarded; ask for an END",
        {"ended = tokens[:, -1] == END": "ended = tokens[:, -1] != END"},
    ),
    Mistake(
        "sum_of_a_batch",
        "digits are added up over the answers; add up each answer's own",
        {"total = (tokens * digits).sum(dim=1) % 10": "total = (tokens * digits).sum() % 10"},
    ),
)
