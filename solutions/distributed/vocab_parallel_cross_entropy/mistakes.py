"""Known wrong answers to vocab_parallel_cross_entropy."""

from graders.kata import Mistake

PADDED = "F.pad(logits, (0, 1), value=-torch.inf).amax(1)"
LARGEST = f'largest = comm.all_reduce({PADDED}, op="max")'
SHIFTED = "shifted = logits - largest[:, None]"
SUMS = "sums = torch.stack([exps.sum(1), torch.where(hit, shifted, 0).sum(1)])"
TARGET = "torch.where(hit, shifted, 0).sum(1)"
REDUCED = "total, target = comm.all_reduce(sums)"
SAVED = "ctx.save_for_backward(exps / total[:, None], hit)"
LOSS = "loss: Tensor = total.log() - target"
BACK = "return (softmax - hit.to(softmax.dtype)) * grad[:, None], None, None, None"
OWN = "columns = torch.arange(vocab_size, device=logits.device).tensor_split(comm.world_size)[comm.rank]"
APPLIED = "loss: Tensor = ParallelCrossEntropy.apply(logits, columns, labels, comm)"
KEPT = "hit = labels[:, None] == columns  # (N, V_r)"
AS_MANY = "torch.arange(logits.shape[1], device=logits.device) + "
PLACE = "place = labels - (int(columns[0]) if len(columns) else 0)"
CLAMPED = f"{PLACE}\n        place = place.clamp(0, max(len(columns) - 1, 0))"
REPLACED = f"{PLACE}\n        place = torch.where(hit.any(1), place, 0)"
# The label's logit without the maximum, which is added at the end: then what is left out is another number.
UNSHIFTED = {TARGET: "torch.where(hit, logits, 0).sum(1)", LOSS: "loss: Tensor = total.log() + largest - target"}
MORE_ONE_HOT = {
    KEPT: f"ctx.world = comm.world_size\n        {KEPT}",
    BACK: "return (softmax - hit.to(softmax.dtype) * ctx.world) * grad[:, None], None, None, None",
}


def begins_at(first: str) -> tuple[dict[str, str], ...]:
    """This rank's columns, from a wrong one on."""
    edits = {OWN: f"columns = {AS_MANY}{first}"}
    return edits, edits | UNSHIFTED


MISTAKES = (
    Mistake(
        "local_maximum",
        "each rank subtracts the largest of its own logits, so the ranks' sums do not fit together; all_reduce the "
        "maximum",
        {LARGEST: f"largest = {PADDED}"},
        UNSHIFTED | {LARGEST: f"largest = {PADDED}"},
        {
            LARGEST: f"largest = {PADDED}",
            SUMS: "sums = torch.stack([exps.sum(1), torch.where(hit, logits, 0).sum(1)])",
            LOSS: 'loss: Tensor = total.log() + comm.all_reduce(largest, op="max") - target',
        },
    ),
    Mistake(
        "maximum_summed",
        'the ranks\' maxima are added up, so all exponentials can underflow; all_reduce with op="max"',
        {LARGEST: f"largest = comm.all_reduce({PADDED}.nan_to_num(neginf=0.0))"},
        UNSHIFTED | {LARGEST: f"largest = comm.all_reduce({PADDED})"},
        {LARGEST: f"largest = comm.all_reduce({PADDED})"},
    ),
    Mistake(
        "no_maximum",
        "no maximum is subtracted, and the exponentials overflow; subtract the row's largest logit on any rank",
        {SHIFTED: "shifted = logits"},
    ),
    Mistake(
        "sum_not_reduced",
        "the sum of the exponentials has this rank's columns only; all_reduce it",
        {REDUCED: "total, target = sums[0], comm.all_reduce(sums[1])"},
        {REDUCED: "total, target = sums[0], comm.all_reduce(sums[1])"} | UNSHIFTED,
    ),
    Mistake(
        "target_not_reduced",
        "only the rank that has the label's column knows its logit, and others take 0; all_reduce it",
        {REDUCED: "total, target = comm.all_reduce(sums[0]), sums[1]"},
        {REDUCED: "total, target = comm.all_reduce(sums[0]), sums[1]"} | UNSHIFTED,
    ),
    Mistake(
        "not_waited_for",
        "the all_reduce is begun and its result not waited for; call wait(), or leave async_op out",
        {REDUCED: "comm.all_reduce(sums, async_op=True)\n        total, target = sums"},
        {REDUCED: "comm.all_reduce(sums, async_op=True)\n        total, target = sums"} | UNSHIFTED,
    ),
    Mistake(
        "sum_by_maximum",
        'the sums of the exponentials are reduced with op="max"; add them up',
        {REDUCED: 'total, target = comm.all_reduce(sums[0], op="max"), comm.all_reduce(sums[1])'},
    ),
    Mistake(
        "others_add_a_logit",
        "a rank that does not have the label's column adds a logit of its own; it should add 0",
        *(
            {SUMS: f"{place}\n        sums = torch.stack([exps.sum(1), {taken}])"} | loss
            for place in (CLAMPED, REPLACED)
            for taken, loss in (
                ("F.pad(shifted, (0, 1)).gather(1, place[:, None])[:, 0]", {}),
                (
                    "F.pad(logits, (0, 1)).gather(1, place[:, None])[:, 0]",
                    {LOSS: "loss: Tensor = total.log() + largest - target"},
                ),
            )
        ),
    ),
    Mistake(
        "target_counted_w_times",
        "the label's logit counts W times: one rank gives it, and the sum is right as it is",
        {LOSS: "loss: Tensor = total.log() - target * comm.world_size"},
        UNSHIFTED | {LOSS: "loss: Tensor = total.log() + largest - target * comm.world_size"},
        MORE_ONE_HOT | {LOSS: "loss: Tensor = total.log() - target * comm.world_size"},
        UNSHIFTED | MORE_ONE_HOT | {LOSS: "loss: Tensor = total.log() + largest - target * comm.world_size"},
    ),
    Mistake(
        "offset_without_the_rest",
        "the rank's first column is taken to be r · (V // W), but the first V % W ranks have a column more",
        *begins_at("comm.rank * (vocab_size // comm.world_size)"),
    ),
    Mistake(
        "offset_by_own_width",
        "the rank's first column is taken to be r times its own number of columns, but ranks before it may have more",
        *begins_at("comm.rank * logits.shape[1]"),
    ),
    Mistake(
        "offset_rounded_up",
        "shards are taken to have V / W columns, rounded up, as `chunk` cuts them; tensor_split gives the rest to the "
        "first ranks",
        *begins_at("comm.rank * -(-vocab_size // comm.world_size)"),
        *begins_at("sum(map(len, torch.arange(vocab_size).chunk(comm.world_size)[: comm.rank]))"),
    ),
    Mistake(
        "no_offset",
        "labels are taken for places among the rank's own columns; subtract the rank's first column",
        *begins_at("0"),
    ),
    Mistake(
        "reduced_again_in_backward",
        "the gradient of the loss is summed over ranks, but every rank has all of it, so it counts W times; leave comm "
        "out of backward",
        {
            KEPT: f"ctx.comm = comm\n        {KEPT}",
            BACK: f"grad = ctx.comm.all_reduce(grad)\n        {BACK}",
        },
    ),
    Mistake(
        "gradient_averaged",
        "the gradient is divided by W; each rank has all of its own columns' gradient",
        {KEPT: f"ctx.world = comm.world_size\n        {KEPT}", BACK: f"grad = grad / ctx.world\n        {BACK}"},
    ),
    Mistake(
        "no_gradient",
        "all_reduce gives a tensor without a graph, so no gradient reaches the logits; write an autograd Function",
        {APPLIED: f"{APPLIED}.detach()"},
    ),
    Mistake(
        "no_gradient_through_the_sum",
        "no gradient comes through the sum of the exponentials, so the softmax is missing in it; all_reduce gives a "
        "tensor without a graph",
        {BACK: "return -hit.to(softmax.dtype) * grad[:, None], None, None, None"},
    ),
    Mistake(
        "no_gradient_through_the_target",
        "no gradient comes through the label's logit, so the one-hot is missing in it; all_reduce gives a tensor "
        "without a graph",
        {BACK: "return softmax * grad[:, None], None, None, None"},
    ),
    Mistake(
        "softmax_of_own_columns",
        "the gradient has the softmax over the rank's own columns; divide by the sum over all ranks",
        {SAVED: "ctx.save_for_backward(logits.softmax(1), hit)"},
    ),
    Mistake(
        "one_hot_on_every_rank",
        "a rank without the label's column also subtracts 1, in its first or another column; only the owner should",
        *(
            {
                SAVED: f"{place}\n        taken = torch.arange(len(columns)) == place[:, None]\n"
                "        ctx.save_for_backward(exps / total[:, None], taken)"
            }
            for place in (REPLACED, CLAMPED)
        ),
    ),
    Mistake(
        "only_the_owner_has_a_gradient",
        "a rank without the label's column gets no gradient in this row, but its softmax counts",
        {BACK: "return (softmax - hit.to(softmax.dtype)) * hit.any(1, True) * grad[:, None], None, None, None"},
    ),
    Mistake(
        "gradient_of_the_loss_ignored",
        "the gradient that backward is given does not count; multiply each row by its own",
        {BACK: "return softmax - hit.to(softmax.dtype), None, None, None"},
    ),
    Mistake(
        "one_gradient_for_all_rows",
        "all rows get the first row's gradient; multiply each row by its own",
        {BACK: "return (softmax - hit.to(softmax.dtype)) * grad[0], None, None, None"},
    ),
    Mistake(
        "maximum_not_added_back",
        "the label's logit is taken before the maximum is subtracted, and the sum after it; subtract it from both",
        {TARGET: "torch.where(hit, logits, 0).sum(1)"},
    ),
    Mistake(
        "mean_returned",
        "the mean over the rows is returned; return a loss for each row",
        {APPLIED: f"{APPLIED}.mean()"},
    ),
    Mistake(
        "loss_on_one_rank",
        "only one rank returns the loss; all should",
        {APPLIED: f"{APPLIED} * (comm.rank == 0)"},
        {LOSS: "loss: Tensor = (total.log() - target) * (comm.rank == 0)"},
        {LOSS: "loss: Tensor = (total.log() - target) * hit.any(1)"},
    ),
    Mistake(
        "columns_gathered",
        "all ranks' columns are gathered on every rank; send a few numbers for each row alone",
        {
            APPLIED: "parts = comm.all_gather(logits)\n    parts[comm.rank] = logits\n"
            '    loss = F.cross_entropy(torch.cat(parts, 1), labels, reduction="none")'
        },
        {
            APPLIED: "whole = logits.new_zeros(len(logits), vocab_size)\n    whole[:, columns] = logits.detach()\n"
            "    whole = comm.all_reduce(whole)\n    whole[:, columns] = logits\n"
            '    loss = F.cross_entropy(whole, labels, reduction="none")'
        },
        {
            APPLIED: "comm.all_gather(logits.detach())\n"
            "    loss: Tensor = ParallelCrossEntropy.apply(logits, columns, labels, comm)"
        },
    ),
    Mistake(
        "a_collective_too_many",
        "there are more than three collectives; the sum and the label's logit also fit into one",
        {REDUCED: f"comm.all_reduce(hit.any(1).to(logits.dtype))\n        comm.all_reduce(sums[0])\n        {REDUCED}"},
        {
            REDUCED: "total, target = comm.all_reduce(sums[0]), comm.all_reduce(sums[1])\n"
            "        comm.all_reduce(hit.any(1).to(logits.dtype))"
        },
    ),
    Mistake(
        "table_of_all_columns",
        "each rank makes a table of N rows and V columns, such as a one-hot of the whole vocabulary; make it of its "
        "own columns",
        {
            OWN: f"ParallelCrossEntropy.size = vocab_size  # type: ignore[attr-defined]\n    {OWN}",
            KEPT: "hit = F.one_hot(labels, ParallelCrossEntropy.size)[:, columns].bool()  # type: ignore[attr-defined]",
        },
    ),
    Mistake(
        "empty_shard_as_0",
        "a rank without columns gives 0 as its maximum, and if all logits are far below 0, all exponentials are 0; "
        "give −∞",
        {PADDED: "(logits.amax(1) if len(columns) else logits.new_zeros(len(logits)))"},
    ),
    Mistake(
        "maximum_at_least_0",
        "the maximum that is subtracted is at least 0, and if all logits are far below 0, all exponentials are 0; "
        "subtract the largest logit",
        {PADDED: "F.pad(logits, (0, 1)).amax(1)"},
    ),
    Mistake(
        "empty_shard_fails",
        "max and amax fail on a rank without columns, if V < W; such a rank gives −∞",
        {PADDED: "logits.amax(1)"},
    ),
    Mistake(
        "logits_overwritten",
        "the maximum is subtracted in place, so the caller's logits change; make a new tensor",
        {SHIFTED: "shifted = logits.sub_(largest[:, None])"},
    ),
    Mistake(
        "softmax_overwritten",
        "backward works in the saved softmax, so a second backward gets other numbers; make a new tensor",
        {
            BACK: "softmax -= hit.to(softmax.dtype)\n        softmax *= grad[:, None]\n"
            "        return softmax, None, None, None"
        },
    ),
    Mistake(
        "kept_outside_ctx",
        "what backward needs is kept in one place for all calls, so the last call overwrites it; keep it in ctx",
        {
            SAVED: "ParallelCrossEntropy.kept = exps / total[:, None], hit  # type: ignore[attr-defined]",
            "softmax, hit = ctx.saved_tensors": "softmax, hit = "
            "ParallelCrossEntropy.kept  # type: ignore[attr-defined]",
        },
    ),
)
WORLDS = "the numbers of ranks that the contract names"
FIXED = {"length of ranks": WORLDS, "ranks": "which of them has its turn first is drawn"}
EQUIVALENT = {
    "columns = torch.arange(vocab_size, device=logits.device).tensor_split(comm.world_size)[comm.rank] -> "
    "columns = torch.arange(vocab_size).tensor_split(comm.world_size)[comm.rank]": "here all tensors are on the CPU",
    "largest = comm.all_reduce(F.pad(logits, (0, 1), value=-torch.inf).amax(1), op='max') -> "
    "largest = comm.all_reduce(F.pad(logits, (1, 1), value=-torch.inf).amax(1), op='max')": "−∞ is never the largest",
    "largest = comm.all_reduce(F.pad(logits, (0, 1), value=-torch.inf).amax(1), op='max') -> "
    "largest = comm.all_reduce(F.pad(logits, (0, 2), value=-torch.inf).amax(1), op='max')": "−∞ is never the largest",
}
