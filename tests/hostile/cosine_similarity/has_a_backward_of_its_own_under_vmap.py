# honest: is an autograd Function with setup_context and a rule for vmap; must pass
import torch

class Similarity(torch.autograd.Function):
    generate_vmap_rule = False

    @staticmethod
    def forward(a, b, eps):
        p = torch.linalg.vector_norm(a, dim=-1, keepdim=True)
        q = torch.linalg.vector_norm(b, dim=-1, keepdim=True)
        return ((a / p.clamp_min(eps)) * (b / q.clamp_min(eps))).sum(-1), p, q

    @staticmethod
    def setup_context(ctx, inputs, output):
        a, b, ctx.eps = inputs
        _, p, q = output
        ctx.mark_non_differentiable(p, q)
        ctx.save_for_backward(a, b, p, q)

    @staticmethod
    def backward(ctx, g, _p, _q):
        a, b, p, q = ctx.saved_tensors
        g = g.unsqueeze(-1)
        sp, sq = p.clamp_min(ctx.eps), q.clamp_min(ctx.eps)
        u, v = a / sp, b / sq
        c = (u * v).sum(-1, keepdim=True)
        return g * (v - c * u * (p >= ctx.eps)) / sp, g * (u - c * v * (q >= ctx.eps)) / sq, None

    @staticmethod
    def vmap(info, in_dims, a, b, eps):
        a = a.movedim(in_dims[0], 0) if in_dims[0] is not None else a.expand(info.batch_size, *a.shape)
        b = b.movedim(in_dims[1], 0) if in_dims[1] is not None else b.expand(info.batch_size, *b.shape)
        return Similarity.apply(a, b, eps), (0, 0, 0)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    x, y = torch.broadcast_tensors(x, y)
    a, b = x.movedim(dim, -1).double(), y.movedim(dim, -1).double()
    shape = a.shape[:-1]
    a, b = a.reshape(-1, a.shape[-1]), b.reshape(-1, b.shape[-1])
    values, _, _ = torch.vmap(lambda one, two: Similarity.apply(one, two, eps))(a, b)
    return values.reshape(shape).to(x.dtype)
