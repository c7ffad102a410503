"""Known wrong answers to moco."""

from graders.kata import Mistake

QUERY = "F.normalize(query, dim=1)"
KEY = "F.normalize(key.detach(), dim=1)"
QUEUE = "F.normalize(queue.detach(), dim=1)"
POSITIVES = "(q * k).sum(1, keepdim=True)"
NEGATIVES = "q @ n.mT"
LOGITS = "torch.cat([positives, negatives], dim=1) / temperature"
LABELS = "torch.zeros(len(q), dtype=torch.int64, device=q.device)"
LOSS = "return F.cross_entropy(logits, labels)"
STEP = "k.mul_(m).add_(q, alpha=1 - m)"
LISTS = "keys, queries = list(key_params), list(query_params)"
LENGTHS = "if len(keys) != len(queries):"
TOLD = "as many as the {len(queries)} query_params, got {len(keys)}"
PAIRS = "zip(keys, queries, strict=True)"
NO_GRAD = "with torch.no_grad():"
EMPTY = "self.queue = torch.zeros(size, dim)\n        self.count = 0"
KEPT = "keys[-size:].detach()"
FIRST = "first = self.count + len(keys) - len(kept)"
ROWS = "torch.arange(first, first + len(kept), device=self.queue.device) % size"
WRITE = "self.queue[rows] = kept"
COUNT = "self.count += len(keys)"

MISTAKES = (
    Mistake(
        "gradient_into_key",
        "key receives a gradient; its encoder follows by momentum, so detach key",
        {KEY: KEY.replace(".detach()", "")},
    ),
    Mistake(
        "gradient_into_queue",
        "queue receives a gradient; its rows are of past batches, so detach it",
        {QUEUE: QUEUE.replace(".detach()", "")},
    ),
    Mistake(
        "not_normalised",
        "query, key or queue is taken for unit vectors; divide each row of all three by its norm",
        {QUEUE: "queue.detach()"},
        also=(
            {KEY: "key.detach()"},
            {QUERY: "query"},
            {KEY: "key.detach()", QUEUE: "queue.detach()"},
        ),
    ),
    Mistake(
        "positive_left_out",
        "the positive is left out of the denominator; it is one of the 1 + K candidates",
        {LOSS: "return (logits[:, 1:].logsumexp(1) - logits[:, 0]).mean()"},
    ),
    Mistake(
        "batch_as_negatives",
        "the keys of other queries are negatives, as in InfoNCE; here the negatives are the rows of queue alone",
        {LOGITS: LOGITS.replace("positives", "q @ k.mT"), LABELS: "torch.arange(len(q), device=q.device)"},
        also=({LOGITS: "q @ k.mT / temperature", LABELS: "torch.arange(len(q), device=q.device)"},),
    ),
    Mistake(
        "only_some_divided",
        "the positive or the negatives are not divided by the temperature; divide every logit",
        {LOGITS: "torch.cat([positives, negatives / temperature], dim=1)"},
        also=({LOGITS: "torch.cat([positives / temperature, negatives], dim=1)"},),
    ),
    Mistake(
        "not_divided_by_the_temperature",
        "the cosines are multiplied by the temperature, or left as they are; divide them by it",
        {LOGITS: LOGITS.replace("/", "*")},
        also=({LOGITS: LOGITS.removesuffix(" / temperature")},),
    ),
    Mistake(
        "loss_times_temperature",
        "the loss is multiplied by the temperature, or by twice that as in MoCo v3; return the mean cross-entropy",
        {LOSS: LOSS + " * temperature"},
        also=({LOSS: LOSS + " * 2 * temperature"},),
    ),
    Mistake(
        "log_of_a_softmax",
        "the softmax rounds to 0 before the log where the positive is far behind; take the log-sum-exp of the logits",
        {LOSS: "return -logits.softmax(1)[:, 0].log().mean()"},
        also=({LOSS: "return -(logits.exp()[:, 0] / logits.exp().sum(1)).log().mean()"},),
    ),
    Mistake(
        "every_pair_with_its_features",
        "query is broadcast against queue, which takes D numbers for each of the N × K pairs; multiply the matrices",
        {NEGATIVES: "(q[:, None] * n).sum(-1)"},
        slow=True,
    ),
    Mistake(
        "positives_from_all_pairs",
        "N × N cosines are taken and all but the diagonal is thrown away; multiply query and key row by row, then sum",
        {POSITIVES: "(q @ k.mT).diagonal()[:, None]"},
        slow=True,
    ),
    Mistake(
        "loop_over_the_queue",
        "a Python loop takes one row of the queue at a time, or one query; one matrix product takes all",
        {NEGATIVES: "torch.stack([q @ row for row in n], 1)"},
        also=({LOSS: "return sum(-row.log_softmax(0)[0] for row in logits) / len(logits)"},),
        slow=True,
    ),
    Mistake(
        "keys_stored_one_by_one",
        "a Python loop writes one key at a time; write all that remain at once",
        {WRITE: "for row, key in zip(rows.tolist(), kept):\n            self.queue[row] = key"},
        slow=True,
    ),
    Mistake(
        "momentum_the_wrong_way_round",
        "the old key parameter counts 1 − m and that of the query m; it should be m·k + (1 − m)·q",
        {STEP: "k.mul_(1 - m).add_(q, alpha=m)"},
    ),
    Mistake(
        "query_parameters_changed",
        "the query's parameters are changed; only the key's should be",
        {STEP: "q.mul_(m).add_(k, alpha=1 - m)"},
        also=({STEP: "k.mul_(m).add_(q.mul_(1 - m))"}, {STEP: STEP + "\n            q.copy_(k)"}),
    ),
    Mistake(
        "parameters_in_new_memory",
        "the result lies in a new tensor (k = … or k.data = …); write it into the memory that the parameter has",
        {STEP: "k = m * k + (1 - m) * q"},
        also=({STEP: "k.data = m * k.data + (1 - m) * q.data"},),
    ),
    Mistake(
        "update_is_recorded",
        "autograd records the update; the parameters should stay leaves, and require gradients as before",
        {NO_GRAD: "if True:"},
        also=({STEP: "k.requires_grad_(False).mul_(m).add_(q, alpha=1 - m)"},),
    ),
    Mistake(
        "shorter_list_decides",
        "parameters beyond the end of the shorter list are ignored; different numbers of them should raise ValueError",
        {LENGTHS: "if False:", PAIRS: "zip(keys, queries)"},
    ),
    Mistake(
        "generators_read_twice",
        "a generator is empty when it is read again, and has no length; make a list of it first",
        {
            LISTS: "",
            LENGTHS: "if len(list(key_params)) != len(list(query_params)):",
            TOLD: "many as query_params",
            PAIRS: "zip(key_params, query_params)",
        },
        also=({LISTS: "keys, queries = key_params, query_params"},),
    ),
    Mistake(
        "no_way_round_the_end",
        "keys that come after the last row are lost, fail, or make the batch begin at row 0; they go on from row 0",
        {
            ROWS: ROWS.removesuffix(" % size") + "\n        rows = rows - first // size * size",
            WRITE: "self.queue[rows[rows < size]] = kept[rows < size]",
        },
        also=(
            {ROWS: ROWS.removesuffix(" % size")},
            {FIRST: FIRST + "\n        if first % size + len(kept) > size:\n            first = self.count = 0"},
        ),
    ),
    Mistake(
        "oldest_of_an_oversized_batch",
        "of a batch larger than the queue the first keys remain; the last `size` should",
        {KEPT: "keys[:size].detach()"},
        also=({KEPT: "keys[:size].detach()", FIRST: "first = self.count"},),
    ),
    Mistake(
        "rows_after_an_oversized_batch",
        "a batch larger than the queue ends up in other rows, or the next one does; keys that were skipped count, too",
        {FIRST: "first = self.count"},
        also=(
            {COUNT: "self.count += len(kept)"},
            {COUNT: "self.count = 0 if len(keys) > size else self.count + len(keys)"},
        ),
    ),
    Mistake(
        "moved_along",
        "the rows move up so that the newest key is last (or first); a key stays in its row until it is overwritten",
        {WRITE: "self.queue = torch.cat([self.queue, kept])[-size:]"},
        also=({WRITE: "self.queue = torch.cat([kept, self.queue])[:size]"},),
    ),
    Mistake(
        "keys_not_copied",
        "the queue is the caller's tensor itself, and changes with it; copy the keys",
        {WRITE: WRITE + "\n        if len(keys) == size and not rows[0]:\n            self.queue = kept"},
    ),
    Mistake(
        "queue_drags_a_graph_along",
        "the keys are stored with their graph, which keeps every past batch alive; detach them",
        {KEPT: "keys[-size:]"},
    ),
    Mistake(
        "stored_normalised",
        "the keys are normalised when they are stored; store them as given",
        {KEPT: "F.normalize(keys[-size:].detach(), dim=1)"},
    ),
    Mistake(
        "one_queue_for_all",
        "the rows or their count belong to the class, so that two queues share them; keep them in self",
        {EMPTY: EMPTY.replace("self", "FeatureQueue"), COUNT: COUNT.replace("self", "FeatureQueue")},
        also=(
            {EMPTY: EMPTY.replace("self.count", "FeatureQueue.count"), COUNT: COUNT.replace("self", "FeatureQueue")},
        ),
    ),
)

EQUIVALENT: dict[str, str] = {}
