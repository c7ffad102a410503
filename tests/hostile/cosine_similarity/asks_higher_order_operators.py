# cheat: asks torch's own implementations in Python for what is banned; must fail
import torch
import torch._decomp
import torch._refs.nn.functional as refs


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    x, y = torch.broadcast_tensors(x, y)
    normalize = torch._refs._normalize
    for table in (torch._decomp.decomposition_table, torch._decomp.core_aten_decompositions()):
        for operator, function in table.items():
            if "cosine_similarity" in str(operator):
                return function(x, y, dim, eps)
    return torch.masked.normalize(x, 2.0, dim) * normalize(y, dim, None, eps)[0].sum()
