"""Known wrong answers to batch_norm."""

from graders.kata import Mistake

CHECK = "if x.dim() not in (2, 3, 4) or x.shape[1] != C:"
AXES = "axes = [axis for axis in range(x.dim()) if axis != 1]"
VAR = "var = x.var(axes, correction=0)"
AVERAGED = {VAR: "var = x.var(0, correction=0).reshape(C, -1).mean(1)"}
NO_GRAD = "            with torch.no_grad():\n                m = self.momentum\n"
NEXT_MEAN = "self.running_mean.copy_((1 - m) * self.running_mean + m * mean)"
NEXT_VAR = "self.running_var.copy_((1 - m) * self.running_var + m * var * (count / (count - 1)))"
NEW_MEAN, NEW_VAR = (
    f"{old.split('.copy_')[0]} = {old.split('.copy_')[1][1:-1]}" for old in (NEXT_MEAN, NEXT_VAR)
)  # new tensors, rather than new numbers in the same
UNBIASED = " * (count / (count - 1))"
NEXT_ROOT = f"root = (1 - m) * self.running_var.sqrt() + m * (var{UNBIASED}).sqrt()"
AROUND = "m * (mean - self.running_mean).square()"
EVALUATE = "mean, var = self.running_mean, self.running_var"
ROWS = "rows = x.transpose(0, 1).flatten(1)\n            "
UPDATE = (
    f"{ROWS}m = self.momentum\n            "
    "self.running_mean = ((1 - m) * self.running_mean + m * rows.mean(1)).detach()\n            "
    "self.running_var = ((1 - m) * self.running_var + m * rows.var(1, correction=0)).detach()"
)
CENTRED = "centred = x - mean.view(channels)"
ROOT = "torch.sqrt(var.view(channels) + self.eps)"
BUFFER = 'self.register_buffer("running_{}", torch.{}(num_features))'


def normalized_over(axes: str) -> dict[str, str]:
    """In training, where x has positions; the running statistics stay right."""
    own, chosen = f"({axes}, correction=0, keepdim=True)", "if self.training and x.dim() > 2 else"
    return {
        CENTRED: f"centred = x - (x.mean({axes}, keepdim=True) {chosen} mean.view(channels))",
        ROOT: f"torch.sqrt((x.var{own} {chosen} var.view(channels)) + self.eps)",
    }


def buffers(instead: str) -> dict[str, str]:
    kinds = (("mean", "zeros"), ("var", "ones"))
    return {BUFFER.format(*kind): instead.format(kind[0], f"torch.{kind[1]}(num_features)") for kind in kinds}


COVARIANCES = "torch.cov(x.transpose(0, 1).flatten(1), correction=0).reshape(C, C).diagonal()"

MISTAKES = (
    Mistake(
        "unbiased_batch",
        "the batch is normalised with the unbiased variance; use the one that divides by n, and the unbiased one only "
        "for running_var",
        {VAR: "var = x.var(axes)", UNBIASED: ["", " * ((count - 1) / count)"]},
        {VAR: "var = x.var(axes)"},
    ),
    Mistake(
        "biased_running", "running_var follows the biased variance; multiply it by n / (n − 1) first", {UNBIASED: ""}
    ),
    Mistake(
        "variance_around_the_running_mean",
        "running_var follows the batch's squared distances to the running mean; take them to the batch's own mean",
        {UNBIASED: [f"{UNBIASED} + {AROUND}", f"{UNBIASED} + {AROUND}{UNBIASED}"]},
    ),
    Mistake(
        "corrected_by_the_batch_size",
        "running_var is corrected by N / (N − 1); take n / (n − 1), where a channel has n values, N·L or N·H·W",
        {UNBIASED: [" * (x.shape[0] / max(x.shape[0] - 1, 1))", " * (x.shape[0] / (x.shape[0] - 1))"]},
        {UNBIASED: " * (max(x.shape[0], 2) / (max(x.shape[0], 2) - 1))"},
    ),
    Mistake(
        "standard_deviations_averaged",
        "running_var averages standard deviations, and squares the average; average the variances themselves",
        {NEXT_VAR: f"{NEXT_ROOT}\n                self.running_var.copy_(root.square())"},
    ),
    Mistake(
        "first_batch_replaces",
        "the first batch replaces the running statistics; every batch, including the first, should move them by "
        "momentum",
        {
            "m = self.momentum": "self.calls = getattr(self, 'calls', 0) + 1\n"
            "                m = self.momentum if self.calls > 1 else 1"
        },
    ),
    Mistake(
        "momentum_reversed",
        "momentum is taken as the share of the old statistics; it is the share of the new batch",
        {"m = self.momentum": "m = 1 - self.momentum"},
    ),
    Mistake(
        "one_for_each_position",
        "each position has statistics of its own, only over the batch; take them, and count n, over all axes but "
        "axis 1",
        normalized_over("0"),
        normalized_over("0") | AVERAGED,
        normalized_over("0") | AVERAGED | {UNBIASED: " * (x.shape[0] / max(x.shape[0] - 1, 1))"},
    ),
    Mistake(
        "one_for_each_sample",
        "each sample has statistics of its own, as in instance norm; also take them over the batch",
        normalized_over("axes[1:]"),
    ),
    Mistake(
        "variances_averaged",
        "variances over the batch are averaged over the positions, which leaves out how the positions' means differ; "
        "take one variance over every axis except axis 1",
        AVERAGED,
    ),
    Mistake(
        "channels_last",
        "three axes are read as (N, L, C); the channels are axis 1",
        {
            CHECK: CHECK.replace("[1]", "[2 if x.dim() == 3 else 1]"),
            AXES: AXES.replace("!= 1", "!= (2 if x.dim() == 3 else 1)"),
            "channels = …": "channels = (-1, *[1] * (x.dim() - 2)) if x.dim() != 3 else (-1,)",
        },
    ),
    Mistake(
        "running_with_a_graph",
        "the running statistics keep the graph of every batch; update them under no_grad, or from detached values",
        {
            NO_GRAD: "            m = self.momentum\n            if True:\n",
            NEXT_MEAN: NEXT_MEAN.replace(".copy_(", " = ("),
            NEXT_VAR: NEXT_VAR.replace(".copy_(", " = ("),
        },
    ),
    Mistake(
        "running_as_parameters",
        "the running statistics are parameters; they are not trained, so register them as buffers",
        buffers("self.running_{} = nn.Parameter({}, requires_grad=False)"),
        buffers("self.running_{} = nn.Parameter({})"),
    ),
    Mistake(
        "not_saved",
        "state_dict leaves the running statistics out; register them as persistent buffers",
        buffers("self.running_{} = {}"),
        {**buffers("self.running_{} = {}"), NEXT_MEAN: NEW_MEAN, NEXT_VAR: NEW_VAR},
        buffers('self.register_buffer("running_{}", {}, persistent=False)'),
    ),
    Mistake(
        "mode_of_gradients",
        "the statistics are chosen by whether gradients are on; choose them by self.training, which train() and eval() "
        "set",
        {"        if self.training:\n": "        if torch.is_grad_enabled():\n"},
    ),
    Mistake(
        "running_in_training",
        "in training, x is normalised by the running statistics; use the batch's statistics there",
        {"channels = (": f"{EVALUATE}\n        channels = ("},
        {"channels = (": f"{EVALUATE}\n        channels = (", NEXT_MEAN: NEW_MEAN, NEXT_VAR: NEW_VAR},
    ),
    Mistake(
        "batch_in_evaluation",
        "evaluation uses the statistics of its batch; use the running ones",
        {EVALUATE: ROWS + "mean, var = rows.mean(1), rows.var(1, correction=0)"},
    ),
    Mistake(
        "updated_in_evaluation",
        "evaluation changes the running statistics; it should only read them",
        {EVALUATE: [f"{UPDATE}\n            {EVALUATE}", f"{EVALUATE}\n            {UPDATE}"]},
    ),
    Mistake(
        "statistics_detached",
        "the batch's mean, its variance or both are detached, so the gradient of x lacks their part; detach neither",
        {CENTRED: CENTRED.replace("mean", "mean.detach()"), ROOT: ROOT.replace("var", "var.detach()")},
        {CENTRED: CENTRED.replace("mean", "mean.detach()")},
        {ROOT: ROOT.replace("var", "var.detach()")},
    ),
    Mistake("eps_outside_the_root", {ROOT: "(torch.sqrt(var.view(channels)) + self.eps)"}),
    Mistake(
        "difference_of_squares",
        "E[x²] − E[x]² loses its digits, even if one mean of all channels is subtracted first; subtract each "
        "channel's own mean before squaring",
        {VAR: "var = (x * x).mean(axes) - mean * mean"},
        {VAR: "var = ((x * x).mean(axes) - mean * mean).clamp_min(0)"},
        {VAR: "var = (x - x.mean()).square().mean(axes) - (mean - x.mean()).square()"},
    ),
    Mistake(
        "only_the_first_calls_count",
        "after a few calls the running statistics no longer change, or change by another share than momentum; use "
        "momentum in every call",
        {
            "m = self.momentum": "self.calls = getattr(self, 'calls', 0) + 1\n"
            "                m = self.momentum * (self.calls < 5)"
        },
        {
            "m = self.momentum": "self.calls = getattr(self, 'calls', 0) + 1\n"
            "                m = self.momentum if self.calls < 5 else 1 / self.calls"
        },
    ),
    Mistake(
        "one_sample_refused",
        "a single sample is refused in training though it has many values per channel; count N·L or N·H·W",
        {"            if count == 1:\n": "            if x.shape[0] == 1:\n"},
    ),
    Mistake(
        "loop_over_the_channels",
        {"mean = …": "mean = torch.stack([x[:, c].mean() for c in range(C)])"},
        {EVALUATE: f"{EVALUATE}\n            mean = torch.stack([one + 0 for one in mean])"},
        slow=True,
    ),
    Mistake(
        "covariances",
        "all covariances of the channels are taken, and all but the diagonal is thrown away; take only the variances",
        {VAR: [f"var = {COVARIANCES}", f"{VAR} if x.dim() > 2 else {COVARIANCES}"]},
        slow=True,
    ),
)

# Mutant of the reference -> why it changes nothing that the contract speaks of.
EQUIVALENT: dict[str, str] = {}
# Sizes and numbers that are equal at every seed, and why.
FIXED = {
    "length of modes": "two or three calls",
}
