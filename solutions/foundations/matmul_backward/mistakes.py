"""Known wrong answers to matmul_backward."""

from graders.kata import Mistake

FUNCTION = "class MatMul(torch.autograd.Function):"
SAVED, LOADED = "ctx.save_for_backward(a, b)", "a, b = ctx.saved_tensors"
PRODUCT = "return a @ b"
OF_A, OF_B = "grad_output @ b.mT", "a.mT @ grad_output"
D_A, D_B = f"({OF_A}).sum_to_size(a.shape)", f"({OF_B}).sum_to_size(b.shape)"
ASKED_A, ASKED_B = "if ctx.needs_input_grad[0]:", "if ctx.needs_input_grad[1]:"
LEFT = "before = [*accumulate(matrices[:-1], torch.matmul)]"
RIGHT = "after = [*accumulate(matrices[:0:-1], lambda product, one: one @ product)][::-1]"
UPSTREAM_ALL, UPSTREAM_NONE = "for product in after), grad_output]", "for product in after)]"
UPSTREAM, RETURNED = "grad_output @ product.mT", "before[i].mT @ upstream[i + 1]"
CHAIN = "*_, product = accumulate(matrices, torch.matmul)"
GRADIENTS = "[upstream[0], *(before[i].mT @ upstream[i + 1] for i in range(len(before)))]"
LAST = f"return {GRADIENTS}"


def fitted(lines: str) -> dict[str, str]:
    """Both gradients by a function of the gradient g and of the shape that it should have."""
    function = f"def fitted(g, shape):\n{lines}\n    return g\n\n\n{FUNCTION}"
    return {FUNCTION: function, D_A: f"fitted({OF_A}, a.shape)", D_B: f"fitted({OF_B}, b.shape)"}


LEADING = "    while g.dim() > len(shape):\n        g = g.sum(0)"
DROPPED = """    extra = g.dim() - len(shape)
    for axis in reversed(range(g.dim() - 2)):
        if axis < extra or shape[axis - extra] < g.shape[axis]:
            g = g.sum(axis)"""
ONES = """    extra = g.dim() - len(shape)
    axes = [axis for axis in range(extra, g.dim()) if shape[axis - extra] < g.shape[axis]]
    g = g.sum(axes, keepdim=True) if axes else g"""
DIVIDED = """total = chain_matmul(matrices)
    upto = [*accumulate(matrices, torch.matmul)]
    after = [{} for product in upto[:-1]]"""
COARSE = "torch.linalg.pinv(product.float()).to(total.dtype) @ total"
POPPED = """after = [matrices.pop()] if len(matrices) > 1 else []
    while len(matrices) > 1:
        after.insert(0, matrices.pop() @ after[0])"""
KEPT = """before, product = [], matrices[0].clone()
    for matrix in matrices[1:]:
        before.append(product)
        product.copy_(product @ matrix)"""
IN_GRAD_OUTPUT = """gradients = []
    for i in reversed(range(len(matrices))):
        gradients.append(before[i - 1].mT @ grad_output if i else grad_output.clone())
        grad_output.copy_(grad_output @ matrices[i].mT)
    return gradients[::-1]"""
BY_PAIRS = "torch.stack([one @ other for one, other in zip({}, {})])"
ANEW_BEFORE = "before = [chain_matmul(matrices[:i]) for i in range(1, len(matrices))]"
ANEW_AFTER = "after = [chain_matmul(matrices[i:]) for i in range(1, len(matrices))]"
BY_IDENTITY = f"""found = dict(zip(map(id, matrices), {GRADIENTS}, strict=True))
    return [found[id(matrix)] for matrix in matrices]"""
SUMMED_BY_IDENTITY = f"""made = {GRADIENTS}
    return [sum(g for g, one in zip(made, matrices, strict=True) if one is matrix) for matrix in matrices]"""

MISTAKES = (
    Mistake(
        "transposes_missing",
        "the gradient of a or b is multiplied by the other matrix as it is; multiply it by that matrix transposed",
        {OF_A: "grad_output @ b", OF_B: "a @ grad_output"},
        {OF_A: "grad_output @ b"},
        {OF_B: "a @ grad_output"},
        {OF_A: "grad_output @ (b if b.shape[-2] == b.shape[-1] else b.mT)"},
        {OF_B: "(a if a.shape[-2] == a.shape[-1] else a.mT) @ grad_output"},
    ),
    Mistake(
        "all_axes_transposed",
        "all axes of the other matrix are reversed, as by .T; swap its last two axes, as .mT does",
        {
            OF_A: "grad_output @ b.permute(*range(b.dim())[::-1])",
            OF_B: "a.permute(*range(a.dim())[::-1]) @ grad_output",
        },
        {OF_A: "grad_output @ b.permute(*range(b.dim())[::-1])"},
        {OF_B: "a.permute(*range(a.dim())[::-1]) @ grad_output"},
    ),
    Mistake(
        "factors_in_the_other_order",
        "the other matrix stands on the wrong side of grad_output; ∂L/∂a = G bᵀ, and ∂L/∂b = aᵀ G",
        {OF_A: "b.mT @ grad_output", OF_B: "grad_output @ a.mT"},
        {OF_A: "b.mT @ grad_output"},
        {OF_B: "grad_output @ a.mT"},
    ),
    Mistake(
        "gradient_of_b_transposed",
        "the gradient of b is Gᵀ a, which is transposed; it is aᵀ G",
        {D_B: "grad_output.mT @ a"},
        {D_B: "(grad_output.mT @ a).sum_to_size(b.shape)"},
        {D_B: "(grad_output.mT @ a).sum_to_size(b.mT.shape)"},
    ),
    Mistake(
        "own_matrix_for_the_other",
        "the gradient of a matrix is made of this matrix itself; ∂L/∂a is made of b, and ∂L/∂b of a",
        {OF_A: "grad_output @ a.mT", OF_B: "b.mT @ grad_output"},
        {OF_A: "grad_output @ a.mT"},
        {OF_B: "b.mT @ grad_output"},
    ),
    Mistake(
        "gradients_swapped",
        "backward returns the gradient of b first; return one gradient for each input, in the order of forward's",
        {"return d_a, d_b": "return d_b, d_a"},
        {"return d_a, d_b": "return (d_b, d_a) if a.shape == b.shape else (d_a, d_b)"},
    ),
    Mistake(
        "upstream_ignored",
        "backward does not use grad_output; multiply the gradient that arrives by the other matrix, transposed",
        {OF_A: "torch.ones_like(grad_output) @ b.mT", OF_B: "a.mT @ torch.ones_like(grad_output)"},
        {OF_A: "torch.ones_like(grad_output) @ b.mT"},
        {OF_B: "a.mT @ torch.ones_like(grad_output)"},
    ),
    Mistake(
        "broadcast_not_summed",
        "backward's gradient keeps axes along which its matrix was broadcast, and autograd has to sum over them; sum "
        "over these axes, so that the gradient has the matrix's shape",
        {D_A: f"({OF_A})", D_B: f"({OF_B})"},
        {D_A: f"({OF_A})"},
        {D_B: f"({OF_B})"},
    ),
    Mistake(
        "only_leading_axes_summed",
        "backward sums over the batch axes that a matrix lacks, but not over those where its length is 1; sum over "
        "these also, and keep the axis",
        fitted(LEADING),
    ),
    Mistake(
        "only_axes_of_length_1_summed",
        "backward sums over the batch axes where a matrix has length 1, but not over those that it lacks; sum over "
        "these also",
        fitted(ONES),
    ),
    Mistake(
        "summed_axis_dropped",
        "where a matrix has a batch axis of length 1, the sum drops this axis; keep it, as keepdim=True does",
        fitted(DROPPED),
    ),
    Mistake(
        "mean_over_the_broadcast_axes",
        "the gradient is averaged over the axes along which its matrix was broadcast; sum over them",
        {
            D_A: f"(({OF_A}).sum_to_size(a.shape) * (a.numel() / ({OF_A}).numel()))",
            D_B: f"(({OF_B}).sum_to_size(b.shape) * (b.numel() / ({OF_B}).numel()))",
        },
        {D_B: f"(({OF_B}).sum_to_size(b.shape) * (b.numel() / ({OF_B}).numel()))"},
        {D_A: f"(({OF_A}).sum_to_size(a.shape) * (a.numel() / ({OF_A}).numel()))"},
        fitted(LEADING.replace("sum(0)", "mean(0)") + "\n    g = g.sum_to_size(shape)"),
        fitted(LEADING.replace("sum(0)", "mean(0)") + "\n" + ONES.replace("g.sum(axes", "g.mean(axes")),
        {**fitted(LEADING.replace("sum(0)", "mean(0)") + "\n    g = g.sum_to_size(shape)"), D_A: D_A},
    ),
    Mistake(
        "whole_batch_summed",
        "the gradient is summed over every batch axis and spread out again; sum only over the axes along which the "
        "matrix was broadcast",
        {
            D_A: f"({OF_A}).sum(tuple(range(grad_output.dim() - 2))).expand(a.shape)",
            D_B: f"({OF_B}).sum(tuple(range(grad_output.dim() - 2))).expand(b.shape)",
        },
        {D_B: f"({OF_B}).sum(tuple(range(grad_output.dim() - 2))).expand(b.shape)"},
    ),
    Mistake(
        "gradients_that_nobody_needs",
        "backward makes a gradient that nobody needs; look at ctx.needs_input_grad, and return None for it",
        {ASKED_A: "if True:", ASKED_B: "if True:"},
        {ASKED_A: "if True:"},
        {ASKED_B: "if True:"},
    ),
    Mistake(
        "needs_of_the_other_input",
        "ctx.needs_input_grad is read for the wrong input; entry 0 is about a, entry 1 about b",
        {ASKED_A: "if ctx.needs_input_grad[-1]:", ASKED_B: "if ctx.needs_input_grad[-2]:"},
    ),
    Mistake(
        "kept_on_the_class",
        "what backward needs is kept on the class or in a global, where the next call overwrites it; keep it on ctx",
        {SAVED: "MatMul.saved = a, b", LOADED: "a, b = MatMul.saved"},
    ),
    Mistake(
        "gradient_flattened_by_view",
        "view fails if the gradient that arrives is transposed or expanded; use reshape, or its shape as it is",
        {OF_A: "grad_output.view(-1).view(grad_output.shape) @ b.mT"},
        {OF_B: "a.mT @ grad_output.view(-1).view(grad_output.shape)"},
        {OF_B: "a.mT @ grad_output.view(-1, grad_output.shape[-1]).view(grad_output.shape)"},
    ),
    Mistake(
        "gradient_changed_in_place",
        "backward writes into the gradient that arrives, which others use also; make a new tensor",
        {
            LOADED: f"{LOADED}\n        given = grad_output.clone()\n        grad_output.zero_()",
            OF_A: "given @ b.mT",
            OF_B: "a.mT @ given",
        },
    ),
    Mistake(
        "apply_is_not_the_functions",
        "MatMul.apply does not go through forward and backward, so autograd does the work; subclass "
        "torch.autograd.Function, and leave its apply as it is",
        {FUNCTION: f"{FUNCTION}\n    apply = staticmethod(lambda a, b: a @ b)\n"},
    ),
    Mistake(
        "pair_by_pair",
        "a loop multiplies one pair of matrices of a batch at a time; one @ does all of them",
        {PRODUCT: f"return {BY_PAIRS.format('a', 'b')} if a.shape[:-2] == b.shape[:-2] != () else a @ b"},
        {OF_B: f"({BY_PAIRS.format('a.mT', 'grad_output')} if a.shape[:-2] == b.shape[:-2] != () else {OF_B})"},
        slow=True,
    ),
    Mistake(
        "table_of_products",
        "all products a_ij b_jk are kept before they are summed; use @, which keeps only the sums",
        {PRODUCT: "return (a[..., :, :, None] * b[..., None, :, :]).sum(-2)"},
        {OF_A: "(grad_output[..., :, None, :] * b[..., None, :, :]).sum(-1)"},
        {OF_B: "(a[..., :, :, None] * grad_output[..., :, None, :]).sum(-3)"},
        slow=True,
    ),
    Mistake(
        "product_from_right_to_left",
        "chain_matmul multiplies in the opposite order, M_k … M₁, but matrix products do not commute; put each matrix "
        "to the right of the product so far",
        {CHAIN: "*_, product = accumulate(matrices, lambda product, one: one @ product)"},
    ),
    Mistake(
        "entries_multiplied",
        "chain_matmul multiplies entry by entry, as * does; use @",
        {CHAIN: "*_, product = accumulate(matrices, torch.mul)"},
    ),
    Mistake(
        "product_before_in_the_other_order",
        "the product before a matrix is multiplied in the opposite order; it is M₁ M₂ … M_{i−1}, so put each matrix to "
        "its right",
        {LEFT: "before = [*accumulate(matrices[:-1], lambda product, one: one @ product)]"},
    ),
    Mistake(
        "product_after_in_the_other_order",
        "the product after a matrix is multiplied in the opposite order; it is M_{i+1} … M_k, so put each matrix to "
        "its left",
        {RIGHT: "after = [*accumulate(matrices[:0:-1], torch.matmul)][::-1]"},
    ),
    Mistake(
        "both_products_in_the_other_order",
        "the products before and after a matrix are both multiplied in the opposite order, as their transposes would "
        "be without a transpose of the matrices; build M₁ … M_{i−1} and M_{i+1} … M_k, then transpose them",
        {
            LEFT: "before = [*accumulate(matrices[:-1], lambda product, one: one @ product)]",
            RIGHT: "after = [*accumulate(matrices[:0:-1], torch.matmul)][::-1]",
        },
    ),
    Mistake(
        "product_before_includes_it",
        "the product before matrix i includes matrix i; stop at the matrix before it",
        {
            LAST: "products = [*accumulate(matrices, torch.matmul)]\n    "
            "return [product.mT @ one for product, one in zip(products, upstream, strict=True)]"
        },
    ),
    Mistake(
        "product_after_includes_it",
        "the product after matrix i includes matrix i; start at the matrix after it",
        {
            RIGHT: "after = [*accumulate(matrices[::-1], lambda product, one: one @ product)][::-1]",
            UPSTREAM_ALL: UPSTREAM_NONE,
        },
    ),
    Mistake(
        "products_not_transposed",
        "a product before or after a matrix is used as it is; transpose it",
        {UPSTREAM: "grad_output @ product", RETURNED: "before[i] @ upstream[i + 1]"},
        {UPSTREAM: "grad_output @ product"},
        {RETURNED: "before[i] @ upstream[i + 1]"},
    ),
    Mistake(
        "products_on_the_wrong_side",
        "the product before a matrix stands to the right of grad_output, or the one after it to the left; the order is "
        "(before)ᵀ G (after)ᵀ",
        {UPSTREAM: "product.mT @ grad_output", RETURNED: "upstream[i + 1] @ before[i].mT"},
        {UPSTREAM: "product.mT @ grad_output"},
        {RETURNED: "upstream[i + 1] @ before[i].mT"},
    ),
    Mistake(
        "gradients_in_reverse_order",
        "the gradients come in the order of the backward pass, the last matrix's first; turn the list round",
        {LAST: f"{LAST}[::-1]"},
    ),
    Mistake(
        "divided_out",
        "a product after or before a matrix is divided out of the whole product, which fails for a singular matrix and "
        "loses digits; multiply the neighbours' products instead",
        {RIGHT: DIVIDED.format("torch.linalg.solve(product, total)")},
        {RIGHT: DIVIDED.format("torch.linalg.inv(product) @ total")},
        {RIGHT: DIVIDED.replace("[:-1]", "").format("torch.linalg.solve(product, total)"), UPSTREAM_ALL: UPSTREAM_NONE},
        {RIGHT: DIVIDED.format("torch.linalg.pinv(product) @ total")},
        {RIGHT: DIVIDED.replace("[:-1]", "").format(COARSE), UPSTREAM_ALL: UPSTREAM_NONE},
        {RIGHT: DIVIDED.format(COARSE)},
        {RIGHT: DIVIDED.format("torch.linalg.pinv(product.double()).to(total.dtype) @ total")},
    ),
    Mistake(
        "products_overwritten",
        "the products before the matrices are kept in one tensor that each step overwrites, so all of them are the "
        "last one; make a new tensor for each",
        {LEFT: KEPT},
        {LEFT: f"{KEPT}\n    product.copy_(product @ matrices[-1]) if before else None"},
        {LAST: "whole = chain_matmul(matrices)\n    return [whole.mT @ one for one in upstream]"},
    ),
    Mistake(
        "one_matrix_forgotten",
        "the gradient of a single matrix is not grad_output; nothing stands before or after it, so it is",
        {LAST: f"{LAST} if before else []"},
        {LAST: f"{LAST} if before else [torch.zeros_like(grad_output)]"},
        {LAST: f"{LAST} if before else [torch.ones_like(grad_output)]"},
        {LAST: f"{LAST} if before else [matrices[0].mT @ grad_output]"},
    ),
    Mistake(
        "list_emptied",
        "the caller's list loses its matrices, as by pop; leave the list as it is",
        {
            RIGHT: POPPED,
            LEFT: "copied = [*matrices]",
            LAST: f"before = [*accumulate(copied[:-1], torch.matmul)]\n    {LAST}",
        },
        {
            RIGHT: f"given, matrices = matrices, [*matrices]\n    given.clear()\n    {RIGHT}",
            LEFT: "",
            LAST: f"{LEFT}\n    {LAST}",
        },
    ),
    Mistake(
        "gradients_by_identity",
        "gradients are kept by the matrix itself, as in a dict of ids, so one matrix at two places gets one gradient "
        "for both; keep them by place",
        {LAST: BY_IDENTITY},
        {LAST: SUMMED_BY_IDENTITY},
    ),
    Mistake(
        "written_into_grad_output",
        "chain_matmul_backward writes into grad_output, which belongs to the caller; make new tensors",
        {"upstream = [": "grad_output *= 1\n    upstream = ["},
        {LAST: IN_GRAD_OUTPUT},
    ),
    Mistake(
        "products_anew_for_each_matrix",
        "the products before and after are multiplied anew for each matrix, k² products in all; make each from its "
        "neighbour's by one product",
        {LEFT: ANEW_BEFORE, RIGHT: ANEW_AFTER},
        {LEFT: ANEW_BEFORE},
        {RIGHT: ANEW_AFTER},
        slow=True,
    ),
)

PAIRS = "for one, other in zip(a.shape[-3::-1], b.shape[-3::-1], strict=False):"
EQUIVALENT = {
    f"{PAIRS} -> {PAIRS.replace(', strict=False', '')}": "that is the default",
    f"{PAIRS} -> for one, other in zip(b.shape[-3::-1], a.shape[-3::-1], strict=False):": (
        "two shapes broadcast in either order"
    ),
}
