"""All in tensors: finished rows stay in the batch, and only eos continues them, at no cost."""

import torch


def beam_search(log_probs, start, eos, beam_width=4, max_len=20, length_penalty=0.0):
    assert beam_width >= 1 and max_len >= 1
    tokens = torch.full((1, 1), start)
    sums, lengths, done = torch.zeros(1, dtype=torch.float64), torch.zeros(1), torch.zeros(1, dtype=torch.bool)
    for _ in range(max_len):
        if done.all():
            break
        rows = log_probs(tokens).double()
        V = rows.shape[1]
        padding = torch.full((V,), -torch.inf, dtype=torch.float64)
        padding[eos] = 0
        total = sums[:, None] + torch.where(done[:, None], padding, rows)
        lengths = lengths + ~done
        best, flat = (total / lengths[:, None] ** length_penalty).flatten().topk(min(beam_width, total.numel()))
        flat = flat[best > -torch.inf]
        row, token = flat // V, flat % V
        tokens = torch.cat([tokens[row], token[:, None]], dim=1)
        sums, lengths, done = total.flatten()[flat], lengths[row], done[row] | (token == eos)
    scores = sums / lengths**length_penalty
    order = scores.argsort(descending=True).tolist()
    return [(tokens[i, : 1 + int(lengths[i])].tolist(), scores[i].item()) for i in order]
