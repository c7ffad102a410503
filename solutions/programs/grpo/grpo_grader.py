"""What is checked of grpo.py, and its known mistakes."""

import runpy
from pathlib import Path

import torch
from torch import nn

from graders.kata import Answer, Arguments, Case, Draw, Grader, Mistake

RIGHT = runpy.run_path(str(Path(__file__).with_name("grpo.py")))

# Scenarios


def scored(log_probs, logits, prompts, tokens):
    chosen, entropy = log_probs(
        lambda prompts, tokens: logits + prompts[:, None, None] * tokens[:, :, None], prompts, tokens
    )
    return {"log-probabilities": chosen, "entropy": entropy}


def lost(grpo_loss, new, old, ref, advantage, mask):
    new = new.clone().requires_grad_()
    loss, ratio, kl = grpo_loss(new, old, ref, advantage, mask)
    loss.backward()
    return {"loss": loss, "ratio": ratio, "kl": kl, "gradient": new.grad}


def collected(collect, table, other, prompts, several):
    """Policies are tables of logits; an answer is made of its place in the batch, and so is its reward."""

    class Table(nn.Module):
        def __init__(self, table):
            super().__init__()
            self.table = nn.Parameter(table.clone())

        def forward(self, prompts, tokens):
            return self.table[prompts][:, None] + 0.1 * tokens[:, :, None]

    def rollout(policy, prompts):
        places = torch.arange(len(prompts))
        return torch.stack([(prompts + places) % 5, places % 4], 1), ((places[:, None] + torch.arange(2)) % 3).to(
            table
        ) / 2

    def reward(prompts, tokens):
        return (prompts * tokens[:, 0] + tokens[:, 1]).to(table)

    batch = collect(Table(table), Table(other), prompts, several, rollout, reward)
    learning = [name for name, value in sorted(batch.items()) if value.requires_grad]
    return {name: value.detach() for name, value in sorted(batch.items())} | {"learning": learning}


def updated(update, table, prompts, tokens, mask, old, ref, advantage, epochs):
    class Table(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Parameter(table.clone())

        def forward(self, prompts, tokens):
            return self.table[prompts][:, None] + 0.1 * tokens[:, :, None] * self.table[0]

    class Optimizer(torch.optim.Optimizer):  # without its constructor, which takes seconds to import what it needs
        def __init__(self):
            self.steps, self.param_groups = 0, [{"params": [policy.table]}]

        def zero_grad(self, set_to_none=True):
            policy.table.grad = None

        def step(self, closure=None):
            self.steps += 1
            if policy.table.grad is not None:
                policy.table.data -= 0.3 * policy.table.grad

    policy = Table()
    optimizer = Optimizer()
    policy.table.grad = torch.full_like(table, 3.0)
    batch = {"prompts": prompts, "tokens": tokens, "mask": mask, "old": old, "ref": ref, "advantage": advantage}
    found = update(policy, optimizer, batch, epochs)
    return {"weights": policy.table.detach(), "steps": optimizer.steps} | {name: found[name] for name in sorted(found)}


# Inputs


def of_a_batch(draw: Draw, rows: int = 6, length: int = 4) -> Arguments:
    mask = (torch.arange(length) < draw.integers(rows, low=1, high=length + 1)[:, None]).double()
    names = ("old", "ref")
    return {name: draw.normal(rows, length, std=0.4, mean=-1) for name in names} | {
        "advantage": draw.normal(rows),
        "mask": mask,
    }


def losses(draw: Draw) -> Arguments:
    made = of_a_batch(draw)
    return {"new": made["old"] + draw.normal(6, 4, std=0.3)} | made


def tables(draw: Draw) -> Arguments:
    return {"table": draw.normal(5, 5), "other": draw.normal(5, 5), "prompts": draw.integers(3, high=5), "several": 4}


def updates(draw: Draw) -> Arguments:
    given = {"table": draw.normal(5, 5), "prompts": draw.integers(6, high=5), "tokens": draw.integers(6, 4, high=5)}
    return given | of_a_batch(draw) | {"epochs": 3}


def groups(draw: Draw, several: int = 3, group: int = 5) -> Arguments:
    """The rewards of the last group are all equal."""
    rewards = draw.normal(several, group)
    rewards[-1] = 1.0
    return {"rewards": rewards.flatten(), "group": group}


IN_FLOAT64 = {"dtypes": (torch.float64,)}
GRADER = Grader(
    answers=(
        Answer(
            "log_probs(policy, prompts, tokens)",
            oracle=RIGHT["log_probs"],
            half=False,
            cases=(
                Case(
                    "scored",
                    lambda draw: {
                        "logits": draw.normal(3, 4, 6, std=3),
                        "prompts": draw.normal(3),
                        "tokens": draw.integers(3, 4, high=6),
                    },
                    scenario=scored,
                    **IN_FLOAT64,
                ),
            ),
        ),
        Answer(
            "advantages(rewards, group)",
            oracle=RIGHT["advantages"],
            half=False,
            cases=(
                Case("three_groups", groups, **IN_FLOAT64),
                Case("other_groups", lambda draw: [groups(draw, 4, 2), groups(draw, 2, 7)], **IN_FLOAT64),
            ),
        ),
        Answer(
            "grpo_loss(new, old, ref, advantage, mask)",
            oracle=RIGHT["grpo_loss"],
            half=False,
            records=True,
            cases=(Case("lost", losses, scenario=lost, **IN_FLOAT64),),
        ),
        Answer(
            "collect(policy, reference, prompts, group, rollout, reward)",
            oracle=RIGHT["collect"],
            half=False,
            cases=(Case("collected", tables, scenario=collected, **IN_FLOAT64),),
        ),
        Answer(
            "update(policy, optimizer, batch, epochs)",
            oracle=RIGHT["update"],
            half=False,
            records=True,
            cases=(Case("updated", updates, scenario=updated, **IN_FLOAT64),),
        ),
    ),
)

LOGP = "logp = torch.log_softmax(policy(prompts, tokens), dim=-1)"
NEW = '        new, entropy = log_probs(policy, batch["prompts"], batch["tokens"])\n'
LOSS = 'grpo_loss(new, batch["old"], batch["ref"], batch["advantage"], mask)'
CENTRED = "centred = groups - groups.mean(dim=1, keepdim=True)"
SCALED = "(centred / (groups.std(dim=1, keepdim=True) + 1e-4)).flatten()"
OLD = "old, _ = log_probs(policy, prompts, tokens)"
MISTAKES = (
    Mistake(
        "logits_for_log_probabilities",
        "logits stand where log-probabilities belong, so ratios compare what was never normalised; take log_softmax",
        {LOGP: "logp = policy(prompts, tokens)"},
    ),
    Mistake(
        "probabilities_for_log_probabilities",
        "probabilities stand where log-probabilities belong; take log_softmax",
        {LOGP: LOGP.replace("log_softmax", "softmax")},
    ),
    Mistake(
        "softmax_over_the_answer",
        "the softmax runs over the places of an answer; it should run over the tokens",
        {LOGP: LOGP.replace("-1", "1")},
    ),
    Mistake(
        "old_of_the_new_policy",
        "old log-probabilities are taken anew in each epoch, so every ratio is 1 and nothing is clipped; keep those of "
        "the policy that wrote the answers",
        {LOSS: LOSS.replace('batch["old"]', "new.detach()")},
    ),
    Mistake(
        "old_with_gradient",
        "old and new log-probabilities are one tensor, so the ratio is 1 with no gradient; keep the old ones",
        {LOSS: LOSS.replace('batch["old"]', "new")},
    ),
    Mistake(
        "old_of_the_reference",
        "the ratio compares with the reference in place of the policy that wrote the answers, so it drifts away from 1",
        {OLD: "old, _ = log_probs(reference, prompts, tokens)"},
    ),
    Mistake(
        "reference_of_the_policy",
        "the reference's log-probabilities are the policy's own, so the KL begins at 0 in each step and holds nothing "
        "back; take the reference's",
        {"ref, _ = log_probs(reference, prompts, tokens)": "ref = old"},
    ),
    Mistake(
        "kl_rewarded",
        "the KL term has the wrong sign and pushes the policy away from the reference; subtract it from the gain",
        unplanted=[{"- BETA * kl": "+ BETA * kl"}],
    ),
    Mistake(
        "kl_of_the_wrong_side",
        "the estimator of the KL has the two log-probabilities swapped; it is exp(ref − new) − (ref − new) − 1",
        unplanted=[{"torch.exp(ref - new) - (ref - new) - 1": "torch.exp(new - ref) - (new - ref) - 1"}],
    ),
    Mistake(
        "groups_mixed",
        "answers to all prompts take turns, so a group has answers to different prompts; repeat each prompt in a row",
        unplanted=[{"prompts.repeat_interleave(group)": "prompts.repeat(group)"}],
    ),
    Mistake(
        "groups_across",
        "rewards are grouped across the prompts; each row should be a prompt's group",
        unplanted=[{"groups = rewards.view(-1, group)": "groups = rewards.view(group, -1)", SCALED: SCALED}],
    ),
    Mistake(
        "mean_of_the_batch",
        "rewards are compared with the mean of all groups; compare each with its own group's",
        {CENTRED: "centred = groups - groups.mean()"},
    ),
    Mistake(
        "not_centred",
        "rewards are not compared with their group's mean; subtract it",
        unplanted=[{CENTRED: "centred = groups"}],
    ),
    Mistake(
        "nothing_added_to_the_deviation",
        "a group of equal rewards divides 0 by 0; add a small number to the standard deviation",
        {" + 1e-4": ""},
    ),
    Mistake(
        "one_group_for_each_answer",
        "the mean runs over the prompts; it should run over a group's answers",
        {CENTRED: CENTRED.replace("dim=1", "dim=0")},
    ),
    Mistake(
        "loss_is_the_gain",
        "the loss is the gain itself, so the policy unlearns; it should be minus the gain",
        {"loss = -(each": "loss = (each"},
    ),
    Mistake(
        "maximum_for_minimum",
        "the larger of the two gains is taken, which clips nothing that should be clipped; take the smaller",
        unplanted=[{"torch.min(gain, clipped)": "torch.max(gain, clipped)"}],
    ),
    Mistake(
        "never_clipped",
        "ratios are not clipped; clamp them to 1 ± CLIP",
        unplanted=[{"ratio.clamp(1 - CLIP, 1 + CLIP)": "ratio"}],
    ),
    Mistake(
        "ratio_of_logarithms",
        "the ratio divides log-probabilities; it is exp(new − old)",
        {"ratio = torch.exp(new - old)": "ratio = new / old"},
    ),
    Mistake(
        "ratio_upside_down",
        "the ratio is upside down; it is exp(new − old)",
        {"ratio = torch.exp(new - old)": "ratio = torch.exp(old - new)"},
    ),
    Mistake(
        "mask_left_out",
        "places after the END count in the loss; leave them out by the mask",
        unplanted=[{"loss = -(each * mask).sum() / mask.sum()": "loss = -each.mean()"}],
    ),
    Mistake(
        "rewards_one_answer_off",
        "each answer has the advantage of the one before it; keep them in order",
        {"advantage = advantages(rewards, group)": "advantage = advantages(rewards, group).roll(1)"},
    ),
    Mistake(
        "one_token_off",
        "each place has the log-probability of the token before its own; gather the tokens as they stand",
        {"logp.gather(2, tokens[:, :, None])": "logp.gather(2, tokens.roll(1, 1)[:, :, None])"},
    ),
    Mistake(
        "gradients_pile_up",
        "gradients of earlier epochs are added; clear them before each backward",
        unplanted=[{"        optimizer.zero_grad()\n": ""}],
    ),
    Mistake(
        "cleared_before_the_step",
        "gradients are cleared between backward and the step, so nothing is learned; clear them before backward",
        {
            "        optimizer.zero_grad()\n": "",
            "        optimizer.step()\n": "        optimizer.zero_grad()\n        optimizer.step()\n",
        },
    ),
    Mistake("no_step", "the optimiser never steps; let it", {"        optimizer.step()\n": ""}),
    Mistake(
        "axis_of_the_advantage",
        "advantages (B,) meet ratios (B, L) along the wrong axis; give them an axis for the places",
        {"gain = ratio * advantage[:, None]": "gain = ratio * advantage"},
    ),
)
