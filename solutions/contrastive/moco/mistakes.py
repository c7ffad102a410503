"""Known wrong answers to moco."""

from graders.kata import Mistake

UNIT = "(F.normalize(rows, dim=1) for rows in (query, key.detach(), queue.detach()))"
NORM = "torch.linalg.vector_norm(rows, dim=1, keepdim=True)"
LOGITS = "torch.cat([positives, negatives], dim=1) / temperature"
IN_BATCH = {"q.new_zeros(…": "torch.arange(len(q), device=q.device)"}
LOSS = "return F.cross_entropy(logits, labels)"
STEP = "k.mul_(m).add_(q, alpha=1 - m)"
NO_GRAD = "with torch.no_grad():"
KEPT = "keys[-size:].detach()"
FIRST = "first = self.count + len(keys) - len(kept)"
MODULO = "torch.arange(first, first + len(kept)) % size"
WRITE = "self.queue[rows] = kept"
COUNT = "self.count += len(keys)"
WITHIN = "torch.arange(first % size, first % size + len(kept))"
UP_TO_THE_END = "self.queue[rows[rows < size]] = kept[rows < size]"
SKIPPED = {FIRST: "first = self.count", COUNT: "self.count += len(kept)"}  # keys that do not remain are not counted


def normalised(*names: str) -> dict[str, str]:
    """Only these of the three."""
    rows = {"query": "query", "key": "key.detach()", "queue": "queue.detach()"}
    return {UNIT: ", ".join(f"F.normalize({x}, dim=1)" if name in names else x for name, x in rows.items())}


MISTAKES = (
    Mistake(
        "unshifted_in_half",
        {
            "labels = q.new_zeros(": (
                "if q.element_size() == 2:\n"
                "        e = logits.float().exp()\n"
                "        return -(e[:, 0] / e.sum(1)).log().mean().to(q.dtype)\n"
                "    labels = q.new_zeros("
            ),
        },
    ),
    Mistake(
        "gradient_into_key_or_queue",
        "key or queue receives a gradient; this loss trains only the query's encoder, so detach both",
        {"key.detach()": "key"},
        {"queue.detach()": "queue"},
        {"key.detach()": "key", "queue.detach()": "queue"},
    ),
    Mistake(
        "requires_grad_switched_off",
        "requires_grad of the caller's key, queue or keys is switched off; detach makes another tensor instead",
        {UNIT: "F.normalize(query, dim=1), *(F.normalize(rows.requires_grad_(False), dim=1) for rows in (key, queue))"},
        {KEPT: ["keys.detach_()[-size:]", "keys.requires_grad_(False)[-size:]"]},
    ),
    Mistake(
        "not_normalised",
        "query, key or queue is taken for unit vectors; divide each row of all three by its norm",
        normalised("query", "key"),
        normalised("query", "queue"),
        normalised("key", "queue"),
        normalised("query"),
        normalised(),
    ),
    Mistake("norms_detached", {UNIT: UNIT.replace("F.normalize(rows, dim=1)", f"rows / {NORM}.detach()")}),
    Mistake(
        "positive_left_out",
        "the positive is left out of the denominator; sum over all 1 + K candidates, the positive included",
        {LOSS: "return (logits[:, 1:].logsumexp(1) - logits[:, 0]).mean()"},
    ),
    Mistake(
        "batch_as_negatives",
        "the keys of other queries are negatives, as in InfoNCE; here the negatives are only the rows of queue",
        {LOGITS: LOGITS.replace("positives", "q @ k.mT")} | IN_BATCH,
        {LOGITS: "q @ k.mT / temperature"} | IN_BATCH,
    ),
    Mistake(
        "labels_of_the_batch",
        "the label of query i is i, as in InfoNCE; here every positive is in column 0 of the logits, so all labels "
        "should be 0",
        IN_BATCH,
    ),
    Mistake(
        "temperature_not_everywhere",
        "some cosines are not divided by the temperature, are divided twice, or are multiplied by it; divide every "
        "logit, once",
        {LOGITS: LOGITS.replace("negatives]", "negatives / temperature]").removesuffix(" / temperature")},
        {LOGITS: LOGITS.replace("positives", "positives / temperature").removesuffix(" / temperature")},
        {LOGITS: [LOGITS.removesuffix(" / temperature"), LOGITS.replace("/", "*")]},
        {UNIT: UNIT + "\n    q = q / temperature"},
    ),
    Mistake(
        "scaled_by_the_temperature",
        "the loss is multiplied by 2τ, as MoCo v3 does, or by τ; return the mean cross-entropy as it is",
        {LOSS: [f"{LOSS} * (2 * temperature)", f"{LOSS} * temperature"]},
    ),
    Mistake(
        "log_of_a_softmax",
        "a softmax or a sum of exponentials comes before the log, and rounds to 0 or overflows; take the log-sum-exp",
        {LOSS: "return -logits.softmax(1)[:, 0].log().mean()"},
        {LOSS: "return -(logits.exp()[:, 0] / logits.exp().sum(1)).log().mean()"},
    ),
    Mistake(
        "every_pair_with_its_features",
        "query is broadcast against queue, which takes D numbers for each of the N × K pairs; multiply the matrices",
        {"q @ n.…": "(q[:, None] * n).sum(-1)"},
        slow=True,
    ),
    Mistake(
        "positives_from_all_pairs",
        "N × N cosines are taken and all but the diagonal is thrown away; multiply query and key row by row, then sum",
        {"(q * k).…": "(q @ k.mT).diagonal()[:, None]"},
        slow=True,
    ),
    Mistake(
        "loop_over_the_queue",
        "a Python loop takes one row of the queue at a time, or one query; one matrix product takes all",
        {"q @ n.…": "torch.stack([q @ row for row in n], 1)"},
        {LOSS: "return sum(-row.log_softmax(0)[0] for row in logits) / len(logits)"},
        slow=True,
    ),
    Mistake(
        "eps_beside_the_product_of_norms",
        "norms are clamped at an eps such as 1e-6, or products of two norms at 1e-8, which is too large for short "
        "rows; use F.normalize with its default eps",
        {
            UNIT: "query, key.detach(), queue.detach()",
            LOGITS: "torch.cat([positives / (q.norm(dim=1) * k.norm(dim=1)).clamp_min(1e-8)[:, None], "
            "negatives / (q.norm(dim=1)[:, None] * n.norm(dim=1)).clamp_min(1e-8)], dim=1) / temperature",
        },
        {UNIT: UNIT.replace("dim=1", "dim=1, eps=1e-6")},
    ),
    Mistake(
        "row_written_twice",
        "with more keys than rows, one write names a row twice, and which key remains is undefined; take the last "
        "`size` keys",
        {KEPT: "keys.detach()"},
    ),
    Mistake(
        "keys_stored_one_by_one",
        "a Python loop writes one key at a time; find the rows of all keys, then write them at once",
        {"self.queue[rows] = kept": "for row, key in zip(rows.tolist(), kept):\n            self.queue[row] = key"},
        slow=True,
    ),
    Mistake(
        "momentum_the_wrong_way_round",
        "the old key has the weight 1 − m, and the query the weight m; the new key should be m·k + (1 − m)·q",
        {STEP: "k.mul_(1 - m).add_(q, alpha=m)"},
    ),
    Mistake(
        "momentum_in_half_precision",
        "1 − m is computed in the dtype of the parameters, and bfloat16 rounds 0.999 to 1, so nothing moves; compute "
        "1 − m with Python numbers",
        {STEP: "keep = torch.full_like(k, m)\n            k.copy_(keep * k + (1 - keep) * q)"},
    ),
    Mistake(
        "query_parameters_changed",
        "the query's parameters are changed; only the key's parameters should change",
        {STEP: ["q.mul_(m).add_(k, alpha=1 - m)", "k.mul_(m).add_(q.mul_(1 - m))", STEP + "\n            q.copy_(k)"]},
    ),
    Mistake(
        "parameters_in_new_memory",
        "the result lies in other memory (k = …, k.data = … or set_); write it into the memory that the parameter has",
        {STEP: "k = m * k + (1 - m) * q"},
        {STEP: ["k.data = m * k.data + (1 - m) * q.data", f"k.set_(q.detach()) if m == 0 else {STEP}"]},
    ),
    Mistake(
        "update_is_recorded",
        "autograd records the update, or requires_grad is switched off; update under torch.no_grad(), and leave "
        "requires_grad as it was",
        {NO_GRAD: "if True:"},
        {STEP: "k.requires_grad_(False).mul_(m).add_(q, alpha=1 - m)"},
    ),
    Mistake(
        "gradients_left_off",
        "gradients are switched off by hand, and stay off after a ValueError; torch.no_grad() as a "
        "with-block switches them on again",
        {
            NO_GRAD: "before = torch.is_grad_enabled()\n    torch.set_grad_enabled(False)\n    if True:",
            STEP: f"{STEP}\n    torch.set_grad_enabled(before)",
        },
    ),
    Mistake(
        "gradients_left_on",
        "gradients are switched on at the end, even if they were off before; torch.no_grad() as a with-block leaves "
        "them as they were",
        {
            NO_GRAD: "key_params, query_params = list(key_params), list(query_params)\n"
            "    assert len(key_params) == len(query_params)\n    torch.set_grad_enabled(False)\n    if True:",
            STEP: f"{STEP}\n    torch.set_grad_enabled(True)",
        },
    ),
    Mistake(
        "shorter_list_decides",
        "parameters beyond the end of the shorter list are ignored; different numbers of them should raise ValueError",
        {"zip(key_params, query_params, strict=True)": "zip(key_params, query_params)"},
    ),
    Mistake(
        "generators_read_twice",
        "a generator is empty when it is read again, and has no length; make a list of it first, or use only "
        "zip(strict=True)",
        {NO_GRAD: f"assert len(list(key_params)) == len(list(query_params))\n    {NO_GRAD}"},
        {NO_GRAD: f"assert len(key_params) == len(query_params)\n    {NO_GRAD}"},
    ),
    Mistake(
        "no_way_round_the_end",
        "keys that do not fit before the queue's end are lost, raise an error, or move the whole batch to row 0; write "
        "the rest from row 0 on",
        {MODULO: WITHIN, WRITE: UP_TO_THE_END},
        {MODULO: MODULO.removesuffix(" % size")},
        {FIRST: FIRST + "\n        if first % size + len(kept) > size:\n            first = self.count = 0"},
        {MODULO: WITHIN, WRITE: UP_TO_THE_END, COUNT: "self.count = min(int(rows[-1]) + 1, size) % size"},
    ),
    Mistake(
        "oldest_of_an_oversized_batch",
        "of a batch larger than the queue, the first keys remain; the last `size` keys should remain",
        {KEPT: "keys[:size].detach()"},
        {KEPT: "keys[:size].detach()", FIRST: "first = self.count"},
        {KEPT: "keys[:size].detach()"} | SKIPPED,
    ),
    Mistake(
        "rows_after_an_oversized_batch",
        "a batch larger than the queue, or the batch after it, ends up in the wrong rows; count the skipped keys as "
        "well",
        {FIRST: "first = self.count"},
        SKIPPED,
        {COUNT: ["self.count += len(kept)", f"{COUNT} if len(keys) <= size else -self.count"]},
    ),
    Mistake(
        "moved_along",
        "the rows move up so that the newest key is last (or first); a key stays in its row until it is overwritten",
        {WRITE: "self.queue = torch.cat([self.queue, kept])[-size:]"},
        {WRITE: "self.queue = torch.cat([kept, self.queue])[:size]"},
    ),
    Mistake(
        "keys_normalised",
        "enqueue divides the keys by their norms; store them as they are given, since moco_loss normalises them",
        {KEPT: f"F.normalize({KEPT}, dim=1)"},
    ),
    Mistake(
        "queue_drags_a_graph_along",
        "the keys are stored with their graph, which keeps every past batch alive; detach them",
        {KEPT: "keys[-size:]"},
    ),
)
EQUIVALENT = {
    "q, k, n = (F.normalize(rows, dim=1) for rows in (query, key.detach(), queue.detach())) -> "
    "q, k, n = (F.normalize(rows) for rows in (query, key.detach(), queue.detach()))": "1 is the default of dim",
}
# Sizes and numbers that are equal at every seed, and why.
FIXED = {
    "axis 1 of [kq]": "four columns, or six",
}
