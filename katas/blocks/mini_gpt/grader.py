"""What is checked of MiniGPT."""

import math
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from graders.kata import (
    HALF,
    Answer,
    Arguments,
    Budget,
    Case,
    CheckFailed,
    Draw,
    Grader,
    Inputs,
    Submission,
    Tolerance,
    attention,
    bans,
    last_places,
)  # fmt: skip

# Chernoff: of N draws, the share f of a token with the probability p has N · KL(f, p) above L with a probability of at
# most 2 exp(−L), whatever N and p. A grading compares 18 shares so: by chance a right answer fails 4 of 10¹¹ gradings.
L, N = math.log(1e12), 4000
# A gradient of k_linear's bias is 0 by nature; what comes back for it is the rounding error of a sum over all tokens.
TOLERANCE = {torch.float32: Tolerance(1e-4, 3e-5, 3e-5), **last_places(8)}


class Right(nn.Module):
    """Torch's own attention, the exact GELU as it is written, and Gumbel noise in place of a draw."""

    def __init__(self, vocab_size: int, context: int, dim: int, heads: int, layers: int) -> None:
        super().__init__()
        self.context, self.heads = context, heads
        self.token_embedding, self.position_embedding = nn.Embedding(vocab_size, dim), nn.Embedding(context, dim)
        self.blocks = nn.ModuleList()
        for _ in range(layers):
            maps = {f"{name}_linear": nn.Linear(dim, dim) for name in ("q", "k", "v", "out")}
            linear = {"fc1": nn.Linear(dim, 4 * dim), "fc2": nn.Linear(4 * dim, dim)}
            self.blocks.append(nn.ModuleDict({"ln1": nn.LayerNorm(dim), **maps, "ln2": nn.LayerNorm(dim), **linear}))
        self.ln_f = nn.LayerNorm(dim)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.token_embedding.weight[ids] + self.position_embedding.weight[: ids.shape[1]]
        for block in self.blocks:
            normed = block["ln1"](x)
            q, k, v = (block[f"{n}_linear"](normed).unflatten(2, (self.heads, -1)).transpose(1, 2) for n in "qkv")
            mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + block["out_linear"](mixed.transpose(1, 2).flatten(2))
            h = block["fc1"](block["ln2"](x))
            x = x + block["fc2"](h * (1 + torch.erf(h / math.sqrt(2))) / 2)
        return self.ln_f(x) @ self.token_embedding.weight.mT

    def loss(self, ids: Tensor) -> Tensor:
        return -self(ids)[:, :-1].log_softmax(2).gather(2, ids[:, 1:, None]).mean()

    def generate(
        self, ids: Tensor, new_tokens: int, temperature: float = 0.0, generator: torch.Generator | None = None
    ) -> Tensor:
        for _ in range(new_tokens):
            z = self(ids[:, -self.context :])[:, -1]
            if temperature:
                noise = torch.rand(z.shape, generator=generator, dtype=z.dtype)
                z = z / temperature - (-noise.log()).log()
            ids = torch.cat([ids, z.argmax(-1, keepdim=True)], 1)
        return ids


# Scenarios. `weights` has all parameters one after the other, in one row; `layout` has the name and shape of each.
# What the layout lacks, such as the weight of a head that is not tied, holds the same in each answer, and no two equal
# rows: else topk and argmax could write different texts.


def logits(MiniGPT, ids, weights, layout, sizes, training=True):
    model = MiniGPT(*sizes).to(weights).train(training)
    for p in model.parameters():
        p.data.copy_(torch.linspace(-1, 1, p.numel()).view_as(p))
    parts = zip(layout, weights[0].split([math.prod(shape) for _, *shape in layout]), strict=True)
    model.load_state_dict(model.state_dict() | {name: part.reshape(shape) for (name, *shape), part in parts})
    return model(ids)


def loss(MiniGPT, ids, weights, layout, sizes, learning=True):
    model = MiniGPT(*sizes).to(weights)
    for p in model.parameters():
        p.data.copy_(torch.linspace(-1, 1, p.numel()).view_as(p))
    parts = zip(layout, weights[0].split([math.prod(shape) for _, *shape in layout]), strict=True)
    model.load_state_dict(model.state_dict() | {name: part.reshape(shape) for (name, *shape), part in parts})
    made = model.loss(ids)
    if not learning:
        return made
    made.backward()
    return {"loss": made, "gradient": {name: model.get_parameter(name).grad for name, *_ in layout}}


def written(MiniGPT, ids, weights, layout, sizes, new_tokens, temperature=0.0, seed=0):
    model = MiniGPT(*sizes).to(weights)
    for p in model.parameters():
        p.data.copy_(torch.linspace(-1, 1, p.numel()).view_as(p))
    parts = zip(layout, weights[0].split([math.prod(shape) for _, *shape in layout]), strict=True)
    model.load_state_dict(model.state_dict() | {name: part.reshape(shape) for (name, *shape), part in parts})
    if not temperature:
        return model.generate(ids, new_tokens)
    return model.generate(ids, new_tokens, temperature, torch.Generator(ids.device).manual_seed(seed))


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


def a_new_model(MiniGPT, sizes, names):
    model = MiniGPT(*sizes)
    found = dict(sorted(model.named_parameters(remove_duplicate=False)))
    tied = found.get("token_embedding.weight")
    return {
        "is an nn.Module": isinstance(model, nn.Module),
        "parameters": [f"{name} {list(p.shape)}" for name, p in found.items() if name in names],
        "shapes of other parameters": [
            list(p.shape) for name, p in found.items() if name not in names and p is not tied
        ],
    }


def loss_of_zeros(MiniGPT, ids, sizes):
    model = MiniGPT(*sizes).to(ids.device)
    for p in model.parameters():
        p.data.zero_()
    return model.loss(ids)


def generators(MiniGPT, ids, sizes, given, seed):
    """All tokens are equally probable."""
    model = MiniGPT(*sizes).to(ids.device)
    for p in model.parameters():
        p.data.zero_()
    generator, default = torch.Generator(ids.device), torch.default_generator
    if ids.is_cuda:
        default = torch.cuda.default_generators[ids.device.index]
    drawn, other, options = (generator, default, {"generator": generator}) if given else (default, generator, {})
    drawn.manual_seed(seed)
    aside = other.manual_seed(1).get_state()
    first, second = (model.generate(ids, 3, temperature=1.0, **options) for _ in range(2))
    kept = other.get_state()
    drawn.manual_seed(seed)
    return {
        "whether the other generator stayed": torch.equal(kept, aside),
        "whether a second call gave other tokens": not torch.equal(second, first),
        "whether the same seed gave the same tokens": torch.equal(model.generate(ids, 3, 1.0, **options), first),
    }


def refused(MiniGPT, ids, sizes):
    return MiniGPT(*sizes).to(ids.device)(ids)


# Inputs


SCALES = {
    "position": 0.7,
    "q_linear": 2,
    "k_linear": 2,
    "out_linear": 3,
    "fc2": 3,
}  # so that texts do not all end alike


def model(draw: Draw, *sizes: int, **scales: float) -> Arguments:
    """V, C, D, H and L, and weights for them, of these scales or the usual ones."""
    layout, parts = [], []
    for name, p in Right(*sizes).named_parameters():
        layout.append([name, *p.shape])
        scale = next((scale for part, scale in (SCALES | scales).items() if part in name), 1)
        around = float("ln" in name and "weight" in name)
        parts.append(
            draw.normal(*p.shape, std=scale * p.shape[-1] ** -0.5 if p.dim() == 2 else 0.1 + 0.2 * around, mean=around)
        )
    return {"weights": torch.cat([part.flatten() for part in parts])[None], "layout": layout, "sizes": [*sizes]}


def tokens(draw: Draw, B: int, S: int, *sizes: int, **scales: float) -> Arguments:
    return {"ids": draw.integers(B, S, high=sizes[0]), **model(draw, *sizes, **scales)}


def texts(*several: tuple[int, ...]) -> Inputs:
    """B, S, V, C, D, H and L of each."""
    return lambda draw: [tokens(draw, *one) for one in several]


def calm(draw: Draw) -> Arguments:
    """Half precision is far less than 8 units off, as it is for 7 draws of 8: some weights make roundings grow."""
    while rounding(given := tokens(draw, 2, 5, *USUAL)) > 3:
        pass
    return given


def rounding(given: Arguments) -> float:
    """How far torch's own layers are off in half precision, in units in the last place of the largest logit."""
    units = []
    for dtype in HALF:
        weights = given["weights"].to(dtype)
        made, wanted = (logits(Right, **given | {"weights": one}).double() for one in (weights, weights.double()))
        units.append((made - wanted).abs().max() / wanted.abs().max() / torch.finfo(dtype).eps)
    return max(units)


def is_clear(given: Arguments) -> bool:
    """Whether the best token of each step is far from the second, so that no rounding decides."""
    known = {name: one for name, one in given.items() if name != "new_tokens"}
    made, C = written(Right, **given), given["sizes"][1]
    for t in range(given["ids"].shape[1], made.shape[1]):
        best = logits(Right, **known | {"ids": made[:, max(t - C, 0) : t]})[:, -1].topk(2).values
        if (best[:, 0] - best[:, 1]).min() < 0.003:
            return False
    return True


def prompts(*several: tuple[int, ...]) -> Inputs:
    """New tokens, then as for `texts`."""

    def clear(draw: Draw, new_tokens: int, *sizes: int) -> Arguments:
        while not is_clear(given := tokens(draw, *sizes) | {"new_tokens": new_tokens}):
            pass
        return given

    return lambda draw: [clear(draw, *one) for one in several]


def any_sizes(draw: Draw) -> list[Arguments]:
    """B, S, V, C, D, H and L, where D is a multiple of H."""
    made = []
    for _ in range(2):
        s = draw.sizes(B=(2, 7), S=(3, 8), V=(4, 12), H=(2, 5), d=(1, 4), L=(1, 4))
        made.append((s["B"], s["S"], s["V"], s["S"] + draw.size(0, 3), s["H"] * s["d"], s["H"], s["L"]))
    return texts(*made)(draw)


def large_scores(draw: Draw, size: float) -> list[Arguments]:
    """24 scores of a first token with itself, which is all that it sees: some are far below 0."""
    return [tokens(draw, 8, 4, *USUAL, q_linear=size / 2)]


def long_context(draw: Draw) -> Arguments:
    C = int(draw.integers(1, low=257, high=400))
    return tokens(draw, 1, C, 5, C, 4, 2, 1)


def made_of(*sizes: int) -> Arguments:
    return {"sizes": [*sizes], "names": [name for name, _ in Right(*sizes).named_parameters()]}


def outside(draw: Draw) -> list[Arguments]:
    made = []
    for place, wrong in ((0, 7), (4, 7), (2, -1), (0, -7), (3, 1000)):
        ids = draw.integers(2, 5, high=7)
        ids[1, place] = wrong
        made.append({"ids": ids, "sizes": [7, 6, 8, 2, 1]})
    return made


USUAL = (7, 6, 12, 3, 2)  # V, C, D, H and L
IN_FLOAT32 = {"dtypes": (torch.float32,)}
GRADER = Grader(
    answers=(
        Answer(
            "class MiniGPT(vocab_size, context, dim, heads, layers)",
            methods=("forward(ids)", "loss(ids)", "generate(ids, new_tokens, temperature=0.0, generator=None)"),
            oracle=Right,
            records=True,
            tolerance=TOLERANCE,
            cases=(
                Case("scores_next_tokens", calm, scenario=logits),
                Case(
                    "every_size",
                    texts((1, 1, 5, 4, 6, 2, 1), (3, 4, 9, 4, 4, 1, 3), (2, 6, 3, 8, 5, 5, 1), (1, 1, 4, 1, 2, 2, 1)),
                    scenario=logits,
                ),
                Case("any_sizes", any_sizes, scenario=logits),
                Case("long_context", long_context, scenario=logits),
                Case("in_eval_mode", lambda draw: tokens(draw, 2, 5, *USUAL) | {"training": False}, scenario=logits),
                Case("takes_the_loss", texts((2, 5, *USUAL), (1, 2, 5, 4, 6, 2, 1), (3, 6, *USUAL)), scenario=loss),
                Case(
                    "writes_greedily",
                    lambda draw: prompts(
                        (2, 8, 3, *USUAL),
                        (draw.size(7, 10), 4, 1, *USUAL),
                        (3, 12, 9, *USUAL),
                        (4, 2, 2, 9, 1, 8, 2, 1),
                    )(draw),
                    scenario=written,
                ),
                Case("a_new_model", lambda draw: made_of(7, 5, 6, 2, 2), scenario=a_new_model, **IN_FLOAT32),
                Case(
                    "loss_is_log_v",
                    lambda draw: {"ids": draw.integers(3, 4, high=9), "sizes": [9, 4, 6, 2, 1]},
                    scenario=loss_of_zeros,
                    **IN_FLOAT32,
                ),
                Case(
                    "generators",
                    lambda draw: [
                        {
                            "ids": draw.integers(32, 2, high=8),
                            "sizes": [8, 4, 4, 1, 1],
                            "given": given,
                            "seed": int(draw.integers(1, high=1 << 31)),
                        }
                        for given in (True, False)
                    ],
                    scenario=generators,
                    **IN_FLOAT32,
                ),
                Case(
                    "large_logits",  # in thousands, so that the softmax of most tokens is 0
                    lambda draw: tokens(draw, 2, 5, 7, 6, 8, 2, 1, token_embedding=400),
                    scenario=loss,
                    category="robustness",
                    dtypes=(torch.float64,),
                ),
                attention.large_scores(large_scores, scenario=logits, gradients="none"),
                Case(
                    "heads_do_not_divide",
                    lambda draw: [made_of(7, 5, 6, 2, 1) | {"sizes": [7, 5, D, H, 1]} for D, H in ((10, 4), (4, 8))],
                    scenario=a_new_model,
                    raises=ValueError,
                ),
                Case(
                    "longer_than_context",
                    lambda draw: [
                        {"ids": draw.integers(2, S, high=7), "sizes": [7, C, 8, 2, 1]} for S, C in ((7, 6), (9, 4))
                    ],
                    scenario=refused,
                    raises=ValueError,
                ),
                Case("outside_the_vocabulary", outside, scenario=refused, raises=(ValueError, IndexError)),
            ),
            budgets=(
                Budget(
                    "many_small_heads",
                    sizes={"batch": (4, 24), "heads": (4, 24), "length": (4, 24)},
                    inputs=lambda draw, batch, heads, length: (
                        tokens(draw, batch, length, 8, length, 2 * heads, heads, 1) | {"learning": False}
                    ),
                    scenario=loss,
                    asks=("loops",),
                    hints={
                        "batch": "@ multiplies all matrices of a batch",
                        "heads": "give the heads an axis of their own, before the last two: @ then does all heads",
                        "length": "one @ scores all pairs of a query and a key",
                    },
                ),
                Budget(
                    "long_texts",
                    sizes={"heads": (2, 8), "length": (64, 256), "channels": (4, 16)},
                    inputs=lambda draw, heads, length, channels: tokens(
                        draw, 1, length, 8, length, heads * channels, heads, 1
                    ),
                    scenario=loss,
                    asks=("memory",),
                    hints={"channels": "@ itself sums over the channels of a head"},
                ),
            ),
        ),
    ),
    banned=bans.ATTENTION,
)


def test_later_tokens_change_nothing(submission: Submission, draw: Draw) -> None:
    given = tokens(draw, 2, 6, *USUAL)
    ids = given.pop("ids")
    later = torch.cat([ids[:, :3], (ids[:, 3:] + 1) % USUAL[0]], 1)
    one, other = (submission.run(logits, ids=some, **given)[:, :3] for some in (ids, later))
    assert torch.equal(one, other), "logits of tokens 0 to 2: should be the same to the last bit if later tokens change"


def test_overfits_one_sentence(submission: Submission, draw: Draw) -> None:
    sizes = (9, 8, 12, 2, 1)
    ids = draw.permutation(9)[None, :8]
    given = model(draw, *sizes)
    given["weights"] /= 2  # in 400 draws the reference ends at 0.008 at most
    like = {"losses": [0.0] * 40, "written": ids}
    made = submission.run(trained, like=like, ids=ids, **given, steps=40, rate=0.05)
    assert made["losses"][-1] < 0.1, f"loss after 40 steps: should be below 0.1, got {made['losses'][-1]:.3g}"
    found, right = made["written"].tolist(), ids.tolist()
    assert found == right, f"text that generate makes of the first token: should be {right}, got {found}"


def test_drawn_as_probable(submission: Submission, draw: Draw) -> None:
    """Compares the shares of the pairs of two new tokens with the probabilities, by Chernoff's bound."""
    V = 3
    given = tokens(draw, 1, 2, V, 3, 4, 2, 1)
    prompt = given.pop("ids")
    for temperature in (0.5, 2.0):
        after = torch.cat([prompt.expand(V, 2), torch.arange(V)[:, None]], 1)  # each first token
        first, second = (logits(Right, ids=ids, **given)[:, -1] / temperature for ids in (prompt, after))
        p = (first.log_softmax(-1).mT + second.log_softmax(-1)).exp().flatten().detach()
        options = {"new_tokens": 2, "temperature": temperature, "seed": int(draw.integers(1, high=1 << 31))}
        off = submission.run(written, summary=partial(far_off, p=p), ids=prompt.expand(N, 2), **given, **options)
        for pair in off.nonzero().flatten().tolist():
            width = math.sqrt(2 * L * p[pair] * (1 - p[pair]) / N)
            what = f"share of tokens {pair // V} and {pair % V} at temperature {temperature}, in {N:,} draws"
            raise CheckFailed(
                f"{what}: should be {p[pair]:.4f} ± {width:.4f}, got {'more' if off[pair] > 0 else 'less'}"
            )


def far_off(made: Tensor, p: Tensor) -> Tensor:
    """Of each pair of last tokens: 1 where there are too many, −1 where there are too few, else 0."""
    f = (made[:, 2:] @ torch.tensor([3, 1]) == torch.arange(9)[:, None]).double().mean(1)
    divergence = sum(torch.xlogy(a, a) - torch.xlogy(a, b) for a, b in ((f, p), (1 - f, 1 - p)))
    return (f - p).sign() * ~(divergence * N <= L)
