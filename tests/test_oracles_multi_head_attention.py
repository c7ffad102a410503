"""The oracle of multi_head_attention against torch's module, and on blocked rows against its function."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from graders.catalogue import katas
from graders.kata.draw import Draw

MODULE = katas.find(["multi_head_attention"])[0].module


def torch_module(own: dict[str, Tensor], D: int, H: int) -> nn.MultiheadAttention:
    module = nn.MultiheadAttention(D, H, batch_first=True, dtype=torch.float64)
    names = ("q_linear", "k_linear", "v_linear")
    with torch.no_grad():
        module.in_proj_weight.copy_(torch.cat([own[f"{name}.weight"] for name in names]))
        module.in_proj_bias.copy_(torch.cat([own[f"{name}.bias"] for name in names]))
        module.out_proj.weight.copy_(own["out_linear.weight"])
        module.out_proj.bias.copy_(own["out_linear.bias"])
    return module


@pytest.mark.parametrize(
    ("B", "Sq", "Sk", "D", "H"), [(1, 1, 1, 1, 1), (2, 5, 7, 8, 4), (3, 6, 4, 6, 2), (2, 3, 4, 5, 5)]
)
@pytest.mark.parametrize("masked", [False, True])
def test_oracle_agrees_with_the_module(B: int, Sq: int, Sk: int, D: int, H: int, masked: bool) -> None:
    draw = Draw("module", B, Sq, Sk, D, H)
    own, tokens = MODULE.own_parameters(draw, D, H), MODULE.tokens(draw, B, Sq, Sk, D)
    mask = MODULE.some_blocked(draw, B, H, Sq, Sk) if masked else None
    blocked = None if mask is None else ~mask.flatten(0, 1)  # torch's bool mask is True where a key is blocked
    output, attn = MODULE.oracle(own, D, H, **tokens, mask=mask)
    expected = torch_module(own, D, H)(*tokens.values(), attn_mask=blocked, average_attn_weights=False)
    torch.testing.assert_close((output, attn), expected)


def test_oracle_agrees_with_the_function_on_blocked_rows() -> None:
    draw = Draw("blocked")
    own, tokens = MODULE.own_parameters(draw, 6, 3), MODULE.tokens(draw, 2, 4, 5, 6)
    mask = MODULE.some_blocked(draw, 2, 3, 4, 5)
    mask[0, 1, 2] = mask[1] = False
    output, attn = MODULE.oracle(own, 6, 3, **tokens, mask=mask)
    q, k, v = (
        F.linear(x, own[f"{name}.weight"], own[f"{name}.bias"]).view(2, -1, 3, 2).transpose(1, 2)
        for name, x in zip(("q_linear", "k_linear", "v_linear"), tokens.values(), strict=True)
    )
    heads = F.scaled_dot_product_attention(q, k, v, mask).transpose(1, 2).reshape(2, 4, 6)
    torch.testing.assert_close(output, F.linear(heads, own["out_linear.weight"], own["out_linear.bias"]))
    assert attn[~mask].eq(0).all()
    torch.testing.assert_close(output[1], own["out_linear.bias"].expand(4, 6))
