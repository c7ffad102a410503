"""Known wrong answers to swiglu_mlp."""

from graders.kata import Mistake

SILU = "return x * torch.sigmoid(x)"
KNOWN = "if approximate not in"
ASKED = 'if approximate == "none":'
ERF = "return 0.5 * x * (1 + torch.erf(x / math.sqrt(2)))"
WIDE = "wide = x.to(torch.promote_types(x.dtype, torch.float32))"
ROOT, CUBE = "math.sqrt(2 / math.pi)", "0.044715 * wide**3"
ADDED = f"wide + {CUBE}"
TANH = "(0.5 * wide * (1 + torch.tanh(inner)))"
GATE, UP, DOWN = (
    f"self.{name}_proj = nn.Linear({sizes}, bias=False)"
    for name, sizes in (
        ("gate", "embed_dim, hidden_dim"),
        ("up", "embed_dim, hidden_dim"),
        ("down", "hidden_dim, embed_dim"),
    )
)
GATED = "silu(self.gate_proj(x)) * self.up_proj(x)"
MLP = f"return self.down_proj({GATED})"
BY_TOKEN = """rows = [silu(self.gate_proj(row)) * self.up_proj(row) for row in x.reshape(-1, x.shape[-1])]
        return self.down_proj(torch.stack(rows)).reshape(x.shape)"""

S_AND_Y = "    s = torch.sigmoid(x)\n    y = x * s\n    "
CDF_AND_PDF = """        cdf = 0.5 * (1 + torch.erf(x / math.sqrt(2)))
        pdf = torch.exp(-x * x / 2) / math.sqrt(2 * math.pi)
        """


def gated(text: str) -> dict[str, str]:
    """What goes into down_proj, where g is the gate's branch and u the other."""
    return {MLP: f"g, u = self.gate_proj(x), self.up_proj(x)\n        return self.down_proj({text})"}


def sloped(value: str, before: str, slope: str) -> dict[str, str]:
    """A backward pass of one's own, with this slope; `before` are lines of which it is made of the detached x."""
    return {value: f"given, x = x, x.detach()\n{before}{value} + (given - x) * ({slope})"}


MISTAKES = (
    Mistake(
        "silu_without_x",
        "silu is only the sigmoid; multiply it by x",
        {SILU: "return torch.sigmoid(x)"},
    ),
    Mistake(
        "exp_overflows",
        "e^(−x) overflows for x far below 0, and the gradient is 0 · ∞, which is NaN; use x · torch.sigmoid(x)",
        {SILU: ["return x / (1 + torch.exp(-x))", "return x * (1 / (1 + torch.exp(-x)))"]},
        {SILU: f"{WIDE}\n    return (wide / (1 + torch.exp(-wide))).to(x.dtype)"},
    ),
    Mistake(
        "exp_overflows_in_the_gate",
        "forward computes silu as x / (1 + e^(−x)), whose gradient is NaN far below 0; call silu",
        gated("g / (1 + torch.exp(-g)) * u"),
    ),
    Mistake(
        "silu_cut_off",
        "silu is set to 0 below −20, where x σ(x) is small but still counts; use the formula for every x",
        {SILU: "return torch.where(x < -20, 0, x * torch.sigmoid(x))"},
    ),
    Mistake(
        "slope_of_silu",
        "backward of silu multiplies by a wrong slope; with s = σ(x) and y = x s, the slope is s + x s (1 − s), which "
        "is y + s (1 − y)",
        unplanted=[
            sloped(SILU, S_AND_Y, slope)
            for slope in ("y + s * (1 - s)", "s * (1 - s)", "x * s * (1 - s)", "s + y * (1 - y)", "s")
        ],
    ),
    Mistake(
        "slope_of_gelu",
        "backward of the form with erf multiplies by a wrong slope; it is Φ(x) + x φ(x), with the density "
        "φ(x) = e^(−x²/2) / √(2π)",
        unplanted=[
            sloped(ERF, CDF_AND_PDF, slope)
            for slope in (
                "cdf + x * math.sqrt(2) * pdf",  # e^(−x²/2) / √π
                "cdf + pdf",
                "cdf + x * pdf / 2",
                "cdf",
            )
        ],
    ),
    Mistake(
        "silu_in_pieces",
        "silu is x times a hard sigmoid, which is made of straight lines; use torch.sigmoid",
        {SILU: "return x * (x / 6 + 0.5).clamp(0, 1)"},
    ),
    Mistake(
        "silu_with_a_factor",
        "silu is x·σ(1.702 x), which is close to gelu; use x·σ(x)",
        {SILU: "return x * torch.sigmoid(1.702 * x)"},
    ),
    Mistake(
        "x_overwritten",
        "x is changed in place, as by mul_ or *=, so the caller's tensor changes; make a new tensor",
        {SILU: "return x.mul_(torch.sigmoid(x))"},
        {ERF: "return x.mul_(0.5 * (1 + torch.erf(x / math.sqrt(2))))"},
        {TANH: "wide.mul_(0.5 * (1 + torch.tanh(inner)))"},
    ),
    Mistake(
        "gelu_by_sigmoid",
        "gelu is x·σ(1.702 x), which is off by up to 0.02; use erf",
        {ERF: "return x * torch.sigmoid(1.702 * x)"},
    ),
    Mistake(
        "root_of_two_missing",
        "erf is taken of x; take it of x / √2",
        {ERF: ERF.replace("x / math.sqrt(2)", "x")},
    ),
    Mistake(
        "half_missing",
        "½ is missing in the form with erf, so that gelu is 2x for large x; halve it",
        {ERF: ERF.replace("0.5 * ", "")},
    ),
    Mistake(
        "density",
        "x is multiplied by the normal distribution's density; multiply it by the distribution function, ½ (1 + erf(x "
        "/ √2))",
        {ERF: "return x * torch.exp(-x * x / 2) / math.sqrt(2 * math.pi)"},
    ),
    Mistake(
        "forms_swapped",
        'approximate="none" gives the form with tanh, and "tanh" the one with erf; swap them',
        {ASKED: ASKED.replace("none", "tanh")},
    ),
    Mistake(
        "tanh_by_default",
        'the default of approximate is "tanh"; it should be "none"',
        {'approximate: str = "none"': 'approximate: str = "tanh"'},
    ),
    Mistake(
        "one_not_added",
        "x/2 is multiplied by erf or tanh alone; multiply it by 1 + erf(…) or 1 + tanh(…)",
        {ERF: ERF.replace("(1 + torch.erf(x / math.sqrt(2)))", "torch.erf(x / math.sqrt(2))")},
        {TANH: TANH.replace("(1 + torch.tanh(inner))", "torch.tanh(inner)")},
    ),
    Mistake(
        "half_only_of_one",
        "x is multiplied by ½ + erf(…) or ½ + tanh(…), so ½ does not halve erf or tanh; multiply x by ½ (1 + …)",
        {ERF: ERF.replace("0.5 * x * (1 +", "x * (0.5 +")},
        {TANH: TANH.replace("0.5 * wide * (1 +", "wide * (0.5 +")},
    ),
    Mistake(
        "root_times_x_alone",
        "√(2/π) multiplies x alone; it should multiply x + 0.044715 x³",
        {f"({ADDED})": ADDED},
    ),
    Mistake("always_erf", 'approximate="tanh" gives the form with erf; use the form with tanh', {ASKED: "if True:"}),
    Mistake(
        "always_tanh",
        'approximate="none" gives the form with tanh; by default, use erf',
        {ASKED: "if not approximate:"},
    ),
    Mistake(
        "constant_too_large",
        "the factor of x³ is 0.44715; it should be 0.044715",
        {CUBE: CUBE.replace("0.04", "0.4")},
    ),
    Mistake("square_for_cube", "x² stands in place of x³; take the cube", {CUBE: CUBE.replace("**3", "**2")}),
    Mistake(
        "root_of_two_over_pi_missing",
        "the argument of tanh is multiplied by 2/π, √2/π, √(π/2) or √(2π); multiply it by √(2/π)",
        {ROOT: ["2 / math.pi", "math.sqrt(2) / math.pi", "math.sqrt(math.pi / 2)", "math.sqrt(2 * math.pi)"]},
    ),
    Mistake(
        "coarse_constants",
        {"math.sqrt(2))": ["torch.sqrt(torch.tensor(2.0)))", "1.4142)", "1.41421)", "1.41421356)"]},
        {ROOT: ["torch.sqrt(torch.tensor(2 / math.pi))", "0.79788", "0.797885", "0.79788456"]},
    ),
    Mistake(
        "x_missing_with_tanh",
        "the form with tanh lacks the factor x; multiply by x",
        {TANH: TANH.replace(" * wide", "")},
    ),
    Mistake(
        "tanh_by_sigmoid",
        "the form with tanh is x·σ(1.702 x), which is off by up to 0.02; use tanh",
        {WIDE: "return x * torch.sigmoid(1.702 * x)"},
        {TANH: "(wide * torch.sigmoid(1.702 * wide))"},
    ),
    Mistake(
        "exp_overflows_with_tanh",
        "e^(−2u) in place of tanh(u) overflows for x far below 0, and the gradient is NaN; use torch.tanh, or "
        "torch.sigmoid of 2u",
        {TANH: ["(wide / (1 + torch.exp(-2 * inner)))", "(wide * (1 / (1 + torch.exp(-2 * inner))))"]},
    ),
    Mistake(
        "half_missing_with_tanh",
        "½ is missing in the form with tanh, so that gelu is 2x for large x; halve it",
        {TANH: TANH.replace("0.5 * ", "")},
    ),
    Mistake(
        "cube_in_half",
        "x³ is computed in float16; beyond 147, 3x² is ∞, and the gradient is ∞ · 0, so NaN; convert half precision to "
        "float32",
        {WIDE: "wide = x"},
    ),
    Mistake(
        "any_case",
        'approximate is converted to lower case, so that "Tanh" is accepted; refuse it',
        {KNOWN: [f"approximate = approximate{text}.lower()\n    {KNOWN}" for text in ("", ".strip()")]},
    ),
    Mistake(
        "key_error",
        "an unknown form raises KeyError; raise ValueError",
        {f"{KNOWN} ": '{"none": 0, "tanh": 1}[approximate]\n    ' + f"{KNOWN} "},
    ),
    Mistake(
        "branches_swapped",
        "silu is applied to up_proj's branch; apply it to gate_proj's branch",
        gated("silu(u) * g"),
    ),
    Mistake(
        "up_beside_1",
        "1 is added to up_proj's branch, as in gpt-oss; multiply the gate by up_proj(x) alone",
        gated("silu(g) * (u + 1)"),
    ),
    Mistake(
        "gate_of_glu",
        "the gate is a sigmoid, as in a plain GLU; use silu",
        gated("torch.sigmoid(g) * u"),
    ),
    Mistake("gate_of_geglu", "the gate is gelu; use silu", gated("gelu(g) * u"), gated('gelu(g, "tanh") * u')),
    Mistake("gate_of_reglu", "the gate is a ReLU; use silu", gated("torch.relu(g) * u")),
    Mistake("silu_on_both", "both branches go through silu; only gate_proj's should", gated("silu(g) * silu(u)")),
    Mistake(
        "silu_after_the_product",
        "the branches are multiplied before silu; apply it to gate_proj's branch, then multiply",
        gated("silu(g * u)"),
    ),
    Mistake("sum_for_product", "the branches are added; multiply them entry by entry", gated("silu(g) + u")),
    Mistake("up_unused", "up_proj is not used; multiply its result by the gate", gated("silu(g) + 0 * u")),
    Mistake(
        "residual_inside",
        "x is added to the result; leave it out, since the transformer's block adds it later",
        {MLP: f"return x + self.down_proj({GATED})"},
    ),
    Mistake(
        "with_biases",
        "a layer has a bias; give all three bias=False",
        {one: one.replace(", bias=False", "") for one in (GATE, UP, DOWN)},
        {DOWN: DOWN.replace(", bias=False", "")},
    ),
    Mistake(
        "hidden_dim_rounded_up",
        "hidden_dim is rounded up to a multiple; take it as it is",
        {GATE: [f"hidden_dim = (hidden_dim + {most}) // {most + 1} * {most + 1}\n        {GATE}" for most in (7, 255)]},
    ),
    Mistake(
        "two_thirds",
        "hidden_dim is reduced to two thirds, as in Llama's code, whose argument is the width without a gate; take it "
        "as it is",
        {
            GATE: [
                f"hidden_dim = {reduced}\n        {GATE}"
                for reduced in (
                    "int(2 * hidden_dim / 3)",
                    "max(1, int(2 * hidden_dim / 3))",
                    "(int(hidden_dim * 2 / 3) + 7) // 8 * 8",
                    "(int(2 * hidden_dim / 3) + 255) // 256 * 256",
                )
            ]
        },
    ),
    Mistake(
        "gate_detached",
        "the gate is detached, so no gradient reaches gate_proj; leave out detach",
        gated("silu(g).detach() * u"),
    ),
    Mistake(
        "token_by_token",
        "a loop maps one token at a time; a linear layer takes all of them",
        {MLP: BY_TOKEN},
        slow=True,
    ),
)

# Mutant of the reference, as `prove` prints it -> why it changes nothing that the contract speaks of.
EQUIVALENT = {
    f"{WIDE} -> {WIDE.replace('x.dtype, torch.float32', 'torch.float32, x.dtype')}": "the order of the two is free",
}
