"""beam_width copies of start, of which all but the first begin at −∞, as in Hugging Face's library."""

import math

import torch


def beam_search(log_probs, start, eos, beam_width=4, max_len=20, length_penalty=0.0):
    if beam_width < 1 or max_len < 1:
        raise ValueError("beam_width and max_len should be at least 1")
    sequences = torch.full((beam_width, 1), start, dtype=torch.long)
    sums = torch.full((beam_width,), -math.inf, dtype=torch.float64)
    sums[0] = 0
    finished = []
    for step in range(1, max_len + 1):
        candidates = sums.unsqueeze(1) + log_probs(sequences).to(sums)
        V = candidates.size(1)
        sums, flat = candidates.view(-1).topk(min(beam_width, candidates.numel()))
        sequences = torch.cat([sequences[flat // V], (flat % V).unsqueeze(1)], dim=1)
        pool = [(total / step**length_penalty, i) for i, total in enumerate(sums.tolist()) if total > -math.inf]
        pool += [(score, tokens) for tokens, score in finished]
        pool = sorted(pool, key=lambda one: -one[0])[:beam_width]
        places = [i for _, i in pool if isinstance(i, int)]
        live = [i for i in places if sequences[i, -1] != eos]
        kept = [(sequences[i].tolist() if isinstance(i, int) else i, score) for score, i in pool]
        finished = [one for one in kept if one[0][-1] == eos and len(one[0]) > 1]
        if not live:
            break
        sequences, sums = sequences[live], sums[live]
    return kept
