import torch


def beam_search(log_probs, start, eos, beam_width=4, max_len=20, length_penalty=0.0):
    sequences = [([start], 0.0, False)]
    for step in range(max_len):
        all_candidates = []
        for seq, total, done in sequences:
            if done:
                all_candidates.append((seq, total, done))
                continue
            lp = log_probs(torch.tensor([seq]))[0]
            for j in range(len(lp)):
                all_candidates.append((seq + [j], total + lp[j].item(), j == eos))
        key = lambda c: c[1] / (len(c[0]) - 1) ** length_penalty
        sequences = sorted(all_candidates, key=key, reverse=True)[:beam_width]
        if all(d for _, _, d in sequences):
            break
    return [(s, t / (len(s) - 1) ** length_penalty) for s, t, _ in sequences]
