"""What is checked of MiniGPT."""

import math

import torch

from graders.kata import Answer, Arguments, Budget, Case, Draw, Grader, Inputs, Submission, attention, bans, gpt

# Scenarios, beside those of graders/kata/gpt.py.


def logits(MiniGPT, ids, weights, layout, sizes, training=True):
    model = MiniGPT(*sizes).to(weights).train(training)
    for p in model.parameters():
        p.data.copy_(torch.linspace(-1, 1, p.numel()).view_as(p))
    parts = zip(layout, weights[0].split([math.prod(shape) for _, *shape in layout]), strict=True)
    model.load_state_dict(model.state_dict() | {name: part.reshape(shape) for (name, *shape), part in parts})
    return model(ids)


def trained(MiniGPT, ids, weights, layout, sizes, steps, rate):
    """By the signs of the gradients, at a rate that falls to 0."""
    model = MiniGPT(*sizes).to(weights)
    for p in model.parameters():
        p.data.copy_(torch.linspace(-1, 1, p.numel()).view_as(p))
    parts = zip(layout, weights[0].split([math.prod(shape) for _, *shape in layout]), strict=True)
    model.load_state_dict(model.state_dict() | {name: part.reshape(shape) for (name, *shape), part in parts})
    losses = []
    for step in range(steps):
        model.zero_grad()
        made = model.loss(ids)
        made.backward()
        for p in model.parameters():
            p.data -= rate * (1 - step / steps) * p.grad.sign()
        losses.append(made.item())
    return {"losses": losses, "written": model.generate(ids[:, :1], ids.shape[1] - 1)}


def loss_of_zeros(MiniGPT, ids, sizes):
    model = MiniGPT(*sizes).to(ids.device)
    for p in model.parameters():
        p.data.zero_()
    return model.loss(ids)


# Inputs


def prompts(*several: tuple[int, ...]) -> Inputs:
    """New tokens, then as for `texts`."""

    return lambda draw: [gpt.clear(draw, *one) for one in several]


def large_scores(draw: Draw, size: float) -> list[Arguments]:
    """24 scores of a first token with itself, which is all that it sees: some are far below 0."""
    return [gpt.tokens(draw, 8, 4, *gpt.USUAL, q_linear=size / 2)]


def long_context(draw: Draw) -> Arguments:
    C = int(draw.integers(1, low=257, high=400))
    return gpt.tokens(draw, 1, C, 5, C, 4, 2, 1)


IN_FLOAT32 = {"dtypes": (torch.float32,)}
GRADER = Grader(
    answers=(
        Answer(
            "class MiniGPT(vocab_size, context, dim, heads, layers)",
            methods=("forward(ids)", "loss(ids)", "generate(ids, new_tokens, temperature=0.0, generator=None)"),
            oracle=gpt.GPT,
            records=True,
            tolerance=gpt.TOLERANCE,
            cases=(
                Case("scores_next_tokens", gpt.calm, scenario=logits),
                Case(
                    "every_size",
                    gpt.texts(
                        (1, 1, 5, 4, 6, 2, 1), (3, 4, 9, 4, 4, 1, 3), (2, 6, 3, 8, 5, 5, 1), (1, 1, 4, 1, 2, 2, 1)
                    ),
                    scenario=logits,
                ),
                Case(
                    "any_sizes", lambda draw: gpt.texts(gpt.any_sizes(draw), gpt.any_sizes(draw))(draw), scenario=logits
                ),
                Case("long_context", long_context, scenario=logits),
                Case(
                    "in_eval_mode",
                    lambda draw: gpt.tokens(draw, 2, 5, *gpt.USUAL) | {"training": False},
                    scenario=logits,
                ),
                Case(
                    "takes_the_loss",
                    gpt.texts((2, 5, *gpt.USUAL), (1, 2, 5, 4, 6, 2, 1), (3, 6, *gpt.USUAL)),
                    scenario=gpt.loss,
                ),
                Case(
                    "writes_greedily",
                    lambda draw: prompts(
                        (2, 8, 3, *gpt.USUAL),
                        (draw.size(7, 10), 4, 1, *gpt.USUAL),
                        (3, 12, 9, *gpt.USUAL),
                        (4, 2, 2, 9, 1, 8, 2, 1),
                    )(draw),
                    scenario=gpt.written,
                ),
                Case("a_new_model", lambda draw: gpt.made_of(7, 5, 6, 2, 2), scenario=gpt.a_new_model, **IN_FLOAT32),
                Case(
                    "loss_is_log_v",
                    lambda draw: {"ids": draw.integers(3, 4, high=9), "sizes": [9, 4, 6, 2, 1]},
                    scenario=loss_of_zeros,
                    **IN_FLOAT32,
                ),
                Case(
                    "generators",
                    gpt.with_and_without_a_generator,
                    scenario=gpt.generators,
                    **IN_FLOAT32,
                ),
                Case(
                    "large_logits",  # in thousands, so that the softmax of most tokens is 0
                    lambda draw: gpt.tokens(draw, 2, 5, 7, 6, 8, 2, 1, token_embedding=400),
                    scenario=gpt.loss,
                    category="robustness",
                    dtypes=(torch.float64,),
                ),
                attention.large_scores(large_scores, scenario=logits, gradients="none"),
                Case(
                    "heads_do_not_divide",
                    lambda draw: [
                        gpt.made_of(7, 5, 6, 2, 1) | {"sizes": [7, 5, D, H, 1]} for D, H in ((10, 4), (4, 8))
                    ],
                    scenario=gpt.a_new_model,
                    raises=ValueError,
                ),
                Case(
                    "longer_than_context",
                    lambda draw: [
                        {"ids": draw.integers(2, S, high=7), "sizes": [7, C, 8, 2, 1]} for S, C in ((7, 6), (9, 4))
                    ],
                    scenario=gpt.refused,
                    raises=ValueError,
                ),
                Case("outside_the_vocabulary", gpt.outside, scenario=gpt.refused, raises=(ValueError, IndexError)),
            ),
            budgets=(
                Budget(
                    "many_small_heads",
                    sizes={"batch": (4, 24), "heads": (4, 24), "length": (4, 24)},
                    inputs=lambda draw, batch, heads, length: (
                        gpt.tokens(draw, batch, length, 8, length, 2 * heads, heads, 1) | {"learning": False}
                    ),
                    scenario=gpt.loss,
                    asks=("loops",),
                    hints={
                        "batch": "@ multiplies all matrices of a batch",
                        "heads": "give the heads an axis of their own, before the last two: @ then does all heads",
                        "length": "one @ scores all pairs of a query and a key",
                    },
                ),
                Budget(
                    "long_texts",
                    sizes={"heads": (2, 8), "length": (32, 128), "channels": (4, 16)},
                    peak=3,
                    inputs=lambda draw, heads, length, channels: gpt.tokens(
                        draw, 1, length, 8, length, heads * channels, heads, 1
                    ),
                    scenario=gpt.loss,
                    asks=("memory",),
                    hints={"channels": "@ itself sums over the channels of a head"},
                ),
            ),
        ),
    ),
    banned=bans.ATTENTION,
)


def test_later_tokens_change_nothing(submission: Submission, draw: Draw) -> None:
    given = gpt.tokens(draw, 2, 6, *gpt.USUAL)
    ids = given.pop("ids")
    later = torch.cat([ids[:, :3], (ids[:, 3:] + 1) % gpt.USUAL[0]], 1)
    one, other = (submission.run(logits, ids=some, **given)[:, :3] for some in (ids, later))
    assert torch.equal(one, other), "logits of tokens 0 to 2: should be the same to the last bit if later tokens change"


def test_overfits_one_sentence(submission: Submission, draw: Draw) -> None:
    sizes = (9, 8, 12, 2, 1)
    ids = draw.permutation(9)[None, :8]
    given = gpt.model(draw, *sizes)
    given["weights"] /= 2  # in 400 draws the reference ends at 0.008 at most
    like = {"losses": [0.0] * 40, "written": ids}
    made = submission.run(trained, like=like, ids=ids, **given, steps=40, rate=0.05)
    assert made["losses"][-1] < 0.1, f"loss after 40 steps: should be below 0.1, got {made['losses'][-1]:.3g}"
    found, right = made["written"].tolist(), ids.tolist()
    assert found == right, f"text that generate makes of the first token: should be {right}, got {found}"


def test_drawn_as_probable(submission: Submission, draw: Draw) -> None:
    gpt.drawn_as_probable(submission, draw)
