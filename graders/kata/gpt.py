"""What the katas of small GPTs share: a right one, weights and texts for it, and what is done with each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from graders.faults import CheckFailed
from graders.kata.draw import Draw
from graders.kata.spec import Arguments, Inputs, Submission
from graders.kata.tolerances import HALF, Tolerance, last_places

# Chernoff: of N draws, the share f of a token with the probability p has N · KL(f, p) above L with a probability of at
# most 2 exp(−L), whatever N and p. A grading compares 36 shares so: by chance a right answer fails 8 of 10¹¹ gradings.
L, N = math.log(1e12), 4000
# N draws from MANY tokens, each with a probability above 0.98 / MANY, leave ten out with a probability of at most
# (300 over 10) · (1 − 9.8 / 300)⁴⁰⁰⁰ < 10⁻³⁹.
MANY, MOST = 300, 291
# A gradient of k_linear's bias is 0 by nature; what comes back for it is the rounding error of a sum over all tokens.
TOLERANCE = {torch.float32: Tolerance(1e-4, 3e-5, 3e-5), **last_places(8)}
USUAL = (7, 6, 12, 3, 2)  # V, C, D, H and L
SCALES = {
    "position": 0.7,
    "q_linear": 2,
    "k_linear": 2,
    "out_linear": 3,
    "fc2": 3,
}  # so that texts do not all end alike


class GPT(nn.Module):
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

    def states(self, ids: Tensor, seen: Tensor | None = None) -> Tensor:
        """After ln_f, (B, S, D). `seen` broadcasts to (B, H, S, S); None: each token sees earlier ones and itself."""
        x = self.token_embedding.weight[ids] + self.position_embedding.weight[: ids.shape[1]]
        for block in self.blocks:
            assert isinstance(block, nn.ModuleDict)
            normed = block["ln1"](x)
            maps = (linear(normed, block[f"{name}_linear"]) for name in "qkv")
            q, k, v = (one.view(*ids.shape, self.heads, -1).transpose(1, 2) for one in maps)
            mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=seen, is_causal=seen is None)
            x = x + linear(mixed.transpose(1, 2).flatten(2), block["out_linear"])
            h = linear(block["ln2"](x), block["fc1"])
            x = x + linear(h * (1 + torch.erf(h / math.sqrt(2))) / 2, block["fc2"])
        made: Tensor = self.ln_f(x)
        return made

    def scores(self, ids: Tensor) -> Tensor:
        return self.states(ids) @ self.token_embedding.weight.mT

    forward = scores

    def loss(self, ids: Tensor) -> Tensor:
        return -self.scores(ids)[:, :-1].log_softmax(2).gather(2, ids[:, 1:, None]).mean()

    def generate(
        self, ids: Tensor, new_tokens: int, temperature: float = 0.0, generator: torch.Generator | None = None
    ) -> Tensor:
        for _ in range(new_tokens):
            z = self.scores(ids[:, -self.context :])[:, -1]
            if temperature:
                noise = torch.rand(z.shape, generator=generator, dtype=z.dtype)
                z = z / temperature - (-noise.log()).log()
            ids = torch.cat([ids, z.argmax(-1, keepdim=True)], 1)
        return ids


def linear(x: Tensor, layer: nn.Module) -> Tensor:
    """Without a call of the layer, and of any function with its weight: a scenario may count both."""
    assert isinstance(layer, nn.Linear)
    return F.linear(x, layer.weight.clone(), layer.bias)


# Scenarios. `weights` has all parameters one after the other, in one row; `layout` has the name and shape of each.
# What the layout lacks, such as the weight of a head that is not tied, holds the same in each answer, and no two equal
# rows: else topk and argmax could write different texts.


def loss(MiniGPT, ids, weights, layout, sizes, learning=True, before=None):  # type: ignore[no-untyped-def]
    """`before` has the lengths of texts that the model has read and continued already."""
    model = MiniGPT(*sizes).to(weights)
    for p in model.parameters():
        p.data.copy_(torch.linspace(-1, 1, p.numel()).view_as(p))
    parts = zip(layout, weights[0].split([math.prod(shape) for _, *shape in layout]), strict=True)
    model.load_state_dict(model.state_dict() | {name: part.reshape(shape) for (name, *shape), part in parts})
    for length in before or ():
        model(ids[:, :length])
        model.generate(ids[:, :length], 2)
    made = model.loss(ids)
    if not learning:
        return made
    made.backward()
    return {"loss": made, "gradient": {name: model.get_parameter(name).grad for name, *_ in layout}}


def written(MiniGPT, ids, weights, layout, sizes, new_tokens, temperature=0.0, seed=0, alone=False):  # type: ignore[no-untyped-def]
    model = MiniGPT(*sizes).to(weights)
    for p in model.parameters():
        p.data.copy_(torch.linspace(-1, 1, p.numel()).view_as(p))
    parts = zip(layout, weights[0].split([math.prod(shape) for _, *shape in layout]), strict=True)
    model.load_state_dict(model.state_dict() | {name: part.reshape(shape) for (name, *shape), part in parts})
    if alone:  # one text after the other
        return torch.cat([model.generate(one, new_tokens) for one in ids.split(1)])
    if not temperature:
        return model.generate(ids, new_tokens)
    return model.generate(ids, new_tokens, temperature, torch.Generator(ids.device).manual_seed(seed))


def a_new_model(MiniGPT, sizes, names):  # type: ignore[no-untyped-def]
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


def generators(MiniGPT, ids, sizes, given, seed):  # type: ignore[no-untyped-def]
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


def refused(MiniGPT, ids, sizes):  # type: ignore[no-untyped-def]
    return MiniGPT(*sizes).to(ids.device)(ids)


# Inputs


def model(draw: Draw, *sizes: int, kind: type[nn.Module] = GPT, **scales: float) -> Arguments:
    """Sizes, first of all V, C, D, H and L, and weights for them, of these scales or the usual ones."""
    layout, parts = [], []
    for name, p in kind(*sizes).named_parameters():
        layout.append([name, *p.shape])
        scale = next((scale for part, scale in (SCALES | scales).items() if part in name), 1)
        around = float("ln" in name and "weight" in name)
        parts.append(
            draw.normal(*p.shape, std=scale * p.shape[-1] ** -0.5 if p.dim() == 2 else 0.1 + 0.2 * around, mean=around)
        )
    return {"weights": torch.cat([part.flatten() for part in parts])[None], "layout": layout, "sizes": [*sizes]}


def tokens(draw: Draw, B: int, S: int, *sizes: int, **scales: float) -> Arguments:
    """Of the usual scales other weights are drawn where norms of few channels make float32's roundings grow."""
    while True:
        given = {"ids": draw.integers(B, S, high=sizes[0]), **model(draw, *sizes, kind=GPT, **scales)}
        if scales or rounding(given, [torch.float32]) < 25:
            return given


def texts(*several: tuple[int, ...]) -> Inputs:
    """B, S, V, C, D, H and L of each."""
    return lambda draw: [tokens(draw, *one) for one in several]


def right(given: Arguments, dtype: torch.dtype = torch.float64, kind: type[nn.Module] = GPT) -> GPT:
    """A right model with the weights of these inputs."""
    made, row = kind(*given["sizes"]).to(dtype), given["weights"][0]
    shapes = [shape for _, *shape in given["layout"]]
    parts = [part.view(shape) for part, shape in zip(row.split([*map(math.prod, shapes)]), shapes, strict=True)]
    made.load_state_dict({name: part for (name, *_), part in zip(given["layout"], parts, strict=True)})
    assert isinstance(made, GPT)
    return made


def calm(draw: Draw, units: float = 3) -> Arguments:
    """Half precision is far less than 8 units off, as it is for 7 draws of 8: some weights make roundings grow."""
    while rounding(given := tokens(draw, 2, 5, *USUAL)) > units:
        pass
    return given


def rounding(given: Arguments, dtypes: Sequence[torch.dtype] = HALF) -> float:
    """How far torch's own layers are off, in units in the last place of the largest logit at the same position."""
    units, ids = [], given["ids"][:, : given["sizes"][1]]
    for dtype in dtypes:
        with torch.no_grad():
            one = right(given, dtype)
            made, wanted = one.scores(ids).double(), one.double().scores(ids)
        far = (made - wanted).abs().amax((0, 2)) / wanted.abs().amax((0, 2)) / torch.finfo(dtype).eps
        units.append(float(far.max()))
    return max(units)


def is_clear(given: Arguments) -> bool:
    """Whether the best token of each step is far from the second, so that no rounding decides."""
    one, C = right(given), given["sizes"][1]
    made = one.generate(given["ids"], given["new_tokens"])
    for t in range(given["ids"].shape[1], made.shape[1]):
        best = one.scores(made[:, max(t - C, 0) : t])[:, -1].topk(2).values
        if (best[:, 0] - best[:, 1]).min() < 0.003:
            return False
    return True


def clear(draw: Draw, new_tokens: int, *sizes: int) -> Arguments:
    """As `tokens`, with new tokens to write."""
    while not is_clear(given := tokens(draw, *sizes) | {"new_tokens": new_tokens}):
        pass
    return given


def any_sizes(draw: Draw) -> tuple[int, ...]:
    """B, S, V, C, D, H and L, where D is a multiple of H."""
    s = draw.sizes(B=(2, 7), S=(3, 8), V=(4, 12), H=(2, 5), d=(1, 4), L=(1, 4))
    D = s["H"] * s["d"]
    D *= 1 + (D < 4)  # with two, roundings went beyond what float32 is allowed at 1 seed of 70
    return s["B"], s["S"], s["V"], s["S"] + draw.size(0, 3), D, s["H"], s["L"]


def made_of(*sizes: int, kind: type[nn.Module] = GPT) -> Arguments:
    return {"sizes": [*sizes], "names": [name for name, _ in kind(*sizes).named_parameters()]}


def with_and_without_a_generator(draw: Draw) -> list[Arguments]:
    return [
        {
            "ids": draw.integers(32, 2, high=8),
            "sizes": [8, 4, 4, 1, 1],
            "given": given,
            "seed": int(draw.integers(1, high=1 << 31)),
        }
        for given in (True, False)
    ]


def outside(draw: Draw) -> list[Arguments]:
    """Texts with one id that is not in the vocabulary."""
    made = []
    for place, wrong in ((0, 7), (4, 7), (2, -1), (0, -7), (3, 1000)):
        ids = draw.integers(2, 5, high=7)
        ids[1, place] = wrong
        made.append({"ids": ids, "sizes": [7, 6, 8, 2, 1]})
    return made


def drawn_as_probable(submission: Submission, draw: Draw) -> None:
    """Compares shares with probabilities, by Chernoff's bound: of pairs of two new tokens, and of two texts' first.

    At a high temperature, nearly all of many tokens should occur. Raises: CheckFailed.
    """
    V = 3
    given = tokens(draw, 1, 2, V, 3, 4, 2, 1)
    prompt, one = given.pop("ids"), right(given)
    for temperature in (0.5, 2.0):
        after = torch.cat([prompt.expand(V, 2), torch.arange(V)[:, None]], 1)  # each first token
        first, second = (one.scores(ids)[:, -1] / temperature for ids in (prompt, after))
        p = (first.log_softmax(-1).mT + second.log_softmax(-1)).exp().detach()
        p = torch.stack([p.flatten(), torch.outer(p.sum(1), p.sum(1)).flatten()])
        options = {"new_tokens": 2, "temperature": temperature, "seed": int(draw.integers(1, high=1 << 31))}
        off = submission.run(written, summary=partial(far_off, p=p), ids=prompt.expand(N, 2), **given, **options)
        for of, pair in off.nonzero().tolist():
            share, draws = float(p[of, pair]), N // (1 + of)
            width = math.sqrt(2 * L * share * (1 - share) / draws)
            where = ("", ", one in a text and one in the text half a batch later")[of]
            what = (
                f"share of tokens {pair // V} and {pair % V}{where}, at temperature {temperature}, in {draws:,} draws"
            )
            got = "more" if off[of, pair] > 0 else "less"
            raise CheckFailed(f"{what}: should be {share:.4f} ± {width:.4f}, got {got}")
    given = model(draw, MANY, 3, 4, 2, 1) | {"ids": draw.integers(1, 2, high=MANY).expand(N, 2)}
    found = submission.run(written, summary=different, **given, new_tokens=1, temperature=1e3, seed=1)
    if found < MOST:
        what = f"different tokens in {N:,} draws from {MANY} at temperature 1000"
        raise CheckFailed(f"{what}: should be at least {MOST}, got {int(found)}")


def far_off(made: Tensor, p: Tensor) -> Tensor:
    """Of each pair of last tokens: 1 where there are too many, −1 where there are too few, else 0.

    The same of the first new tokens of two texts, half a batch apart.
    """
    pairs = made[:, 2:], torch.stack(made[:, 2].chunk(2), 1)
    f = torch.stack([(one @ torch.tensor([3, 1]) == torch.arange(9)[:, None]).double().mean(1) for one in pairs])
    divergence = sum(torch.xlogy(a, a) - torch.xlogy(a, b) for a, b in ((f, p), (1 - f, 1 - p)))
    return (f - p).sign() * ~(divergence * torch.tensor([[N], [N // 2]]) <= L)


def different(made: Tensor) -> Tensor:
    """How many last tokens there are, or MOST: chance decides how many more."""
    return torch.tensor(min(len({*made[:, -1].tolist()}), MOST))
