# honest: prints tracebacks, its stack and its functions' names; must pass
import sys
import traceback
import torch

def debug():
    return sys._getframe(1).f_code.co_name, sys._getframe().f_back.f_lineno


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    try:
        torch.ones(2) @ torch.ones(3)
    except RuntimeError as error:
        traceback.print_exc()
        print(traceback.format_exc(), repr(error), error.__traceback__.tb_lineno)
        print("".join(traceback.format_exception(error)))
        print(traceback.extract_tb(sys.exc_info()[2])[-1].name, traceback.TracebackException.from_exception(error))
    print(*traceback.format_stack(limit=3))
    traceback.print_stack()
    print(debug())
    x, y = torch.broadcast_tensors(x, y)
    x_norm = torch.linalg.vector_norm(x, dim=dim, keepdim=True).clamp_min(eps)
    y_norm = torch.linalg.vector_norm(y, dim=dim, keepdim=True).clamp_min(eps)
    return ((x / x_norm) * (y / y_norm)).sum(dim)


print(debug(), traceback.format_stack())
