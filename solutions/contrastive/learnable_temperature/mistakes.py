"""Known wrong answers to learnable_temperature."""

from graders.kata import Mistake

LOG = "torch.tensor(init_temperature).log()"
INIT = f"nn.Parameter({LOG})"
KEPT = f"self.log_temperature = {INIT}"
OTHER_INIT = "nn.Parameter(torch.tensor(float(init_temperature)))"
EXP = "self.log_temperature.exp()"
TAU = f"return {EXP}"
UNIT = "F.normalize(features, dim=1)"
PRODUCT = "unit @ unit.mT"
LOGITS = f"{PRODUCT} / self.temperature"
MASKED = "logits.masked_fill(itself, -torch.inf)"
ITSELF = "torch.eye(rows, dtype=torch.bool, device=features.device)"
HALVES = ".roll(rows // 2)"
POSITIVE = f"torch.arange(rows, device=features.device){HALVES}"
LOSS = "return F.cross_entropy(logits, positive)"
UNDIVIDED = "return (logits.logsumexp(1) - logits.gather(1, positive[:, None])[:, 0] * self.temperature).mean()"
FLOAT = {UNIT: "F.normalize(features.float(), dim=1)", LOSS: f"{LOSS}.to(features.dtype)"}


BY_VERSION = f"""if not torch.is_grad_enabled() and getattr(self, "at", None) == self.log_temperature._version:
            return self.t
        self.at, self.t = self.log_temperature._version, {EXP}
        return self.t"""
MISTAKES = (
    Mistake(
        "unshifted_in_half",
        {
            "return F.cross_entropy(logits, positive)": (
                "if features.element_size() == 2:\n"
                "            e = logits.float().exp()\n"
                "            return -(e.gather(1, positive[:, None])[:, 0] / "
                "e.sum(1)).log().mean().to(logits.dtype)\n"
                "        return F.cross_entropy(logits, positive)"
            ),
        },
    ),
    Mistake(
        "positives_of_the_first_batch",
        "the positives found for one batch are used again for a batch of another size; find them anew in every call",
        {
            POSITIVE: f"""getattr(self, "kept", unit[:0])
        if len(positive) < rows:
            positive = self.kept = {POSITIVE}
        positive = positive[:rows]"""
        },
    ),
    Mistake(
        "mask_of_the_first_batch",
        "the mask of the first batch is used again for batches of other sizes; make it anew in every call",
        {ITSELF: [f'self.__dict__.setdefault("kept", {ITSELF}){part}' for part in ("", "[:rows, :rows]")]},
    ),
    Mistake(
        "temperature_cached",
        "an earlier temperature is kept, so it does not follow every change of the parameter; take exp in every call",
        {KEPT: f"{KEPT}\n        self.tau = {EXP}", TAU: "return self.tau"},
        {KEPT: f"{KEPT}\n        self.tau = init_temperature", LOGITS: f"{PRODUCT} / self.tau"},
        {"import torch\n": "import functools\nimport torch\n", "@property": "@functools.cached_property"},
        {TAU: f"if self.training or not hasattr(self, 't'):\n            self.t = {EXP}\n        return self.t"},
        {TAU: BY_VERSION},
    ),
    Mistake(
        "temperature_clamped",
        "the temperature or its parameter is clamped, or an eps is added; divide by exp(log_temperature) as it is",
        {TAU: [f"return {EXP}.clamp({ends})" for ends in ("0.01", "0.05", "1e-3", "0.01, 100", "max=1")]},
        {LOGITS: f"{PRODUCT} * (1 / self.temperature).clamp(max=100)"},
        {TAU: f"return (t := {EXP}) + (t.clamp(min=0.01) - t).detach()"},
        {UNIT: f"{UNIT}\n        self.log_temperature.data.clamp_(min=-4.605170185988092)"},
        {LOGITS: [f"{PRODUCT} / (self.temperature + {eps})" for eps in (1e-8, 1e-6)]},
    ),
    Mistake(
        "masked_before_it_is_divided",
        "the diagonal is masked before the division by τ, so that τ's gradient is 0 · ∞ = NaN; divide first, then mask",
        {LOGITS: PRODUCT, MASKED: f"{MASKED} / self.temperature"},
        {LOGITS: PRODUCT, MASKED: "logits.masked_fill(itself, torch.finfo(logits.dtype).min) / self.temperature"},
    ),
    Mistake(
        "temperature_detached",
        "the temperature is cut from the graph, in forward or in the property, perhaps only in eval mode; use no "
        "item(), .data or detach()",
        {TAU: [f"return self.log_temperature.{way}" for way in ("exp().detach()", "data.exp()")]},
        {LOGITS: [f"{PRODUCT} / self.temperature.{way}" for way in ("detach()", "item()")]},
        {LOGITS: f"{LOGITS} if self.training else {LOGITS}.detach()"},
        *({TAU: f"return {EXP}.{way}", LOGITS: f"{PRODUCT} / {EXP}"} for way in ("detach()", "item()")),
    ),
    Mistake(
        "a_method", "`temperature` is a method; make it a property", {"    @property\n": "", LOGITS: f"{LOGITS}()"}
    ),
    Mistake(
        "parameter_itself",
        "the temperature is the parameter itself, or a function of it other than exp; start at "
        "log(init_temperature), and take exp",
        {TAU: "return self.log_temperature"},
        {LOGITS: f"{PRODUCT} / self.log_temperature"},
        {TAU: "return self.log_temperature", INIT: OTHER_INIT},
        {TAU: "return F.softplus(self.log_temperature)"},
        *({LOG: LOG.replace("log()", f"log{base}()"), TAU: f"return {base}**self.log_temperature"} for base in (2, 10)),
    ),
    Mistake(
        "log_of_the_scale",
        "the parameter is log(1/τ), as in CLIP, or the cosines are multiplied by τ; here τ = exp(log_temperature), "
        "and the cosines should be divided by τ",
        {LOG: f"-{LOG}", TAU: "return (-self.log_temperature).exp()"},
        {LOGITS: f"{PRODUCT} * self.temperature"},
        {LOG: f"-{LOG}", LOGITS: f"{PRODUCT} * {EXP}"},
        {TAU: "return (-self.log_temperature).exp()", LOGITS: f"{PRODUCT} * {EXP}"},
        {LOG: f"-{LOG}", TAU: "return (-self.log_temperature).exp()", LOGITS: f"{PRODUCT} * self.temperature"},
    ),
    Mistake(
        "another_start",
        "log_temperature has the wrong start or shape; start at log(init_temperature), 0-d, with a default of 0.07",
        {INIT: OTHER_INIT},
        {LOG: [LOG.replace("init_temperature", t) for t in ("0.07", "1 / init_temperature", "[init_temperature]")]},
        {"float = 0.07": "float = 0.1"},
        {LOG: "torch.tensor(init_temperature + 1e-8).log()"},
    ),
    Mistake(
        "not_a_parameter",
        "log_temperature is a buffer, a plain tensor or frozen, so no optimiser trains it; make it an "
        "nn.Parameter that requires gradients",
        {KEPT: 'self.register_buffer("log_temperature", torch.tensor(init_temperature).log())'},
        {INIT: f"{LOG}.requires_grad_()"},
        {LOG: f"{LOG}, requires_grad=False"},
    ),
    Mistake(
        "another_parameter",
        "there is a parameter besides log_temperature, perhaps a frozen one; keep constants as buffers or as numbers",
        {KEPT: f"{KEPT}\n        self.one = nn.Parameter(torch.ones(()), requires_grad=False)"},
        {KEPT: f"{KEPT}\n        self.one = nn.Parameter(torch.ones(()))"},
    ),
    Mistake(
        "mask_in_the_state_dict",
        "forward registers a buffer that state_dict saves and a new object lacks; register it with persistent=False",
        {LOSS: f'self.register_buffer("mask", itself)\n        {LOSS}'},
    ),
    Mistake("undivided_positive", "the positive is not divided by τ; divide every cosine, once", {LOSS: UNDIVIDED}),
    Mistake("self_not_excluded", {MASKED: "logits"}),
    Mistake("interleaved", "rows 2i and 2i + 1 are taken for a pair; rows i and i + N are one", {HALVES: " ^ 1"}),
    Mistake("not_normalised", {UNIT: "features"}),
    Mistake(
        "mask_of_a_finite_number",
        "the diagonal is filled with a number that float16 does not hold, or that logits reach at small "
        "temperatures; use −inf",
        {MASKED: [f"logits.masked_fill(itself, {number})" for number in ("-9e15", "-1e9", "-1e4", "-100.0")]},
    ),
    Mistake("float32_inside", "float64 is computed in float32; keep the dtype of the features", FLOAT),
    Mistake(
        "refused_in_part",
        "an init_temperature of 0 or a negative one is accepted; raise ValueError for both",
        *({"if init_temperature <= 0:": check} for check in ("if init_temperature < 0:", "if not init_temperature:")),
    ),
    Mistake(
        "row_by_row_or_feature_by_feature",
        "the rows go through a Python loop, or each product of features is kept, in a tensor of (2N, 2N, D); use one @",
        {LOGITS: "torch.stack([row @ unit.mT for row in unit]) / self.temperature"},
        {LOGITS: "(unit[:, None] * unit).sum(-1) / self.temperature"},
        slow=True,
    ),
)

# Mutant of the reference -> why it changes nothing that the contract speaks of.
ON_A_GPU = "on the CPU it is made on the device of the features anyway; on a GPU the call raises"
EQUIVALENT: dict[str, str] = {
    f"unit = {UNIT} -> unit = F.normalize(features)": "1 is the default of dim in F.normalize",
    f"itself = {ITSELF} -> itself = torch.eye(rows, dtype=torch.bool)": ON_A_GPU,
    f"positive = {POSITIVE} -> positive = torch.arange(rows).roll(rows // 2)": ON_A_GPU,
}
