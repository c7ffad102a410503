"""Known wrong answers to streaming_entropy."""

from graders.kata import Mistake

X = "x = logits.detach().double()"
M = "M = x.amax(1)"
D = "d = torch.where(x > -torch.inf, x - M[:, None], -torch.inf)"
CHUNK = "self._add(M, e.sum(1), (e * torch.where(e > 0, d, 0)).sum(1))"
MERGE = "self._add(other.M, other.z, other.s)"
SHIFT = "d = torch.where(its_M > -torch.inf, its_M - largest, 0)"
Z = "total_z = total_z + d.exp() * its_z"
S = "total_s = total_s + d.exp() * (its_s + d * its_z)"
LOG_SUM = "return self.M + self.z.log()"
ENTROPY = "return self.z.log() - self.s / self.z"
EMPTY = "if (self.z == 0).any():"
LAST = "self.M, self.z, self.s = largest, total_z, total_s"
STATE = """self.M = torch.full((rows,), -torch.inf, dtype=torch.float64)
        self.z = torch.zeros(rows, dtype=torch.float64)
        self.s = torch.zeros(rows, dtype=torch.float64)"""
SWAP = "self.M, self.z, self.s = other.M, other.z, other.s"

FIRST = "self.M = torch.full((rows,), -torch.inf, dtype=torch.float64)"
EMPTY = "if (self.z == 0).any():"

MISTAKES = (
    Mistake(
        "first_moment_not_rescaled",
        "when the maximum grows, Σ exp(x − M) is rescaled, but the sum of the weighted logits is not; rescale both",
        {S: "total_s = total_s + its_s"},
        {S: "total_s = total_s + its_s + d * its_z"},
    ),
    Mistake(
        "first_moment_not_moved",
        "the sum of (x − M) exp(x − M) is multiplied by exp(M − M'), but x − M also becomes x − M'; add (M − M') Σ "
        "exp(x − M) before that",
        {S: "total_s = total_s + d.exp() * its_s"},
    ),
    Mistake(
        "moved_without_rescaling",
        "(M − M') Σ exp(x − M) is added to the first moment without the factor exp(M − M'); both parts need it",
        {S: "total_s = total_s + d.exp() * its_s + d * its_z"},
    ),
    Mistake(
        "moved_the_wrong_way",
        "when the maximum grows from M to M', the first moment gets (M' − M) Σ exp(x − M); M − M' times the "
        "sum is right",
        {S: "total_s = total_s + d.exp() * (its_s - d * its_z)"},
    ),
    Mistake(
        "sum_not_rescaled",
        "when the maximum grows, Σ exp(x − M) stays as it is; multiply it by exp(M − M')",
        {Z: "total_z = total_z + its_z"},
    ),
    Mistake(
        "rescaled_the_wrong_way",
        "the sums are multiplied by exp(M' − M) when the maximum grows from M to M'; it should be exp(M − M')",
        {SHIFT: SHIFT.replace("its_M - largest", "largest - its_M")},
        {Z: Z.replace("d.exp()", "(-d).exp()"), S: S.replace("d.exp()", "(-d).exp()")},
    ),
    Mistake(
        "maximum_of_the_chunk",
        "the newest chunk's maximum replaces the old one, even a larger one, and the sums overflow; take the larger",
        {"largest = torch.maximum(self.M, M)": "largest = torch.where(M > -torch.inf, M, self.M)"},
        {"largest = torch.maximum(self.M, M)": "largest = M"},
    ),
    Mistake(
        "first_maximum_kept",
        "the first chunk's maximum stays, and later logits far above it overflow; let the maximum grow",
        {"largest = torch.maximum(self.M, M)": "largest = torch.where(self.M > -torch.inf, self.M, M)"},
    ),
    Mistake(
        "one_maximum_for_all_rows",
        "one maximum is taken over all rows, and in rows far below it every exp is 0; take each row's own",
        {M: "M = x.max().expand(self.rows)"},
        {"largest = torch.maximum(self.M, M)": "largest = torch.maximum(self.M, M).max().expand(self.rows)"},
    ),
    Mistake(
        "maximum_from_0",
        "the maximum starts at 0, so where all logits are far below, every exp is 0; start at −∞",
        {FIRST: "self.M = torch.zeros(rows, dtype=torch.float64)"},
        {FIRST: "self.M = torch.zeros(rows, dtype=torch.float64)", EMPTY: "if (self.M == -torch.inf).any():"},
    ),
    Mistake(
        "no_maximum",
        "no maximum is subtracted, so exp overflows or is 0; subtract each row's own",
        {M: "M = torch.zeros(self.rows, dtype=x.dtype)"},
        {
            D: "d = x",
            CHUNK: "self.z = self.z + e.sum(1)\n        "
            "self.s = self.s + (e * torch.where(e > 0, d, 0)).sum(1)\n        self.M = torch.zeros_like(self.z)",
        },
    ),
    Mistake(
        "infinity_minus_infinity",
        "a row that has only −∞ so far becomes NaN, since −∞ − (−∞) is NaN; leave such rows out",
        {SHIFT: "d = its_M - largest"},
        {D: "d = x - M[:, None]"},
        {SHIFT: "d = its_M - largest", D: "d = x - M[:, None]"},
    ),
    Mistake(
        "zero_times_infinity",
        "a logit of −∞ makes the first moment NaN, since 0 · (−∞) is NaN; put 0 where exp is 0",
        {CHUNK: "self._add(M, e.sum(1), (e * d).sum(1))"},
    ),
    Mistake(
        "infinity_replaced",
        "−∞ becomes a large negative number, which counts as a finite logit; keep −∞, and refuse rows without another",
        {X: f"{X}.clamp(min=-1e4)"},
        {X: f"{X}.nan_to_num(neginf=-1e9)"},
        {X: f"{X}.clamp(min=torch.finfo(torch.float64).min)"},
    ),
    Mistake(
        "eps_in_the_logarithm",
        "an eps is added before the logarithm or to the divisor; Σ exp(x − M) is at least 1, so leave the eps out",
        {ENTROPY: "return (self.z + 1e-8).log() - self.s / self.z"},
        {ENTROPY: "return self.z.log() - self.s / (self.z + 1e-8)"},
        {ENTROPY: "return (self.z + 1e-8).log() - self.s / (self.z + 1e-8)"},
        {LOG_SUM: "return self.M + (self.z + 1e-8).log()", ENTROPY: "return (self.z + 1e-8).log() - self.s / self.z"},
    ),
    Mistake(
        "in_bits",
        "the entropy is in bits; return nats, from the natural logarithm",
        {ENTROPY: "return (self.z.log() - self.s / self.z) / 0.6931471805599453"},
        {ENTROPY: "return self.z.log2() - self.s / self.z"},
    ),
    Mistake(
        "not_divided_by_the_sum",
        "the first moment is not divided by Σ exp(x − M); divide, which gives the mean of x − M",
        {ENTROPY: "return self.z.log() - self.s"},
    ),
    Mistake(
        "logarithm_of_the_sum_missing",
        "−Σ p (x − M) lacks the logarithm of Σ exp(x − M); add it",
        {ENTROPY: "return -self.s / self.z"},
    ),
    Mistake(
        "mean_logit_added",
        "the mean logit is added to log Σ exp(x); subtract it",
        {ENTROPY: "return self.z.log() + self.s / self.z"},
    ),
    Mistake(
        "maximum_mixed_up",
        "the entropy has the maximum added, or log_sum_exp lacks it; x − M stands in both parts of the entropy",
        {ENTROPY: "return self.M + self.z.log() - self.s / self.z"},
        {LOG_SUM: "return self.z.log()"},
    ),
    Mistake(
        "entropies_averaged",
        "the entropies of the chunks are averaged by their weights; what is also needed is the entropy of the weights",
        {
            S: "H = torch.where(its_z > 0, its_z.log() - its_s / its_z, 0)\n"
            "            total_s = total_s - d.exp() * its_z * H",
            LAST: "self.M, self.z = largest, total_z\n"
            "        self.s = total_z * total_z.clamp(min=1e-300).log() + total_s",
        },
    ),
    Mistake(
        "in_float32",
        "the state or the sums are in float32; take them in float64, also of logits in float32",
        {X: "x = logits.detach().float().double()"},
        {X: "x = logits.detach()"},
        {X: "x = logits.detach().float()"},
        {STATE: STATE.replace("float64", "float32"), X: "x = logits.detach().float()"},
        {LAST: "self.M, self.z, self.s = (one.float().double() for one in (largest, total_z, total_s))"},
        {LOG_SUM: f"{LOG_SUM}.float()", ENTROPY: "return (self.z.log() - self.s / self.z).float()"},
        {LOG_SUM: f"{LOG_SUM}.float().double()", ENTROPY: "return (self.z.log() - self.s / self.z).float().double()"},
    ),
    Mistake(
        "empty_chunk_breaks",
        "a chunk without logits raises, since there is no maximum; it changes nothing",
        {"        if logits.shape[1] == 0:\n            return\n": ""},
    ),
    Mistake(
        "graph_kept",
        "the state belongs to the graph of the logits; detach them",
        {X: "x = logits.double()"},
    ),
    Mistake(
        "graph_kept_inside",
        "the results are detached, but the state keeps the graph of all updates; detach the logits",
        {
            X: "x = logits.double()",
            LOG_SUM: "return (self.M + self.z.log()).detach()",
            ENTROPY: "return (self.z.log() - self.s / self.z).detach()",
        },
        slow=True,
    ),
    Mistake(
        "logits_kept",
        "the logits of all updates are kept, so the state grows with the stream; keep a few numbers for each row",
        {X: f"{X}\n        self.seen = [*getattr(self, 'seen', ()), logits.detach()]"},
        {X: f"{X}\n        self.seen = [*getattr(self, 'seen', ()), x]"},
        slow=True,
    ),
    Mistake(
        "logit_by_logit",
        "a Python loop runs over the logits of a chunk; take all of them at once",
        {
            X: "if logits.shape[1] > 1:\n            for one in logits.split(1, 1):\n                self.update(one)\n"
            f"            return\n        {X}"
        },
        slow=True,
    ),
    Mistake(
        "merged_the_wrong_way",
        "merge changes other; it should add to the stream that it is called on, and leave other as it is",
        {MERGE: "other._add(self.M, self.z, self.s)"},
        {MERGE: f"other._add(self.M, self.z, self.s)\n        {SWAP}"},
        {MERGE: f"{MERGE}\n        other.M, other.z, other.s = self.M, self.z, self.s"},
    ),
    Mistake(
        "other_emptied",
        "merge empties the other one; leave it as it is",
        {MERGE: f"{MERGE}\n        if other is not self:\n            other.__init__(other.rows)"},
        {MERGE: f"{MERGE}\n        other.__init__(other.rows)"},
    ),
    Mistake(
        "sums_added_without_rescaling",
        "merge adds the sums of both, whose maxima differ; bring them to the larger maximum first",
        {
            MERGE: "self.M = torch.maximum(self.M, other.M)\n        self.z = self.z + other.z\n"
            "        self.s = self.s + other.s"
        },
    ),
    Mistake(
        "replaced_by_the_other",
        "merge replaces what this one has seen; add to it",
        {MERGE: SWAP},
    ),
    Mistake(
        "itself_left_out",
        "merging with itself changes nothing; it should count everything twice",
        {MERGE: f"if other is not self:\n            {MERGE}"},
    ),
    Mistake(
        "state_shared_after_a_merge",
        "a stream without logits takes the other one's tensors, and later writes into them; copy them",
        {
            MERGE: f"if not self.z.any():\n            {SWAP}\n            return\n        {MERGE}",
            LAST: "self.M.copy_(largest), self.z.copy_(total_z), self.s.copy_(total_s)",
        },
    ),
    Mistake(
        "state_of_the_class",
        "all streams share one state, of the class or of a default argument; make it in __init__",
        {
            STATE: STATE.replace("self.", "")
            .replace("        ", "            ")
            .replace("M = ", "if rows not in KEPT:\n            M = ", 1)
            + "\n            KEPT[rows] = (M, z, s)\n        self.M, self.z, self.s = KEPT[rows]",
            "class StreamingEntropy:": "KEPT = {}\n\n\nclass StreamingEntropy:",
            LAST: "self.M.copy_(largest), self.z.copy_(total_z), self.s.copy_(total_s)",
        },
    ),
    Mistake(
        "result_is_the_state",
        "what comes back is a tensor of the state itself, and the caller's changes reach it; return a new tensor",
        {
            LAST: f"{LAST}\n        self.known = largest + total_z.log()",
            LOG_SUM: "return self.known",
        },
        {
            LAST: f"{LAST}\n        self.known = total_z.log() - total_s / total_z",
            ENTROPY: "return self.known",
        },
        {
            LAST: f"{LAST}\n        self.known = largest + total_z.log(), total_z.log() - total_s / total_z",
            LOG_SUM: "return self.known[0]",
            ENTROPY: "return self.known[1]",
        },
    ),
    Mistake(
        "emptied_when_asked",
        "log_sum_exp or entropy begins anew after it has answered; asking changes nothing",
        {ENTROPY: "found = self.z.log() - self.s / self.z\n        self.__init__(self.rows)\n        return found"},
        {LOG_SUM: "found = self.M + self.z.log()\n        self.__init__(self.rows)\n        return found"},
    ),
    Mistake(
        "refused_only_if_all_are_empty",
        "an answer is refused only if no row has a finite logit; refuse it as long as any row has none",
        {EMPTY: "if (self.z == 0).all():"},
    ),
    Mistake(
        "rows_broadcast",
        "logits or another stream of one row are broadcast; refuse every other number of rows",
        {"if logits.shape[0] != self.rows:": "if logits.shape[0] not in (1, self.rows):"},
        {"if other.rows != self.rows:": "if 1 not in (other.rows, self.rows) and other.rows != self.rows:"},
    ),
    Mistake(
        "nan_left_out",
        "a logit of NaN is left out or becomes a number; refuse it",
        {
            '        if logits.isnan().any():\n            raise ValueError("logits should not be NaN")\n': "",
            X: f"{X}.nan_to_num(-torch.inf, neginf=-torch.inf)",
        },
        {
            '        if logits.isnan().any():\n            raise ValueError("logits should not be NaN")\n': "",
            X: f"{X}.nan_to_num(0.0, neginf=-torch.inf)",
        },
        {"if logits.isnan().any():": "if logits.isnan().all():"},
    ),
)

# Mutant of the reference, as `prove` prints it -> why it changes nothing that the contract speaks of.
NEXT = "\n"
PROMOTED = "0 and −∞ are the same in float32, and all sums are in float64"
EQUIVALENT = {
    f"{STATE.partition(NEXT)[0]} -> {STATE.partition(NEXT)[0].replace(', dtype=torch.float64', '')}": PROMOTED,
    **{
        f"self.{one} = torch.zeros(rows, dtype=torch.float64) -> self.{one} = torch.zeros(rows)": PROMOTED
        for one in "zs"
    },
    **{f"{CHUNK} -> {CHUNK.replace('d, 0', f'd, {other}')}": "it is multiplied by 0" for other in ("1", "-1")},
    **{
        f"{SHIFT} -> {SHIFT.replace('largest, 0', f'largest, {other}')}": "z and s are 0 there" for other in ("1", "-1")
    },
    "largest = torch.maximum(self.M, M) -> largest = torch.maximum(M, self.M)": "maximum is symmetric",
}
# What every seed asks alike -> why.
FIXED = {
    "length of order": "one merge, two and three: a chain, both ways, and with itself",
    "start": "the first update after which each row has a finite logit",
}
