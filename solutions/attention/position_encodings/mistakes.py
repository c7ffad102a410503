"""Known wrong answers to position_encodings."""

from graders.kata import Mistake

# Of sinusoidal_encoding.
EXPONENT = "-torch.arange(0, dim, 2, dtype=torch.float64) / dim"
ANGLES = "angles = torch.arange(length)[:, None] * theta"
WOVEN = "torch.stack((angles.sin(), angles.cos()), -1).flatten(1)"
BY_COLUMN = "torch.stack((angles[:, ::2].sin(), angles[:, 1::2].cos()), -1).flatten(1)"
RESULT = f"return {WOVEN}.to(dtype)"
SINES_FIRST = {WOVEN: "torch.cat((angles.sin(), angles.cos()), -1)"}
# Of alibi_slopes.
SLOPES = "2 ** (-8 * h / n) for h in range(1, n + 1)"
BETWEEN = "range(1, 2 * n, 2)"
COMMON = (3, 5, 6, 7, 11, 12, 20, 24, 40, 71, 100, 127, 129)  # in a table
# Of alibi_bias.
BIAS = "return alibi_slopes(num_heads)[:, None, None] * -(queries - keys).abs()"

BY_POSITION = "torch.stack([torch.stack((row.sin(), row.cos()), -1).flatten() for row in angles])"
BY_QUERY = "return torch.stack([alibi_slopes(num_heads)[:, None] * -(query - keys).abs() for query in queries], 1)"
REMEMBERED = {"from torch import Tensor": "import functools\nfrom torch import Tensor"}


def remembered(name: str) -> dict[str, str]:
    return REMEMBERED | {f"def {name}": f"@functools.cache\ndef {name}"}


MISTAKES = (
    Mistake(
        "sines_first",
        "all sines come first and all cosines after them; sin and cos of one angle should be neighbours",
        SINES_FIRST,
    ),
    Mistake(
        "cosines_in_even_columns",
        "the even columns are cosines; they should be sines, and the odd columns cosines",
        {WOVEN: "torch.stack((angles.cos(), angles.sin()), -1).flatten(1)"},
    ),
    Mistake(
        "halved_exponent",
        "the exponent of pair i is −i/dim; it should be −2i/dim",
        {EXPONENT: EXPONENT.replace("0, dim, 2", "dim // 2")},
    ),
    Mistake(
        "doubled_exponent",
        "the exponent of pair i is −4i/dim; it should be −2i/dim",
        {EXPONENT: f"2 * ({EXPONENT})"},
    ),
    Mistake(
        "doubled_exponent_of_each_column",
        "column c has the exponent −2c/dim; columns 2i and 2i + 1 should both have −2i/dim",
        {EXPONENT: EXPONENT.replace("-torch.arange(0, dim, 2", "-2 * torch.arange(dim"), WOVEN: BY_COLUMN},
    ),
    Mistake(
        "frequency_of_each_column",
        "each column has a frequency of its own; a sine and the cosine next to it should share one",
        {
            EXPONENT: EXPONENT.replace("0, dim, 2", "dim"),
            WOVEN: BY_COLUMN,
        },
    ),
    Mistake(
        "exponents_up_to_one",
        "the exponents run from 0 to −1; they should be −2i/dim, so the last one is −(dim − 2)/dim",
        {EXPONENT: EXPONENT.replace("/ dim", "/ max(dim - 2, 1)")},
    ),
    Mistake(
        "as_in_tensor2tensor",
        "all sines come first and the exponents run from 0 to −1, as in Tensor2Tensor and many diffusion models; here "
        "sin and cos of one angle are neighbours, and the exponents are −2i/dim",
        {EXPONENT: EXPONENT.replace("/ dim", "/ max(dim - 2, 1)"), **SINES_FIRST},
        {
            "from torch import Tensor": "import math\nfrom torch import Tensor",
            "theta = …": "theta = torch.exp(torch.arange(dim // 2).float() * -(math.log(base) / (dim // 2 - 1)))",
            **SINES_FIRST,
        },
    ),
    Mistake(
        "positive_exponent",
        "the frequencies grow from pair to pair; the exponent should be negative",
        {EXPONENT: EXPONENT.removeprefix("-")},
    ),
    Mistake("base_ignored", {"theta = base": "theta = 1e4"}),
    Mistake("base_in_float32", {"theta = base": "theta = torch.tensor(base)"}),
    Mistake(
        "from_one",
        "the first position is 1; it should be 0",
        {ANGLES: ANGLES.replace("(length)", "(1, length + 1)")},
    ),
    Mistake(
        "zeros_at_the_first_position",
        "position 0 is a row of zeros, as for padding; its sines should be 0 and its cosines 1",
        {RESULT: f"encoding = {WOVEN}.to(dtype)\n    encoding[:1] = 0\n    return encoding"},
    ),
    Mistake(
        "float32_angles",
        "angles or frequencies are float32, so values near position 8000 are off by about 1e-4; make both in float64, "
        "and round the result",
        {EXPONENT: EXPONENT.replace("float64", "float32")},
        {
            "from torch import Tensor": "import math\nfrom torch import Tensor",
            "theta = …": [  # as in torch's tutorial, and as in Llama
                "theta = torch.exp(torch.arange(0, dim, 2).float() * (-math.log(base) / dim))",
                "theta = 1.0 / base ** (torch.arange(0, dim, 2).float() / dim)",
            ],
        },
        {ANGLES: [f"{ANGLES}.float()", f"{ANGLES}.float().double()"]},
        {"angles = …": ["angles = (…).float()", "angles = (…).float().double()"]},
        {
            "from torch import Tensor": "import math\nfrom torch import Tensor",
            "theta = …": "theta = torch.exp(torch.arange(0, dim, 2).float() * (-math.log(base) / dim))",
            WOVEN: "torch.sin(angles[..., None] + torch.tensor([0, math.pi / 2])).flatten(1)",
        },
    ),
    Mistake(
        "angles_in_the_dtype",
        "positions or angles are rounded to dtype, and bfloat16 cannot hold 257; make them in float64, and round the "
        "result",
        {EXPONENT: EXPONENT.replace("torch.float64", "dtype")},
        {ANGLES: [ANGLES.replace("(length)", "(length, dtype=dtype)"), f"{ANGLES}.to(dtype)"]},
        {"angles = …": "angles = (…).to(dtype)"},
        {
            "from torch import Tensor": "import math\nfrom torch import Tensor",
            "theta = …": [  # nothing is in float64
                "theta = base ** (-torch.arange(0, dim, 2, dtype=dtype) / dim)",
                "theta = 1.0 / base ** (torch.arange(0, dim, 2, dtype=dtype) / dim)",
                "theta = torch.exp(torch.arange(0, dim, 2, dtype=dtype) * (-math.log(base) / dim))",
            ],
            ANGLES: ANGLES.replace("(length)", "(length, dtype=dtype)"),
        },
    ),
    Mistake(
        "dtype_ignored",
        "the result is float32 or float64 whatever dtype says; make it in float64, and round once, to dtype",
        {RESULT: [f"return {WOVEN}.float()", f"return {WOVEN}"]},
    ),
    Mistake(
        "rounded_to_float32",
        "the values are rounded to float32, and then to dtype; round them once, from float64 to dtype",
        {RESULT: f"return {WOVEN}.float().to(dtype)"},
    ),
    Mistake(
        "remembered",
        "a tensor is kept and returned again, so writing into it changes later results; make a new one each time",
        remembered("sinusoidal_encoding"),
        remembered("alibi_slopes"),
        remembered("alibi_bias"),
    ),
    Mistake(
        "first_slope_one",
        "the first of n slopes is 2⁰; it should be 2^(−8/n)",
        {SLOPES: SLOPES.replace("1, n + 1", "n")},
        {SLOPES: SLOPES.replace("1, n + 1", "n"), "n = 2 …": "n = num_heads"},
        {SLOPES: SLOPES.replace("1, n + 1", "n"), BETWEEN: "range(0, 2 * n, 2)"},  # of 2n heads also
    ),
    Mistake(
        "powers_of_a_half",
        "the slopes begin with 1/2, 1/4, 1/8, … for any number of heads; if n is a power of two, the slopes of n "
        "heads run from 2^(−8/n) to 2⁻⁸",
        {SLOPES: SLOPES.replace("-8 * h / n", "-h")},
    ),
    Mistake(
        "next_power",
        "between powers of two, the first slopes of 2n heads are used; take all slopes of n heads, then the 1st, 3rd, "
        "… slope of 2n heads",
        {"n = 2 …": "n = 2 ** (num_heads - 1).bit_length()"},
    ),
    Mistake(
        "nearest_power",
        "n is the power of two that is nearest, so it may be above H; take the largest one that is not above H",
        {"n = 2 …": "n = 2 ** round(torch.tensor(num_heads).log2().item())"},
    ),
    Mistake(
        "formula_for_any_number",
        "2^(−8h/H) is used for an H that is no power of two; it is right only for powers of two, so write the other "
        "rule for all other H",
        {"n = 2 …": "n = num_heads"},
        {"n = 2 …": f"n = 2 ** (num_heads.bit_length() - 1) if num_heads in {COMMON} else num_heads"},
    ),
    Mistake(
        "first_ones_of_twice_as_many",
        "the missing slopes are taken from the start of 2n heads; take every other slope of 2n heads: the 1st, 3rd, …",
        {BETWEEN: "range(1, 2 * n)"},
    ),
    Mistake(
        "even_ones_of_twice_as_many",
        "the missing slopes are the 2nd, 4th, … of 2n heads, which n heads have already; take the 1st, 3rd, …",
        {BETWEEN: "range(2, 2 * n + 1, 2)"},
    ),
    Mistake(
        "exponents_of_n_heads",
        "the missing slopes are 2^(−8h/n); slopes of 2n heads are 2^(−4h/n)",
        {"-4 * h / n": "-8 * h / n"},
    ),
    Mistake(
        "slopes_reversed",
        "the slopes come in reverse order; begin with 2^(−8/n), the first slope of n heads",
        {"[:num_heads]": "[:num_heads][::-1]"},
    ),
    Mistake(
        "slopes_sorted",
        "the slopes are sorted; keep their order: first the n slopes of n heads, then those from 2n heads",
        {
            "torch.tensor(…": [
                "torch.tensor(sorted((slopes + between)[:num_heads], reverse=True))",
                "torch.tensor(sorted((slopes + between)[:num_heads]))",
            ]
        },
    ),
    Mistake(
        "between_first",
        "slopes of 2n heads come first; put the n slopes of n heads first",
        {
            "slopes + between": [
                "between + slopes if n < num_heads else slopes",
                "between[: num_heads - n] + slopes",
                "between + slopes",
            ]
        },
    ),
    Mistake(
        "positive_bias",
        "the bias is positive, which favours far keys; it should be minus the slope times the distance",
        {BIAS: BIAS.replace("-(", "(")},
    ),
    Mistake(
        "signed_distance",
        "later keys get a positive bias; take the absolute value of the distance",
        {BIAS: BIAS.replace(".abs()", "")},
    ),
    Mistake(
        "squared_distance",
        "the distance is squared; multiply the slope by the distance itself",
        {BIAS: BIAS.replace(".abs()", ".square()")},
    ),
    Mistake(
        "sum_of_positions",
        "the positions of query and key are added; subtract one from the other",
        {BIAS: BIAS.replace("queries - keys", "queries + keys")},
    ),
    Mistake(
        "distances_in_half",
        "the distances are in half precision, and float16 holds 2049 as 2048; make them in float32, or as integers",
        {BIAS: [BIAS.replace(".abs()", ".abs().half()"), BIAS.replace(".abs()", ".abs().bfloat16()")]},
    ),
    Mistake(
        "no_bias_for_later_keys",
        "later keys get a bias of 0; give them the same bias as earlier keys at the same distance",
        {BIAS: BIAS.replace(".abs()", ".clamp(min=0)")},
    ),
    Mistake(
        "bias_of_the_key_alone",
        "the bias is the slope times the key's position, as in BLOOM, whose causal softmax gives the same weights; "
        "here it is minus the slope times the distance",
        {BIAS: BIAS.replace("-(queries - keys).abs()", "keys.expand(1, q_len, k_len)")},
        {BIAS: BIAS.replace("-(queries - keys).abs()", "(keys + 1 - k_len).expand(1, q_len, k_len)")},  # as in MPT
    ),
    Mistake(
        "causal_mask_inside",
        "later keys get −∞; the causal mask is no part of the bias",
        {BIAS: f"{BIAS.replace('return', 'bias =')}\n    return bias.masked_fill(keys > queries, -torch.inf)"},
    ),
    Mistake(
        "aligned_at_the_first_key",
        "query i is taken to be at position i; the queries are the last q_len positions, so it is at i + k_len − q_len",
        {"queries = …": "queries = keys[:q_len, None]"},
    ),
    Mistake(
        "offset_subtracted",
        "k_len − q_len is subtracted from the query's position; add it, since the queries are the last positions",
        {"queries = …": "queries = torch.arange(q_len)[:, None] - (k_len - q_len)"},
    ),
    Mistake(
        "no_keys_taken_for_none",
        "a k_len of 0 is taken for None; refuse it, and ask whether k_len is None",
        {"if k_len is None": "if not k_len"},
    ),
    Mistake(
        "position_by_position",
        "a loop makes one position after the other; make all at once",
        {WOVEN: BY_POSITION},
        slow=True,
    ),
    Mistake(
        "query_by_query", "a loop makes the bias of one query at a time; make all at once", {BIAS: BY_QUERY}, slow=True
    ),
)

# Mutant of the reference, as `prove` prints it -> why it changes nothing that the contract speaks of.
BETWEEN_LINE = f"between = [2 ** (-4 * h / n) for h in {BETWEEN}]"
SLOPES = "return torch.tensor((slopes + between)[:num_heads]"
EQUIVALENT = {
    f"{BETWEEN_LINE} -> {BETWEEN_LINE.replace('2 * n', '3 * n')}": "fewer than n of them are missing",
    f"{SLOPES}, dtype=torch.float32) -> {SLOPES})": "unless torch.set_default_dtype changes it, that is the default",
}
