"""What is checked of verify_draft."""

from functools import partial

import torch
from torch import Tensor

from graders.kata import Answer, Arguments, Budget, Case, CheckFailed, Draw, Grader, Submission

NEARLY_1 = 1 - 2.0**-24  # the largest float32 below 1
INTEGERS = (torch.int8, torch.uint8, torch.int16, torch.int32)


def weights_of(
    target_probs: Tensor, draft_probs: Tensor, draft_tokens: Tensor, uniforms: Tensor
) -> tuple[list[int], Tensor]:
    """Of each sequence, how many drafts are accepted, and the weights of the new token."""
    B, K, _ = draft_probs.shape
    counts, weights = [], []
    for b in range(B):
        n = 0
        while n < K:
            x = int(draft_tokens[b, n])
            if not float(uniforms[b, n]) * float(draft_probs[b, n, x]) < float(target_probs[b, n, x]):
                break
            n += 1
        rest = target_probs[b, n] - draft_probs[b, n] if n < K else target_probs[b, n]
        counts.append(n)
        weights.append(rest.clamp(min=0))
    return counts, torch.stack(weights)


def verified(
    target_probs: Tensor, draft_probs: Tensor, draft_tokens: Tensor, uniforms: Tensor
) -> tuple[Tensor, Tensor]:
    counts, weights = weights_of(target_probs, draft_probs, draft_tokens, uniforms)
    tokens = torch.full(uniforms.shape, -1)
    for b, n in enumerate(counts):
        sums = weights[b].cumsum(0)
        tokens[b, :n] = draft_tokens[b, :n].long()
        tokens[b, n] = int((sums <= uniforms[b, -1] * sums[-1]).sum())
    return tokens, torch.tensor(counts) + 1


def drafted(draw: Draw, B: int = 6, K: int = 4, V: int = 7, noise: float = 1.2, few: float = 0) -> Arguments:
    """The first sequence accepts all; the second rejects its first draft, and would accept the others.

    Args:
        noise: by how much the logits of the two models differ.
        few: the share of tokens that get the probability 0, in each model by itself.
    """
    logits = draw.normal(B, K + 1, V, std=1.5)
    mixed = torch.stack([logits[:, :K] + draw.normal(B, K, V, std=noise), draw.normal(B, K, V, std=3)])
    q = mixed[0].where(draw.uniform(B, K, V) > few, -torch.inf)
    p = logits.where(draw.uniform(B, K + 1, V) > few, -torch.inf)
    p[..., 0], q[..., -1] = logits[..., 0], mixed[0, ..., -1]  # something is left, and the two differ
    p, q = p.softmax(-1), q.softmax(-1)
    tokens = (q.log() - (-draw.uniform(B, K, V).log()).log()).argmax(-1)  # drawn from q
    if B > 1 and V > 1:
        tokens[:2] = (p[:2, :K] / q[:2]).where(q[:2] > 0, -1).argmax(-1)
        tokens[1, 0] = (q[1, 0] - p[1, 0]).argmax()
    uniforms = draw.uniform(B, K + 1, low=0.001, high=0.999)
    ratio = (p[:, :K].gather(2, tokens[..., None]) / q.gather(2, tokens[..., None]))[..., 0]
    if B > 1 and V > 1:
        uniforms[0, :K] *= ratio[0].clamp(0.01, 1) * 0.9
        uniforms[1, 1:K] *= ratio[1, 1:].clamp(0.01, 1) * 0.9
        uniforms[1, 0] = (1 + ratio[1, 0]) / 2
    near = (uniforms[:, :K] - ratio).abs() < 1e-3 * ratio
    uniforms[:, :K] = torch.where(near, 0.99 * uniforms[:, :K], uniforms[:, :K])
    return off_steps({"target_probs": p, "draft_probs": q, "draft_tokens": tokens, "uniforms": uniforms})


def off_steps(given: Arguments) -> Arguments:
    """The last uniform is moved to the middle of a token's share where it is near an end of it."""
    weights = weights_of(**given)[1]
    sums = weights.cumsum(1) / weights.sum(1, keepdim=True)
    u = given["uniforms"][:, -1:]
    near = ((sums - u).abs() < 2e-4).any(1)
    widest = weights.argmax(1, keepdim=True)
    middle = sums.gather(1, widest) - weights.gather(1, widest) / weights.sum(1, keepdim=True) / 2
    return given | {"uniforms": torch.cat([given["uniforms"][:, :-1], torch.where(near[:, None], middle, u)], 1)}


def sizes(draw: Draw, B: int, K: int, V: int) -> list[Arguments]:
    shapes = ((B, K, V), (1, K, V), (B, 1, V), (B, K, 2), (1, 1, 2), (B, K, 1), (B, V, K), (K, K, K))
    return [drafted(draw, *shape) for shape in shapes]


def close_and_far(draw: Draw) -> list[Arguments]:
    """Nearly all is accepted, and nearly nothing."""
    return [drafted(draw, 8, 5, 9, noise) for noise in (0.3, 3.0, 6.0)]


def of_integers(draw: Draw) -> list[Arguments]:
    """Tokens up to 99; positions after the new token are −1 for unsigned ones also."""
    made = [drafted(draw, 6, 4, 100) for _ in INTEGERS]
    return [one | {"draft_tokens": one["draft_tokens"].to(dtype)} for one, dtype in zip(made, INTEGERS, strict=True)]


def uniforms_of_0(draw: Draw) -> list[Arguments]:
    """A draft that the target gives 0 is rejected, and a new token of weight 0 is never drawn."""
    made = [drafted(draw, 6, 3, 9, few=0.4) for _ in range(3)]
    for one, where in zip(made, (slice(None, -1), slice(-1, None), slice(None)), strict=True):
        p, rows = one["target_probs"], torch.arange(0, 6, 2)
        p[rows, 0, one["draft_tokens"][rows, 0]] = 0
        p[1, :, :2] = 0
        p[..., 8] += 0.1
        p /= p.sum(-1, keepdim=True)
        one["uniforms"][:, where] = 0
    return [off_steps(made[0]), *made[1:]]


def uniforms_below_1(draw: Draw) -> list[Arguments]:
    """The last tokens have weight 0; the one before them has a share of a hundredth at least."""
    made = []
    for V in (20, draw.size(500, 900)):
        last = V - V // 4 - 1
        p, q = draw.uniform(8, 4, V, low=0.2), draw.uniform(8, 3, V, low=0.2)
        p[..., last], q[..., last] = V / 20, 0.01
        p[..., last + 1 :], q[..., last + 1 :] = 0, 0
        uniforms = draw.uniform(8, 4, low=0.01, high=0.99)
        uniforms[::2, :-1] *= 0.01
        uniforms[:, -1] = NEARLY_1
        made.append({"target_probs": p / p.sum(-1, keepdim=True), "draft_probs": q / q.sum(-1, keepdim=True)})
        made[-1] |= {"draft_tokens": draw.integers(8, 3, high=V // 2), "uniforms": uniforms}
    return made


def equal_models(draw: Draw) -> list[Arguments]:
    """All is accepted, up to the largest uniform below 1."""
    made = []
    for K in (1, 4, 6):
        one = drafted(draw, 8, K, 9)
        one["draft_probs"] = one["target_probs"][:, :K].clone()
        one["uniforms"][:, :K] = NEARLY_1
        one["uniforms"][::3, :K] = draw.uniform(3, K, low=0.9, high=0.999)
        made.append(off_steps(one))
    return made


def other_shapes(draw: Draw) -> list[Arguments]:
    """One of the four at a time; some would broadcast, some have as many entries."""
    shapes: dict[str, tuple[tuple[int, ...], ...]] = {
        "target_probs": ((6, 4, 7), (6, 6, 7), (6, 5, 8), (5, 5, 7), (1, 5, 7), (6, 5, 1), (5, 7), (6, 35), (7, 5, 6)),
        "draft_probs": ((6, 5, 7), (6, 3, 7), (6, 4, 6), (7, 4, 7), (1, 4, 7), (6, 1, 7), (6, 4, 1), (4, 7), (6, 4)),
        "draft_tokens": ((6, 5), (6, 3), (5, 4), (1, 4), (6, 1), (4,), (6, 4, 1), (4, 6), (24,)),
        "uniforms": ((6, 4), (6, 6), (5, 5), (1, 5), (6, 1), (5,), (6, 5, 1), (5, 6), (30,), ()),
    }
    made = []
    for name, wrong in shapes.items():
        for shape in wrong:
            value = draw.integers(*shape, high=1) if name == "draft_tokens" else draw.uniform(*shape)
            made.append(drafted(draw) | {name: value})
    return made


def many(draw: Draw, sequences: int, drafts: int, tokens: int) -> Arguments:
    return drafted(draw, sequences, drafts, tokens, noise=0.2)


robust = partial(Case, category="robustness")
HINTS = {
    "sequences": "gather, cumprod and cumsum take all sequences at once",
    "drafts": "cumprod tells which drafts come before the first rejection",
    "tokens": "cumsum and searchsorted draw from a whole row at once",
}

GRADER = Grader(
    answers=(
        Answer(
            "verify_draft(target_probs, draft_probs, draft_tokens, uniforms)",
            oracle=verified,
            half=False,
            cases=(
                Case("four_drafts", drafted),
                Case("close_and_far", close_and_far),
                Case("sizes", sizes, sizes={"B": (2, 6), "K": (2, 5), "V": (3, 9)}),
                Case("probabilities_of_0", lambda draw: [drafted(draw, 6, 4, 9, few=few) for few in (0.3, 0.6)]),
                robust("integers", of_integers, dtypes=(torch.float32,)),
                robust("uniforms_of_0", uniforms_of_0),
                robust("uniforms_below_1", uniforms_below_1),
                robust("equal_models", equal_models),
                Case("other_shapes", other_shapes, raises=ValueError),
            ),
            budgets=(
                Budget(
                    "many_drafts",
                    sizes={"sequences": (8, 32), "drafts": (8, 32), "tokens": (8, 32)},
                    inputs=many,
                    asks=("loops",),
                    hints=HINTS,
                ),
            ),
        ),
    )
)


def first_tokens(verify_draft, target_probs, draft_probs, draft_tokens, uniforms):  # type: ignore[no-untyped-def]
    return verify_draft(target_probs, draft_probs, draft_tokens, uniforms)[0][:, 0]


def test_law_of_the_first_token(submission: Submission, draw: Draw) -> None:
    """Over all drafts and a grid of uniforms, the first token has the target's probabilities."""
    V, n = 4, 100
    p, q = draw.uniform(2, V, low=0.1, high=2).softmax(-1), draw.uniform(V, high=3).softmax(-1)
    grid = (torch.arange(n).double() + 0.5) / n
    drafts = torch.arange(V).repeat_interleave(n * n)[:, None]  # (B, 1)
    B = len(drafts)
    found = submission.run(
        first_tokens,
        target_probs=p.repeat(B, 1, 1),
        draft_probs=q.repeat(B, 1, 1),
        draft_tokens=drafts,
        uniforms=torch.cartesian_prod(grid, grid).repeat(V, 1),
        like=torch.zeros(B, dtype=torch.int64),
    )
    for token in range(V):
        share = float(((found == token).view(V, -1).double().mean(1) * q).sum())
        right = float(p[0, token])
        if not abs(share - right) <= 0.02:
            subject = f"share of token {token} at the first position"
            raise CheckFailed(f"{subject}: should be {right:.3f} ± 0.02, got {share:.3f}")
