"""A loop over chunks of anchors, each without its own column, whose losses are added up."""

import torch
import torch.nn.functional as F


def info_nce(features, temperature=0.07):
    assert features.dim() == 2 and features.size(0) & 1 == 0 and temperature > 0
    unit = F.normalize(features)
    columns = torch.arange(len(unit), device=unit.device)
    total = unit.new_zeros(())
    for part in columns.split(256):
        others = columns[:-1] + (columns[:-1] >= part[:, None])  # (chunk, 2N − 1): all columns but one's own
        logits = (unit[part] @ unit.T).gather(1, others) / temperature
        share = logits - logits.max(dim=1, keepdim=True)[0]
        log_share = share - share.exp().sum(1, keepdim=True).log()
        total = total - log_share.gather(1, part[:, None] // 2 * 2).sum()  # each row of a pair has the same place
    return total / len(unit)
