"""Known wrong answers to activations."""

from graders.kata import Mistake

SIGMA = "torch.where(x > 0, 1, small) / (1 + small)"
SIGMA_GRAD = "grad * sigma * (1 - sigma)"
TANH = "-x.sign() * small / (2 + small)"
TANH_GRAD = "grad * (1 - t * t)"
RELU_GRAD = "return torch.where(result > 0, grad, 0)"
LEAKY = "torch.where(x > 0, x, negative_slope * x)"
LEAKY_GRAD = "torch.where(x > 0, grad, ctx.negative_slope * grad)"
ELU = "torch.where(x > 0, x, alpha * torch.expm1(x))"
ELU_SLOPE = "torch.where(x > 0, 1, ctx.alpha * torch.exp(x))"

EXP_88 = "torch.exp(x.clamp(-88, 88))"
QUOTIENT = "(torch.exp({0}) - torch.exp(-{0})) / (torch.exp({0}) + torch.exp(-{0}))"
SIGMA_OF_X, TANH_OF_X, RELU_OF_X = (
    {f"ctx.save_for_backward({name})": "ctx.save_for_backward(x)"} for name in ("sigma", "t", "result")
)
FROM_X = {**SIGMA_OF_X, "(sigma,) = ctx": "(x,) = ctx"}
RELU_AT_0 = {**RELU_OF_X, RELU_GRAD: "return torch.where(result < 0, 0, grad)"}
LEAKY_AT_0 = {LEAKY_GRAD: "torch.where(x < 0, ctx.negative_slope * grad, grad)"}
ELU_AT_0 = {ELU_SLOPE: "torch.where(x < 0, ctx.alpha * torch.exp(x), 1)"}
MASK = "(result > 0).to(grad.dtype)"

MISTAKES = (
    Mistake(
        "overflow",
        "e^x overflows for large x, and ∞ / ∞ is NaN; use e^(−|x|), which is at most 1, and let each entry's sign "
        "choose the formula",
        {TANH: QUOTIENT.format("x")},
        {TANH: ["(torch.exp(2 * x) - 1) / (torch.exp(2 * x) + 1)", "torch.sinh(x) / torch.cosh(x)"]},
        {SIGMA: "torch.exp(x) / (1 + torch.exp(x))"},
        {SIGMA: "torch.exp(x) / (1 + torch.exp(x))", TANH: QUOTIENT.format("x")},
        {SIGMA: "1 / (1 + torch.exp(-x)) if x.sum() < 0 else torch.exp(x) / (1 + torch.exp(x))"},
    ),
    Mistake(
        "overflow_in_backward",
        "the slope of the sigmoid is computed from e^(−x), which overflows for x far below 0; use σ (1 − σ)",
        {**FROM_X, SIGMA_GRAD: "grad * torch.exp(-x) / (1 + torch.exp(-x)) ** 2"},
        {**FROM_X, SIGMA_GRAD: "grad * torch.exp(-x) * (1 / (1 + torch.exp(-x))) ** 2"},
    ),
    Mistake(
        "clamped_for_float32",
        "x is clamped to a bound such as ±88, but float16's exp overflows above 11.09; use e^(−|x|) instead",
        {TANH: QUOTIENT.format("x.clamp(-88, 88)")},
        {SIGMA: f"{EXP_88} / (1 + {EXP_88})"},
    ),
    Mistake(
        "slope_at_0",
        "the slope at exactly 0 is 1 or ½; it should be 0 for relu, negative_slope for leaky_relu and alpha for elu",
        RELU_AT_0,
        LEAKY_AT_0,
        ELU_AT_0,
        {**RELU_AT_0, **LEAKY_AT_0, **ELU_AT_0},
        {**RELU_OF_X, RELU_GRAD: "return grad * (1 + result.sign()) / 2"},
        {LEAKY_GRAD: "torch.where(x.signbit(), ctx.negative_slope * grad, grad)"},  # +0.0 and −0.0 differ
    ),
    Mistake(
        "slope_in_float32",
        "torch.where of two numbers gives a float32 tensor, too coarse for float64; choose between tensors, such as "
        "grad and negative_slope * grad",
        {LEAKY_GRAD: "grad * torch.where(x > 0, 1.0, float(ctx.negative_slope))"},
        {LEAKY: "x * torch.where(x > 0, 1.0, float(negative_slope))"},
    ),
    Mistake(
        "slope_by_division",
        "the slope is taken as output / x, which is 0 / 0 = NaN at 0; ask whether x > 0",
        {**RELU_OF_X, RELU_GRAD: "return grad * (result.clamp(min=0) / result)"},
        {LEAKY_GRAD: "grad * (torch.where(x > 0, x, ctx.negative_slope * x) / x)"},
    ),
    Mistake(
        "larger_of_two",
        "max(x, negative_slope · x) is wrong for a negative_slope above 1; ask whether x > 0",
        {LEAKY: "torch.maximum(x, negative_slope * x)"},
        *(
            {
                LEAKY: "torch.maximum(x, negative_slope * x)",
                LEAKY_GRAD: LEAKY_GRAD.replace("x > 0", f"x {than} ctx.negative_slope * x"),
            }
            for than in (">", ">=")
        ),
    ),
    Mistake(
        "zero_is_the_default",
        "a negative_slope of 0 counts as missing, and 0.01 is used; use the number that is passed",
        {"ctx.negative_slope = negative_slope": "ctx.negative_slope = negative_slope = negative_slope or 0.01"},
    ),
    Mistake(
        "fixed_slope_in_backward",
        "the backward of leaky_relu always uses 0.01; keep negative_slope on ctx, and use it",
        {LEAKY_GRAD: LEAKY_GRAD.replace("ctx.negative_slope", "0.01")},
    ),
    Mistake(
        "one_gradient_for_two_arguments",
        "backward returns one gradient, but forward has two arguments; also return None for the second, a number",
        {LEAKY_GRAD + ", None": LEAKY_GRAD},
        {ELU_SLOPE + ", None": ELU_SLOPE},
        {one + ", None": one for one in (LEAKY_GRAD, ELU_SLOPE)},
    ),
    Mistake(
        "exp_minus_1",
        "e^x − 1 cancels near 0: in float64 only four digits are right for x = −1e-12; use torch.expm1",
        {ELU: "torch.where(x > 0, x, alpha * (torch.exp(x) - 1))"},
    ),
    Mistake(
        "infinity_times_0",
        "elu multiplies e^x by a mask of 0 and 1; where e^x overflows, the product is ∞ · 0 = NaN; select with "
        "torch.where",
        {ELU: "x * (x > 0) + alpha * torch.expm1(x) * (x <= 0)"},
        {ELU_SLOPE: "((x > 0) + ctx.alpha * torch.exp(x) * (x <= 0))"},
    ),
    Mistake(
        "alpha_forgotten",
        "below 0, elu's value or slope lacks alpha somewhere; the value should be alpha (e^x − 1), and the slope "
        "alpha e^x",
        {ELU_SLOPE: "torch.where(x > 0, 1, torch.exp(x))"},
        {ELU: ELU.replace("alpha * ", "")},
        {ELU_SLOPE: "torch.where(x > 0, 1, ctx.alpha * torch.expm1(x) + 1)"},
        {ELU_SLOPE: "torch.where(x > 0, 1, torch.expm1(x) + ctx.alpha)"},
        {"ctx.alpha = alpha": "ctx.alpha = alpha = 1"},
    ),
    Mistake(
        "celu",
        "alpha (e^(x / alpha) − 1) is CELU; ELU has e^x, so that its slope below 0 is alpha e^x",
        {ELU: ELU.replace("(x))", "(x / alpha))"), ELU_SLOPE: "torch.where(x > 0, 1, torch.exp(x / ctx.alpha))"},
    ),
    Mistake(
        "wrong_tensor_saved",
        "the slope is a formula of the output, σ (1 − σ) or 1 − tanh², but x was saved; save the output",
        SIGMA_OF_X,
        TANH_OF_X,
        SIGMA_OF_X | TANH_OF_X,
    ),
    Mistake(
        "output_taken_for_input",
        "backward takes tanh or σ of the saved output again; it is tanh(x) or σ(x) already, so use it as it is",
        {TANH_GRAD: "grad * (1 - (torch.expm1(2 * t) / (torch.expm1(2 * t) + 2)) ** 2)"},
        {SIGMA_GRAD: "grad * torch.exp(-sigma) / (1 + torch.exp(-sigma)) ** 2"},
    ),
    Mistake(
        "tanh_not_squared", "the slope of tanh is taken as 1 − tanh(x); square tanh(x)", {TANH_GRAD: "grad * (1 - t)"}
    ),
    Mistake(
        "tanh_of_half",
        "2 σ(x) − 1 is tanh(x / 2), and its slope is half as steep; tanh(x) is 2 σ(2x) − 1",
        {"torch.expm1(-2 * x.abs())": "torch.expm1(-x.abs())", TANH_GRAD: f"{TANH_GRAD} / 2"},
        {"torch.expm1(-2 * x.abs())": "torch.expm1(-x.abs())"},  # with the slope of tanh itself
    ),
    Mistake(
        "upstream_ignored",
        "backward returns only the slope; multiply the slope by the gradient that arrives (the chain rule)",
        {TANH_GRAD: "1 - t * t"},
        {SIGMA_GRAD: "sigma * (1 - sigma)"},
        {RELU_GRAD: f"return {MASK}"},
    ),
    Mistake(
        "written_in_place",
        "backward writes into the gradient that arrives or into the saved output, which others use; make a new tensor",
        {RELU_GRAD: "grad[result <= 0] = 0\n        return grad"},
        {TANH_GRAD: "grad.mul_(1 - t * t)"},
        {SIGMA_GRAD: "sigma.mul_(1 - sigma) * grad"},
    ),
    Mistake(
        "kept_on_the_class",
        "what backward needs is kept on the class, where the next call overwrites it; keep it on ctx",
        {"ctx.save_for_backward(t)": "Tanh.saved = t", "(t,) = ctx.saved_tensors": "t = Tanh.saved"},
        {
            "ctx.negative_slope = negative_slope": "LeakyReLU.number = negative_slope",
            LEAKY_GRAD: LEAKY_GRAD.replace("ctx.negative_slope", "LeakyReLU.number"),
        },
        {"ctx.alpha = alpha": "ELU.number = alpha", ELU_SLOPE: ELU_SLOPE.replace("ctx.alpha", "ELU.number")},
    ),
    Mistake(
        "gradient_flattened_by_view",
        "view(-1) fails if the gradient that arrives is transposed; multiply it in the shape that it has",
        {SIGMA_GRAD: "(grad.view(-1) * (sigma * (1 - sigma)).reshape(-1)).reshape(sigma.shape)"},
    ),
    Mistake(
        "jacobian",
        "the slopes are put into an N × N matrix, which is 0 outside its diagonal; multiply entry by entry",
        {RELU_GRAD: f"return ({MASK}.flatten().diag() @ grad.flatten()).reshape(grad.shape)"},
        {TANH_GRAD: "((1 - t * t).flatten().diag() @ grad.flatten()).reshape(grad.shape)"},
        slow=True,
    ),
)

# Mutant of the reference -> why it changes nothing that the contract speaks of.
AT_0 = "at exactly 0 both sides give the same value"
EQUIVALENT: dict[str, str] = {
    f"{before} -> {before.replace('x > 0', 'x >= 0')}": AT_0
    for before in (f"sigma = {SIGMA}", f"return {LEAKY}", f"return {ELU}")
}
