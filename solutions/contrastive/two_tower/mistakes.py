"""Known wrong answers to two_tower."""

from graders.kata import Mistake

USERS = "F.normalize(self.user_tower(user), dim=1)"
ITEMS = "F.normalize(self.item_tower(item), dim=1)"
RAW = {USERS: "self.user_tower(user)", ITEMS: "self.item_tower(item)"}
PRODUCT = "users @ items.mT"
LOGITS = f"{PRODUCT} / self.temperature"
CORRECTED = "logits - log_q "
AGAIN = "(item_ids[:, None] == item_ids) & (own[:, None] != own)"
MASKED = "logits.masked_fill(again, -torch.inf)"
LOSS = "F.cross_entropy(logits, own)"
TABLE = f"{AGAIN}\n            logits = {MASKED}"
NORM = "torch.linalg.vector_norm({}, dim=1, keepdim=True)"


MISTAKES = (
    Mistake(
        "unshifted_in_half",
        {
            "return F.cross_entropy(logits, own)": (
                "if logits.element_size() == 2:\n"
                "            e = logits.float().exp()\n"
                "            return -(e.diagonal() / e.sum(1)).log().mean().to(logits.dtype)\n"
                "        return F.cross_entropy(logits, own)"
            ),
        },
    ),
    Mistake(
        "log_q_added",
        "log_q is added to the logits; subtract it, so that an item which is often a negative is pushed away less",
        {CORRECTED: "logits + log_q "},
    ),
    Mistake(
        "correction_without_effect",
        "log_q has no effect: it is not used, or it is subtracted from rows, where a softmax does not see it; subtract "
        "item j's log_q from column j",
        {CORRECTED: "logits - log_q[:, None] "},
    ),
    Mistake(
        "log_q_clamped",
        "log_q is kept within bounds; take it as it is, however rare or frequent the item",
        {CORRECTED: "logits - log_q.clamp(max=20) "},
    ),
    Mistake(
        "q_for_log_q", "exp is taken of log_q, so q is subtracted; subtract log_q", {CORRECTED: "logits - log_q.exp() "}
    ),
    Mistake(
        "activation_after_the_towers",
        "an activation such as ReLU follows the towers; leave it out, since each tower is only a linear layer",
        {old: f"(lambda x: x / {NORM.format('x')})({raw}.relu())" for old, raw in RAW.items()},
        {old: old.replace(", dim", ".tanh(), dim") for old in (USERS, ITEMS)},
        {old: f"F.normalize(F.gelu({raw}), dim=1)" for old, raw in RAW.items()},
        {old: old.replace(", dim", ".relu(), dim") for old in (USERS, ITEMS)},
    ),
    Mistake(
        "log_q_divided_by_temperature",
        "log_q is divided by τ as the cosines are; divide only the cosines, then subtract log_q as it is",
        {LOGITS: PRODUCT, LOSS: "F.cross_entropy(logits / self.temperature, own)"},
    ),
    Mistake(
        "positive_uncorrected",
        "the logit of the user's own item is left uncorrected; subtract log_q from the whole table, the diagonal "
        "included",
        {CORRECTED: "logits - log_q * (1 - torch.eye(B).to(log_q)) "},
    ),
    Mistake(
        "positives_corrected_alone",
        "log_q is subtracted only from the logit of the user's own item; subtract it from the whole table",
        {CORRECTED: "logits - log_q.diag() "},
    ),
    Mistake(
        "log_of_log_q",
        "the logarithm is taken of log_q, which is one; subtract it",
        {CORRECTED: "logits - log_q.log() "},
    ),
    Mistake(
        "duplicates_masked_on_one_side",
        "the same item is masked only in later rows, or only in earlier ones; mask it in both",
        {AGAIN: [f"({AGAIN}).triu()", f"({AGAIN}).tril()"]},
    ),
    Mistake(
        "mask_inverted",
        "the items that differ are masked, and the same item in another row is kept; masked_fill fills where its mask "
        "is True",
        {MASKED: "logits.masked_fill(~again, -torch.inf)"},
        {MASKED: "logits.masked_fill(~again & (own[:, None] != own), -torch.inf)"},
    ),
    Mistake(
        "duplicates_as_negatives",
        "the same item in another row counts as a negative; where two item_ids are equal and j is not i, set z_ij "
        "to −∞",
        {MASKED: "logits"},
    ),
    Mistake(
        "positive_masked_too",
        "the user's own item is masked as well, since every id equals itself; leave the diagonal out of the mask",
        {AGAIN: "item_ids[:, None] == item_ids"},
    ),
    Mistake(
        "duplicates_at_a_finite_number",
        "duplicates are given a finite number: 0 is an ordinary logit, at small temperatures logits reach −1e4, and "
        "float16 does not hold −9e15; use −∞",
        {MASKED: "logits.masked_fill(again, 0.0)"},
        {MASKED: [f"logits.masked_fill(again, {number})" for number in ("-1e4", "-9e15")]},
    ),
    Mistake(
        "duplicates_as_positives",
        "the same item in another row counts as one more positive; mask it, so that it counts as nothing",
        {TABLE: "(item_ids[:, None] == item_ids).to(logits)\n            own = again / again.sum(1, keepdim=True)"},
    ),
    Mistake(
        "ids_as_floats",
        "ids are compared as floats or in fewer bits, so large ids that differ may become equal; compare the integers",
        *(
            {AGAIN: AGAIN.replace("item_ids[:, None] == item_ids", f"item_ids.{to}[:, None] == item_ids.{to}")}
            for to in ("to(user.dtype)", "int()")
        ),
        {AGAIN: AGAIN.replace("item_ids[:, None] == item_ids", "item_ids.float()[:, None] == item_ids.float()")},
        {AGAIN: AGAIN.replace("item_ids[:, None] == item_ids", "item_ids.double()[:, None] == item_ids.double()")},
    ),
    Mistake("not_divided_by_temperature", "the cosines are used as logits; divide them by τ", {LOGITS: PRODUCT}),
    Mistake(
        "temperature_misused",
        "the cosines are multiplied by τ, or divided by it twice; divide them once",
        {LOGITS: [f"{PRODUCT} * self.temperature", f"{LOGITS} / self.temperature"]},
    ),
    Mistake(
        "not_normalised",
        "not every embedding is divided by its own Euclidean norm, so the logits are no cosines; normalise each row of "
        "both towers",
        RAW,
        {USERS: RAW[USERS]},
        {ITEMS: RAW[ITEMS]},
        *(
            {old: f"(lambda x: x / {norm})({raw})" for old, raw in RAW.items()}
            for norm in (
                "x.norm(dim=0)",
                "x.norm()",
                "x.norm(p=1, dim=1, keepdim=True)",
                "x.square().sum(1, keepdim=True)",
            )
        ),
        {USERS: f"{USERS} / {NORM.format(RAW[USERS])}"},
        {ITEMS: f"{ITEMS} / {NORM.format(RAW[ITEMS])}"},
    ),
    Mistake(
        "inputs_normalised",
        "the features of users and items are normalised before the towers; normalise only what the towers return",
        {USERS: USERS.replace("(user)", "(F.normalize(user))"), ITEMS: ITEMS.replace("(item)", "(F.normalize(item))")},
        {
            old: raw.replace("(user)", "(F.normalize(user))").replace("(item)", "(F.normalize(item))")
            for old, raw in RAW.items()
        },
    ),
    Mistake(
        "eps_added_to_the_norm",
        *(
            {old: f"(lambda x: x / ({NORM.format('x')} + {eps}))({raw})" for old, raw in RAW.items()}
            for eps in ("1e-8", "1e-6")
        ),
    ),
    Mistake(
        "users_with_themselves",
        "the users are compared with themselves, so each user's positive is the user itself; compare users with items",
        {PRODUCT: "users @ users.mT"},
    ),
    Mistake(
        "both_directions",
        "items choose among users, alone or as a second direction (as in CLIP); only users should choose, so take "
        "cross-entropy only along the rows",
        {LOSS: "F.cross_entropy(logits.mT, own)"},
        {LOSS: f"({LOSS} + F.cross_entropy(logits.mT, own)) / 2"},
    ),
    Mistake("sum_for_mean", "the users' losses are summed; take their mean", {LOSS: f"B * {LOSS}"}),
    Mistake(
        "log_of_a_softmax",
        "exponentials overflow, or a share becomes 0 before its logarithm is taken; use cross-entropy, log_softmax or "
        "logsumexp on the logits",
        {LOSS: "-logits.softmax(1).diagonal().log().mean()"},
        {LOSS: "-(logits.exp().diagonal() / logits.exp().sum(1)).log().mean()"},
    ),
    Mistake(
        "items_detached",
        "the item embeddings are detached, so the item tower does not learn; keep their graph",
        {PRODUCT: "users @ items.mT.detach()"},
    ),
    Mistake(
        "temperature_in_float32",
        "the temperature is kept in a float32 tensor, so a float64 loss is no more accurate than a float32 one; keep a "
        "plain number",
        {"= temperature\n": "= torch.tensor(float(temperature))\n"},
    ),
    Mistake(
        "towers_without_bias",
        "a tower has no bias; make both nn.Linear with a bias, which is the default",
        {
            f"nn.Linear({one}_dim, hidden_dim)": f"nn.Linear({one}_dim, hidden_dim, bias=False)"
            for one in ("user", "item")
        },
    ),
    Mistake(
        "temperature_is_a_parameter",
        "the temperature is a parameter, frozen or not; only the towers hold parameters, so keep a number",
        {"= temperature\n": "= nn.Parameter(torch.tensor(temperature, dtype=torch.float64), requires_grad=False)\n"},
    ),
    Mistake(
        "overflows_float16",
        "raw embeddings are multiplied in float16, and overflow although the norms fit; divide each by its norm first",
        {**RAW, PRODUCT: f"{PRODUCT} / {NORM.format('users')} / {NORM.format('items')}.mT"},
    ),
    Mistake(
        "user_by_user_or_feature_by_feature",
        "the users go through a Python loop, or all products of features are kept, (B, B, hidden_dim) of them; use @",
        {PRODUCT: ["torch.stack([items @ one for one in users])", "(users[:, None] * items).sum(-1)"]},
        slow=True,
    ),
)

# Mutant of the reference -> why it changes nothing that the contract speaks of.
EQUIVALENT: dict[str, str] = {
    f"{name} = {old} -> {name} = {old.replace(', dim=1', '')}": "1 is the default of dim in F.normalize"
    for name, old in (("users", USERS), ("items", ITEMS))
} | {
    "own = torch.arange(B, device=user.device) -> own = torch.arange(B)": "it is on the CPU anyway; on a GPU it raises"
}
