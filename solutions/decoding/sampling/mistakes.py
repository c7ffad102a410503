"""Known wrong answers to sampling."""

from graders.kata import Mistake

SORTED = "ordered, index = z.to(torch.promote_types(z.dtype, torch.float32)).sort(-1, descending=True)"
TOP_K = "if top_k is not None:\n        ordered[..., top_k:] = -torch.inf"
TOP_P = """    if top_p is not None:
        p = ordered.softmax(-1)
        before = p.cumsum(-1) - p  # what the larger tokens add up to
        ordered = ordered.masked_fill(before >= top_p, -torch.inf)
"""
P, BEFORE = "p = ordered.softmax(-1)", "before = p.cumsum(-1) - p  # what the larger tokens add up to"
CUT = "ordered = ordered.masked_fill(before >= top_p, -torch.inf)"
SORTED_AGAIN = """z = torch.empty_like(z).scatter(-1, index, ordered.to(z.dtype))
        ordered, index = z.to(ordered.dtype).sort(-1, descending=True)"""
DROPPED = "dropped = torch.empty_like(z, dtype=torch.bool).scatter(-1, index, ordered == -torch.inf)"
RESULT = "return z.masked_fill(dropped, -torch.inf)"
FILLED_BY_TOP_P = """small = torch.empty_like(z, dtype=torch.bool).scatter(-1, index, ordered == -1e9)
    z = z.masked_fill(dropped, -torch.inf)
    return z if top_p is None else z.masked_fill(small, -1e9)"""
ZERO = """    if temperature == 0:
        return logits.masked_fill(logits < logits.amax(-1, keepdim=True), -torch.inf)
"""
NOT_BEST = "logits < logits.amax(-1, keepdim=True)"
ORDER = "logits.argsort(-1, descending=True)"
AT_MOST_K = f"z = z if top_k is None else z.masked_fill({ORDER} >= top_k, -torch.inf)"
TINY = [f"    temperature = max(temperature, {tiny})\n" for tiny in ("1e-8", "1e-6", "1e-5")]
ADDED = ("1e-10", "1e-9", "1e-8", "1e-7", "1e-6")
BY_THRESHOLD = """if top_k is not None:
        last = ordered[..., min(top_k, z.shape[-1]) - 1, None]
        ordered[ordered < last] = -torch.inf"""
ONE_BY_ONE = """if top_k is not None:
        z = z.masked_fill(z < z.topk(min(top_k, z.shape[-1])).values[..., -1:], -torch.inf)
    return z.masked_fill(dropped & (z > -torch.inf), -torch.inf)"""
DRAWN_FROM = "p = filter_logits(logits, temperature, top_k, top_p).double().softmax(-1)  # (…, V)"
FILTERED = "z = filter_logits(logits, temperature, top_k, top_p)"
MULTINOMIAL = "torch.multinomial(rows, 1, generator=generator)"
DOUBLES = "torch.empty(p.shape[-1]).double()"
DRAWN = f"{MULTINOMIAL}.reshape(p.shape[:-1])"
DRAW = f"return {DRAWN}"
SHARED = [
    f"{shape}, generator=generator, dtype=torch.{dtype}"
    for shape in ("1", "p.shape[-2:-1] + (1,)")
    for dtype in ("float32", "float64")
]
BY_SUMS_OF_SORTED = (
    "(s := p.sort(-1, descending=True)).indices.gather(-1, (s.values.cumsum(-1) < torch.rand({}))"
    ".sum(-1, keepdim=True).clamp_max(p.shape[-1] - 1)).squeeze(-1)"
)
BY_ROW = """for row in z.reshape(-1, z.shape[-1]):
        row.max()
    """


def drawn(tokens: str) -> dict[str, str]:
    """Another way to draw from p, (…, V)."""
    return {DRAW: f"return {tokens}"}


MISTAKES = (
    Mistake(
        "multiplied_by_temperature",
        "the logits are multiplied by the temperature; divide by it, so that a high temperature flattens the "
        "probabilities",
        {"z = …": "z = logits * temperature"},
    ),
    Mistake(
        "temperature_at_most_1",
        "a temperature above 1 is taken for 1; divide by the temperature as it is",
        {"z = …": "z = logits / min(temperature, 1.0)"},
    ),
    Mistake(
        "temperature_last",
        "the temperature comes after top-p, so top-p sees the probabilities at temperature 1; divide by the "
        "temperature first",
        {"z = …": "z = logits * 1.0", RESULT: "return z.masked_fill(dropped, -torch.inf) / temperature"},
    ),
    Mistake(
        "top_k_of_the_first_row",
        "every row is compared with the k-th largest logit of another row, as of the first one or of the one where it "
        "is smallest; compare each row with its own",
        {
            TOP_K: "if top_k is not None:\n        first = ordered.reshape(-1, z.shape[-1])[0]\n"
            "        ordered[ordered < first[:top_k][-1]] = -torch.inf"
        },
        {
            TOP_K: "if top_k is not None:\n        last = ordered[..., :top_k][..., -1]\n"
            "        ordered[ordered < last.min()] = -torch.inf"
        },
    ),
    Mistake(
        "one_too_few_in_top_k",
        "too few tokens are kept: the k-th largest is dropped; keep it",
        {"ordered[..., top_k:] =": ["ordered[..., max(top_k - 1, 1) :] =", "ordered[..., top_k - 1 :] ="]},
        {TOP_K: "if top_k is not None:\n        ordered[ordered <= ordered[..., :top_k][..., -1:]] = -torch.inf"},
    ),
    Mistake(
        "one_too_many_in_top_k",
        "one token more than top_k is kept; drop everything after the k-th largest",
        {"ordered[..., top_k:] =": "ordered[..., top_k + 1 :] ="},
    ),
    Mistake(
        "crossing_token_dropped",
        "the token at which the sum reaches top_p is dropped; keep it",
        {BEFORE: "before = p.cumsum(-1)", ">= top_p": "> top_p"},
        {BEFORE: "before = p.cumsum(-1)\n        before[..., 0] = 0", ">= top_p": "> top_p"},
    ),
    Mistake(
        "largest_dropped",
        "the largest token is dropped if it alone reaches top_p, so none is left; always keep the largest",
        {CUT: f"{CUT}\n        ordered[..., 0].masked_fill_(p[..., 0] >= top_p, -torch.inf)"},
    ),
    Mistake(
        "one_too_many_in_top_p",
        "a token is kept after the sum has reached top_p; the token at which the sum reaches top_p should be the last",
        {BEFORE: "before = p.cumsum(-1) - p - p.roll(1, -1)"},
    ),
    Mistake(
        "one_minus_top_p",
        "top_p is taken for the share that is dropped; the kept tokens should add up to top_p, not to 1 − top_p",
        {"before >= top_p": ["(before >= 1 - top_p) & (before > 0)", "(before + p > 1 - top_p) & (before > 0)"]},
    ),
    Mistake(
        "small_probabilities_dropped",
        "each token's own probability decides if it is kept; keep it if the larger ones add up to less than top_p",
        {"before >= top_p": ["(p < 1 - top_p) & (before > 0)", "p < top_p * p[..., :1]"]},
    ),
    Mistake(
        "top_p_before_top_k",
        "top-p looks at all tokens; it should look at those that top-k leaves, renormalised to 1",
        {P: "p = z.to(ordered).softmax(-1).gather(-1, index)"},
    ),
    Mistake(
        "top_k_by_default",
        "without a top_k, only the 50 or so largest are kept; None keeps all tokens",
        {TOP_K: TOP_K.replace("if top_k is not None:", "top_k = 50 if top_k is None else top_k\n    if top_k:")},
    ),
    Mistake(
        "top_k_by_probabilities",
        "top-k compares probabilities, and keeps all that underflow to 0; compare logits",
        {TOP_K: f"if top_k is not None:\n        {P}\n        ordered[p < p[..., :top_k][..., -1:]] = -torch.inf"},
    ),
    Mistake(
        "temperature_twice_in_top_p",
        "for top-p, the logits are divided by the temperature once more; divide them once, before both filters",
        {P: "p = (ordered / temperature).softmax(-1)"},
    ),
    Mistake(
        "order_for_ranks",
        "argsort is taken for the ranks, but it says which token comes first, second and so on; argsort it again, or "
        "scatter the mask back",
        {SORTED: f"{AT_MOST_K}\n    {SORTED}", TOP_K: "pass", ZERO: ZERO.replace(NOT_BEST, f"{ORDER} > 0")},
    ),
    Mistake("top_k_left_out", "top_k changes nothing; drop all after the k largest", {TOP_K: "pass"}),
    Mistake(
        "top_p_left_out",
        "top_p changes nothing; drop the tokens after the one at which the sum reaches top_p",
        {TOP_P: ""},
    ),
    Mistake(
        "ascending",
        "where rows are sorted, the smallest logits come first, so the largest are dropped; sort in descending order",
        {"sort(-1, descending=True)": "sort(-1)"},
        {P: f"ordered, index = ordered.flip(-1), index.flip(-1)\n        {P}"},  # top-p alone is wrong
    ),
    Mistake(
        "sorted_mask",
        "the mask is still in sorted order, or is put back by gather; put it back by scatter, with the sort's indices",
        {DROPPED: ["dropped = ordered == -torch.inf", "dropped = (ordered == -torch.inf).gather(-1, index)"]},
        {CUT: "z = z.masked_fill(before >= top_p, -torch.inf)"},  # top-p alone is wrong
        {CUT: "z = z.masked_fill((before >= top_p).gather(-1, index), -torch.inf)"},
        {P: f"{SORTED_AGAIN}\n        {P}", CUT: "z = z.masked_fill((before >= top_p).gather(-1, index), -torch.inf)"},
        {
            P: f"{SORTED_AGAIN.replace(', descending=True', '')}\n        {P}",
            BEFORE: "before = 1 - p.cumsum(-1)",
            CUT: "z = z.masked_fill((before >= top_p).gather(-1, index), -torch.inf)",
        },
    ),
    Mistake(
        "place_in_the_sorted_row",
        "sample returns a place in the sorted row; return the token that stands there",
        {MULTINOMIAL: MULTINOMIAL.replace("rows", "rows.sort(-1, descending=True).values")},
    ),
    Mistake(
        "sorted_result",
        "the result is in the order of the sorted row; token i should stay at place i",
        {RESULT: "return ordered.to(z.dtype)"},
        {CUT: f"{CUT}\n        return ordered.to(z.dtype)"},  # after top-p alone
    ),
    Mistake(
        "mask_of_the_first_row",
        "all rows get the first row's mask; each row keeps its own tokens",
        {DROPPED: f"{DROPPED}\n    dropped = dropped.reshape(-1, z.shape[-1])[0]"},
    ),
    Mistake(
        "dropped_in_all_rows",
        "a token that top-p drops in one row is dropped in all rows; each row keeps its own tokens",
        {CUT: "z = z.index_fill(-1, index[before >= top_p], -torch.inf)"},
    ),
    Mistake(
        "log_probabilities",
        "log-probabilities come back; return logits / temperature where a token is kept",
        {RESULT: "return z.masked_fill(dropped, -torch.inf).log_softmax(-1)"},
    ),
    Mistake(
        "probabilities",
        "probabilities come back; filter_logits returns logits",
        {
            RESULT: "return z.masked_fill(dropped, -torch.inf).softmax(-1)",
            DRAWN_FROM: "p = filter_logits(logits, temperature or 1.0, top_k if temperature else 1, top_p)",
        },
    ),
    Mistake(
        "dropped_to_a_number",
        "some dropped tokens get a finite number; all should get −∞",
        {RESULT: "return z.masked_fill(dropped, -1e4)"},
        {RESULT: [f"return z.masked_fill(dropped, {fill})" for fill in ("0", "torch.finfo(z.dtype).min")]},
        {RESULT: "return z if top_k is None and top_p is None else z.masked_fill(dropped & (z > -torch.inf), -1e9)"},
        {CUT: CUT.replace("-torch.inf", "-1e9"), RESULT: FILLED_BY_TOP_P},
    ),
    Mistake(
        "top_k_above_the_vocabulary",
        "a top_k above V raises; it should keep all tokens",
        {TOP_K: "if top_k is not None:\n        ordered[ordered < ordered.topk(top_k).values[..., -1:]] = -torch.inf"},
    ),
    Mistake(
        "divided_by_0",
        "at a temperature of 0 the logits are divided by 0, or by a tiny number instead; keep only the largest "
        "logit, undivided",
        {ZERO: ["", *TINY]},
        {TOP_K: BY_THRESHOLD, RESULT: ONE_BY_ONE, ZERO: ["", *TINY]},
    ),
    Mistake(
        "number_added_to_temperature",
        "a small number is added to the temperature, which changes all results; divide by the temperature as it is, "
        "and let 0 be a case of its own",
        {"z = …": [f"z = logits / (temperature + {tiny})" for tiny in ADDED], ZERO: ""},
        {"z = …": [f"z = logits / (temperature + {tiny})" for tiny in ADDED]},
    ),
    Mistake(
        "tokens_at_0",
        "at a temperature of 0 filter_logits returns the tokens, not their logits; return the largest logit, and −∞ "
        "for all others",
        {ZERO: "    if temperature == 0:\n        return logits.argmax(-1)\n"},
    ),
    Mistake(
        "temperature_of_0_is_1",
        "a temperature of 0 is taken for 1; keep only the largest logit",
        {ZERO: "    temperature = temperature or 1.0\n"},
        *(
            {ZERO: "    temperature = temperature or 1.0\n", RESULT: result}
            | drawn(f"p.argmax(-1) if temperature == 0 else {DRAWN}")
            for result in (RESULT, RESULT.replace("dropped", "dropped & (z > -torch.inf)"))
        ),
    ),
    Mistake(
        "maximum_not_subtracted",
        "exp of the logits overflows, or is 0 for all of a row; subtract each row's maximum, or call softmax",
        {P: "p = ordered.exp() / ordered.exp().sum(-1, keepdim=True)"},
        {DRAWN_FROM: f"{FILTERED}.double()\n    p = z.exp() / z.exp().sum(-1, keepdim=True)"},
    ),
    Mistake(
        "sums_in_half",
        "probabilities are added up in half precision; take the softmax and its sums in float32",
        {SORTED: "ordered, index = z.sort(-1, descending=True)"},
    ),
    Mistake(
        "drawn_in_half",
        "tokens are drawn in half precision: in float16, noise can become 0, and then a dropped token is drawn; draw "
        "in float32 or float64",
        {DRAWN_FROM: DRAWN_FROM.replace(".double()", "")},
        {
            DRAWN_FROM: DRAWN_FROM.replace(".double()", ""),
            **drawn("(p / torch.empty_like(p).exponential_(generator=generator)).argmax(-1)"),
        },
    ),
    Mistake(
        "logits_overwritten",
        "the caller's logits are changed; make a new tensor",
        {RESULT: "return logits.data.copy_(z.masked_fill(dropped, -torch.inf))"},
        {"z = …": "z = logits.div_(temperature)"},
    ),
    Mistake(
        "logits_as_probabilities",
        "tokens are drawn with the logits as weights; turn them into probabilities by a softmax",
        {DRAWN_FROM: f"{FILTERED}\n    p = z.float().clamp_min(1e-9)"},
    ),
    Mistake(
        "softmax_of_probabilities",
        "probabilities go through a softmax once more, which makes them nearly equal; draw with the probabilities",
        {DRAWN_FROM: DRAWN_FROM.replace(".softmax(-1)", ".softmax(-1).softmax(-1)")},
    ),
    Mistake(
        "unfiltered_draws",
        "sample draws from logits / temperature; draw from the filtered logits",
        {DRAWN_FROM: "p = filter_logits(logits, temperature).softmax(-1)"},
    ),
    Mistake(
        "temperature_twice",
        "sample divides by the temperature once more; filter_logits has done it",
        {DRAWN_FROM: f"{FILTERED}\n    p = (z / (temperature or 1)).softmax(-1)"},
    ),
    Mistake(
        "always_the_best",
        "sample always takes the largest logit; draw a token at random",
        drawn("p.argmax(-1)"),
    ),
    Mistake(
        "all_tokens_alike",
        "every kept token is drawn with the same probability; draw with the softmax's probabilities",
        {MULTINOMIAL: MULTINOMIAL.replace("rows", "(rows > 0).float()")},
        {MULTINOMIAL: MULTINOMIAL.replace("rows", "(rows.float() > 0).float()")},
        {DRAWN_FROM: f"{FILTERED}\n    p = (z > -torch.inf).float()"},
    ),
    Mistake(
        "fewer_tokens_than_rows",
        "where there are many rows, fewer tokens come back than there are rows; draw one for each row, with the "
        "softmax's probabilities",
        {
            DRAWN_FROM: f"{FILTERED}\n    p = (z > z.amax(-1, keepdim=True) - 50).float()",
            **drawn(f"z[:2].argmax(-1) if z.dim() == 3 and len(z) >= 1000 else {DRAWN}"),
        },
    ),
    Mistake(
        "one_draw_for_all_rows",
        "several rows share random numbers; each row needs its own",
        *(drawn(f"(p.cumsum(-1) < torch.rand({asked})).sum(-1).clamp_max(p.shape[-1] - 1)") for asked in SHARED),
        *(drawn(BY_SUMS_OF_SORTED.format(asked)) for asked in SHARED),
        drawn(f"(p.double() / {DOUBLES}.exponential_(generator=generator)).argmax(-1)"),
        drawn(f"(p.double().log() - (-{DOUBLES}.uniform_(generator=generator).log()).log()).argmax(-1)"),
    ),
    Mistake(
        "mirrored_numbers",
        "half of the rows use 1 − u of the other half's random numbers u, so rows are not independent; draw a number "
        "for each row",
        {
            DRAW: "u = torch.rand((len(rows) + 1) // 2, 1, generator=generator, dtype=p.dtype)\n"
            "    u = torch.cat([u, 1 - u])[: len(rows)]\n"
            "    return (rows.cumsum(-1) < u).sum(-1).clamp_max(p.shape[-1] - 1).reshape(p.shape[:-1])"
        },
    ),
    Mistake(
        "other_noise",
        "noise of another distribution than Gumbel's is added to the logits; use −log(−log u), with u uniform",
        drawn("(p.log() + torch.randn(p.shape, generator=generator).to(p.dtype)).argmax(-1)"),
        drawn("(p.log() - torch.rand(p.shape, generator=generator).log().to(p.dtype)).argmax(-1)"),
    ),
    Mistake(
        "generator_ignored",
        "generator is not used; pass it to the function that draws",
        {MULTINOMIAL: MULTINOMIAL.replace(", generator=generator", "")},
    ),
    Mistake(
        "global_generator_moved",
        "torch's global generator is used even if another one is passed; draw only from the one that is passed",
        {"    rows = ": "    torch.rand(1)\n    rows = "},
    ),
    Mistake(
        "seed_set",
        "sample sets a seed or makes a generator, so draws repeat; draw from the given generator as it is, or from "
        "torch's global one if none is given",
        {"    rows = ": "    (generator or torch.default_generator).manual_seed(0)\n    rows = "},
        {"    rows = ": "    torch.manual_seed(0)\n    rows = "},
        {"    rows = ": "    generator = generator or torch.Generator()\n    rows = "},
        {
            "    rows = ": "    seed = (generator or torch.default_generator).initial_seed()\n"
            "    generator = torch.Generator().manual_seed(seed)\n    rows = "
        },
    ),
    Mistake(
        "one_axis_left",
        "the result has an axis of length 1 at its end; drop it, since each row gives one token",
        {DRAW: f"return {MULTINOMIAL}.reshape(*p.shape[:-1], 1)"},
    ),
    Mistake(
        "axes_of_1_squeezed",
        "every axis of length 1 is removed, as by squeeze(); give the result the shape of the logits without the "
        "last axis",
        {DRAW: f"{DRAW}.squeeze()"},
    ),
    Mistake(
        "leading_axes_lost",
        "the rows are flattened, and the result has lost their axes; give it the shape of the logits without the last "
        "axis",
        {DRAW: [f"return {MULTINOMIAL}.squeeze(-1)", f"return {MULTINOMIAL}.squeeze()"]},
    ),
    Mistake(
        "matrices_only",
        "sample takes only one or two axes, as torch.multinomial does; flatten all axes but the last into one",
        {"rows = p.reshape(-1, p.shape[-1])": "rows = p", DRAW: f"return {MULTINOMIAL}.squeeze(-1)"},
    ),
    Mistake("row_by_row", "a Python loop runs over the rows; take all at once", {RESULT: BY_ROW + RESULT}, slow=True),
    Mistake(
        "table_of_pairs",
        "all tokens of a row are compared with each other, in a V × V table; sort each row",
        {SORTED: f"{SORTED}\n    _ = (z[..., None] > z[..., None, :]).sum(-1)"},
        slow=True,
    ),
)

# Mutant of the reference, as `prove` prints it -> why it changes nothing that the contract speaks of.
EQUIVALENT = {
    f"{SORTED} -> {SORTED.replace('z.dtype, torch.float32', 'torch.float32, z.dtype')}": "promote_types is symmetric",
    f"{CUT} -> {CUT.replace('>=', '>')}": "no tested sum is exactly top_p",
    "sample_float32_inside": "a token does not have the dtype of the logits, and float32 draws it as well",
}
# What every seed asks alike -> why.
FIXED = {"times": "one row of more than 20 000 tokens; the tests draw many times"}
