"""Known wrong answers to lora_linear."""

from graders.kata import Mistake

SCALE = "self.scale = alpha / rank"
FROZEN = ".requires_grad_(False)"
INIT_A = "nn.init.kaiming_uniform_(self.lora_A)"
ZERO_B = "torch.zeros(out_features, rank)"
BASE = "self.linear(x)"
ADDED = "self.scale * (low @ self.lora_B.mT)"
RETURN = f"return {BASE} + {ADDED}"
WEIGHT = "weight = self.linear.weight + self.scale * (self.lora_B @ self.lora_A)"
CHANGE = "(self.scale * (self.lora_B @ self.lora_A))"
NEW = "new = nn.Linear(in_features, out_features, bias=has_bias, dtype=weight.dtype, device=weight.device)"
ADDED_IN_PLACE = "weight = self.linear.weight.data.add_(self.scale * (self.lora_B @ self.lora_A).detach())"
TAKEN_BACK = "weight -= self.scale * (self.lora_B @ self.lora_A)"
REFORMED = ".reshape(self.linear.weight.shape)"
MERGED = "return new\n"
KEPT = """if not self.training:
            self.kept = getattr(self, "kept", None) or (self.merged(),)
            return self.kept[0](x)
        """
MERGED_BY_EVAL = """inside = False

    def train(self, mode: bool = True) -> "LoRALinear":
        if self.inside == mode:
            change = self.scale * (self.lora_B @ self.lora_A).detach()
            self.linear.weight.data += -change if mode else change
            self.inside = not mode
        return super().train(mode)

    """

MISTAKES = (
    Mistake(
        "scaled_by_alpha",
        "the low-rank part is multiplied only by alpha; multiply by alpha / rank",
        {SCALE: "self.scale = alpha"},
    ),
    Mistake(
        "scaled_by_alpha_times_rank",
        "the low-rank part is multiplied by alpha · rank; multiply by alpha / rank",
        {SCALE: "self.scale = alpha * rank"},
    ),
    Mistake(
        "scaled_by_rank_over_alpha",
        "the low-rank part is multiplied by rank / alpha; multiply by alpha / rank",
        {SCALE: "self.scale = rank / alpha"},
    ),
    Mistake(
        "float32_scale",
        "alpha / rank is put into a tensor, which is float32 and spoils float64; keep it as a number",
        {SCALE: "self.scale = torch.tensor(alpha / rank)"},
    ),
    Mistake(
        "not_scaled",
        "the low-rank part is not scaled; multiply it by alpha / rank",
        {SCALE: "self.scale = 1.0"},
        {RETURN: RETURN.replace("self.scale * ", ""), WEIGHT: WEIGHT.replace("self.scale * ", "")},
    ),
    Mistake(
        "scaled_by_root",
        "the low-rank part is divided by √rank, as rsLoRA does; divide by the rank",
        {SCALE: "self.scale = alpha / rank**0.5"},
    ),
    Mistake(
        "whole_numbers_divided",
        "alpha // rank rounds down; alpha / rank need not be a whole number",
        {SCALE: "self.scale = alpha // rank if isinstance(alpha, int) else alpha / rank"},
        {SCALE: "self.scale = alpha // rank"},
    ),
    Mistake(
        "scale_learns",
        "the scale is a parameter, so it learns as well; keep it as a number",
        {SCALE: "self.scale = nn.Parameter(torch.tensor(alpha / rank))"},
    ),
    Mistake(
        "scaled_twice",
        "the low-rank part is scaled twice; scale it once",
        {"low = x @": "low = self.scale * x @"},
        {RETURN: f"return {BASE} + self.scale * {ADDED}"},
    ),
    Mistake(
        "output_scaled",
        "the frozen layer's output is scaled as well; scale only the low-rank part",
        {RETURN: f"return self.scale * ({BASE} + low @ self.lora_B.mT)"},
    ),
    Mistake(
        "frozen_layer_left_out",
        "W₀x, the frozen layer's product, is missing; add the low-rank part to the whole output of the frozen layer",
        {RETURN: [f"return {ADDED}", f"return {ADDED} + (0 if self.linear.bias is None else self.linear.bias)"]},
    ),
    Mistake(
        "bias_twice",
        "the bias is added twice; the frozen layer already adds it",
        {RETURN: f"{RETURN} + (0 if self.linear.bias is None else self.linear.bias)"},
    ),
    Mistake(
        "lora_a_zero_lora_b_random",
        "lora_A is zero and lora_B random; it should be the other way round",
        {INIT_A: "nn.init.zeros_(self.lora_A)\n        nn.init.normal_(self.lora_B, std=0.02)"},
    ),
    Mistake(
        "both_zero",
        "lora_A and lora_B are both zero, so both gradients stay zero; draw lora_A at random",
        {INIT_A: "nn.init.zeros_(self.lora_A)"},
    ),
    Mistake(
        "lora_b_not_zero",
        "lora_B is not zero at the start, so the new layer does not equal the frozen one; start lora_B at 0",
        {ZERO_B: "torch.randn(out_features, rank) * 0.02"},
        {
            ZERO_B: [
                "torch.randn(out_features, rank)",
                "torch.ones(out_features, rank)",
                "1e-9 * torch.randn(out_features, rank)",
            ]
        },
    ),
    Mistake(
        "own_seed",
        "lora_A is drawn from a new generator, with the same seed for every layer; draw from torch's global generator",
        {INIT_A: "nn.init.normal_(self.lora_A, generator=torch.Generator().manual_seed(0))"},
    ),
    Mistake(
        "lora_a_constant",
        "lora_A is filled with one number, so all its rows learn the same; draw it at random",
        {INIT_A: ["nn.init.constant_(self.lora_A, 0.01)", "nn.init.ones_(self.lora_A)"]},
    ),
    Mistake(
        "seeded_inside",
        "the constructor seeds the random generator, which belongs to the caller; draw without a seed",
        {INIT_A: f"torch.manual_seed(0)\n        {INIT_A}"},
    ),
    Mistake(
        "everything_learns",
        "the linear layer is not frozen; switch off requires_grad of its weight and its bias",
        {FROZEN: ""},
    ),
    Mistake(
        "bias_learns",
        "the bias of the linear layer still learns; freeze it as well",
        {FROZEN: "", INIT_A: f"{INIT_A}\n        self.linear.weight.requires_grad_(False)"},
    ),
    Mistake(
        "weight_learns",
        "the weight of the linear layer still learns; freeze it",
        {FROZEN: "", INIT_A: f"{INIT_A}\n        if bias:\n            self.linear.bias.requires_grad_(False)"},
    ),
    Mistake(
        "gradient_of_x_cut",
        "the frozen layer runs under no_grad, or its input or output is detached, which cuts the gradient of x; "
        "freezing its parameters is enough",
        {RETURN: [f"return {BASE}.detach() + {ADDED}", f"return self.linear(x.detach()) + {ADDED}"]},
    ),
    Mistake(
        "input_of_the_low_rank_part_detached",
        "lora_A gets a detached x, which cuts the gradient of x through the low-rank part; do not detach x",
        {"low = x @": "low = x.detach() @"},
    ),
    Mistake(
        "lora_a_or_b_detached",
        "forward detaches lora_A or lora_B, which then gets no gradient; both learn, so detach neither",
        {"low = x @ self.lora_A": "low = x @ self.lora_A.detach()"},
        {RETURN: RETURN.replace("self.lora_B", "self.lora_B.detach()")},
    ),
    Mistake(
        "skipped_while_lora_b_is_zero",
        "while lora_B is zero, forward leaves the low-rank part out, so lora_B gets no gradient and stays zero; always "
        "add the low-rank part",
        {RETURN: f"if not self.lora_B.any():\n            return {BASE}\n        {RETURN}"},
    ),
    Mistake(
        "dropout_left_on",
        "dropout acts on the low-rank part while the layer trains; leave dropout out",
        {"low = x @": [f"low = nn.functional.dropout(x, {p}, self.training) @" for p in ("0.1", "0.05", "0.5")]},
    ),
    Mistake(
        "lora_a_or_b_frozen",
        "lora_A or lora_B is frozen as well; only the linear layer should be",
        {INIT_A: f"{INIT_A}\n        self.lora_A.requires_grad_(False)"},
        {INIT_A: f"{INIT_A}\n        self.lora_B.requires_grad_(False)"},
        {INIT_A: f"{INIT_A}\n        self.requires_grad_(False)"},
    ),
    Mistake(
        "not_registered",
        "lora_A and lora_B are plain tensors, which no optimiser finds and no state_dict saves; use nn.Parameter",
        {
            "nn.Parameter(torch.empty(rank, in_features))": "torch.empty(rank, in_features, requires_grad=True)",
            f"nn.Parameter({ZERO_B})": "torch.zeros(out_features, rank, requires_grad=True)",
            INIT_A: "with torch.no_grad():\n            self.lora_A.normal_()",
        },
        {
            "nn.Parameter(torch.empty(rank, in_features))": "torch.empty(rank, in_features)",
            f"nn.Parameter({ZERO_B})": ZERO_B,
        },
    ),
    Mistake(
        "other_shapes",
        "lora_A and lora_B have other shapes; they should be (rank, in_features) and (out_features, rank)",
        {
            "torch.empty(rank, in_features)": "torch.empty(in_features, rank)",
            ZERO_B: "torch.zeros(rank, out_features)",
            "x @ self.lora_A.mT": "x @ self.lora_A",
            "low @ self.lora_B.mT": "low @ self.lora_B",
            "(self.lora_B @ self.lora_A)": "(self.lora_A @ self.lora_B).mT",
        },
        {
            "torch.empty(rank, in_features)": "torch.empty(in_features, rank)",
            "x @ self.lora_A.mT": "x @ self.lora_A",
            "(self.lora_B @ self.lora_A)": "(self.lora_B @ self.lora_A.mT)",
        },
        {
            ZERO_B: "torch.zeros(rank, out_features)",
            "low @ self.lora_B.mT": "low @ self.lora_B",
            "(self.lora_B @ self.lora_A)": "(self.lora_B.mT @ self.lora_A)",
        },
    ),
    Mistake(
        "always_a_bias",
        "the frozen layer has a bias even with bias=False; pass bias=bias to nn.Linear",
        {"nn.Linear(in_features, out_features, bias=bias)": "nn.Linear(in_features, out_features)"},
    ),
    Mistake(
        "largest_rank_refused",
        "a rank equal to the smaller of in_features and out_features is refused; it is allowed",
        {"1 <= rank <= min(": "1 <= rank < min("},
    ),
    Mistake(
        "rank_above_the_smaller_size",
        "a rank above the smaller of in_features and out_features is accepted; refuse it",
        {"1 <= rank <= min(": "1 <= rank <= max("},
        {"not 1 <= rank <= min(in_features, out_features)": "not 1 <= rank <= in_features"},
        {"not 1 <= rank <= min(in_features, out_features)": "not 1 <= rank <= out_features"},
    ),
    Mistake(
        "rank_not_limited",
        "one of the two limits of rank is not checked; refuse a rank below 1, and one above the smaller of in_features "
        "and out_features",
        {"not 1 <= rank <= min(in_features, out_features)": ["rank < 1", "rank > min(in_features, out_features)"]},
    ),
    Mistake(
        "merged_into_self",
        "merged writes to weights of the layer itself, which should stay as they are; put the sum into a new layer",
        {WEIGHT: ADDED_IN_PLACE},
        {MERGED: "nn.init.zeros_(self.lora_B)\n        return new\n"},
        {MERGED: "self.linear.weight.data = new.weight.data\n        return new\n"},
        {MERGED: "self.linear.weight.data = new.weight.data\n        return self.linear\n"},
        {
            WEIGHT: ADDED_IN_PLACE,
            "new.weight.copy_(weight)": "new.weight.data = weight",
        },
        {WEIGHT: ADDED_IN_PLACE, "new.weight.copy_(weight)": f"new.weight.copy_(weight)\n            {TAKEN_BACK}"},
    ),
    Mistake(
        "kept_in_evaluation",
        "in evaluation, the layer keeps a merged weight, and misses what is loaded or learned later; use the current "
        "weights in every call",
        {RETURN: KEPT + RETURN},
        {"def merged": MERGED_BY_EVAL + "def merged", RETURN: f"return {BASE} if self.inside else {BASE} + {ADDED}"},
    ),
    Mistake(
        "added_again_in_evaluation",
        "eval() adds B A to the frozen weight, and forward adds it again; leave the weight as it is",
        {"def merged": MERGED_BY_EVAL + "def merged"},
    ),
    Mistake(
        "merged_without_bias",
        "merged forgets the bias; copy the frozen layer's",
        {"new.bias.…": ["pass", "new.bias.zero_()"]},
        {"new.bias.…": "pass", INIT_A: "nn.init.normal_(self.lora_A)"},  # which draws in another way
        {"has_bias = self.linear.bias is not None": "has_bias = False"},
    ),
    Mistake(
        "merged_with_a_bias",
        "the merged layer has a bias even with bias=False; give it one only if the frozen layer has one",
        {"bias=has_bias, ": ""},
        {"bias=has_bias, ": "", "new.weight.copy_(weight)": "new.weight.copy_(weight)\n            new.bias.zero_()"},
    ),
    Mistake(
        "merged_scales_the_bias",
        "merged multiplies the bias by alpha / rank; scale only B A",
        {"new.bias.…": "new.bias.copy_(self.scale * self.linear.bias)"},
    ),
    Mistake(
        "merged_transposed",
        "merged adds the transpose of B A, or its numbers in that order; weight and B A are both (out_features, "
        "in_features)",
        {WEIGHT: [WEIGHT.replace("lora_A)", f"lora_A).mT{shaped}") for shaped in ("", REFORMED)]},
    ),
    Mistake(
        "merged_hidden",
        "a flag named merged hides the method merged; give the flag another name",
        {SCALE: f"{SCALE}\n        self.merged = False"},
    ),
    Mistake(
        "merged_without_scale",
        "merged adds B A unscaled; multiply it by alpha / rank, as forward does",
        {WEIGHT: WEIGHT.replace("self.scale * ", "")},
    ),
    Mistake(
        "merged_in_float32",
        "merged is always float32; give it the dtype of the layer",
        {NEW: NEW.replace("dtype=weight.dtype", "dtype=torch.float32")},
    ),
    Mistake(
        "memory_shared",
        "the merged layer's bias shares memory with the frozen layer's, so writing to one changes both; copy the bias",
        {"new.bias.…": ["new.bias = self.linear.bias", "new.bias.data = self.linear.bias.data"]},
    ),
    Mistake(
        "merged_layer_kept",
        "merged reuses the layer of its first call, or its B A; make both anew in every call",
        {MERGED: 'return self.__dict__.setdefault("kept", new)\n'},
        {NEW: NEW.replace("new = ", 'new = self.__dict__.setdefault("kept", ') + ")"},
        {WEIGHT: f'weight = self.linear.weight + self.__dict__.setdefault("kept", {CHANGE}.detach())'},
    ),
    Mistake(
        "merged_is_no_linear",
        "merged returns no nn.Linear; make one with the summed weight",
        {MERGED: "return weight.detach()\n"},
    ),
    Mistake(
        "weights_multiplied_first",
        "forward makes the product B A, which is as large as the frozen weight; multiply x by A first, then by B",
        {RETURN: f"return {BASE} + self.scale * (x @ (self.lora_B @ self.lora_A).mT)"},
        {
            RETURN: "return nn.functional.linear(\n"
            "            x, self.linear.weight + self.scale * (self.lora_B @ self.lora_A), self.linear.bias)"
        },
        {
            RETURN: f"if self.training:\n            {RETURN}\n        "
            "weight = self.linear.weight + self.scale * (self.lora_B @ self.lora_A)\n        "
            "return nn.functional.linear(x, weight, self.linear.bias)"
        },
        slow=True,
    ),
)

# Mutant of the reference, as `prove` prints it -> why it changes nothing that the contract speaks of.
EQUIVALENT = {
    "if not 1 <= rank <= min(in_features, out_features): -> if not 1 <= rank <= min(out_features, in_features):": (
        "the smaller of two numbers is the same in either order"
    ),
    f"{NEW} -> {NEW.replace(', device=weight.device', '')}": (
        "on the CPU the new layer is made on the device of the weight anyway; on a GPU it ends up on another"
    ),
}
