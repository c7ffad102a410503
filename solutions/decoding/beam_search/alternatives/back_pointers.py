"""Each hypothesis points to the one that it extends; the tokens are read off at the end."""

import torch


def tokens_of(node):
    found = []
    while node is not None:
        token, node = node
        found.append(token)
    return found[::-1]


def beam_search(log_probs, start, eos, beam_width=4, max_len=20, length_penalty=0.0):
    if min(beam_width, max_len) < 1:
        raise ValueError("beam_width and max_len should be at least 1")
    done, live = [], [(0.0, 0.0, (start, None))]
    for length in range(1, max_len + 1):
        rows = log_probs(torch.tensor([tokens_of(node) for _, _, node in live])).double()
        sums = torch.tensor([total for _, total, _ in live], dtype=torch.float64)
        total = (rows + sums[:, None]).flatten()
        values, places = total.topk(min(beam_width, int(total.isfinite().sum())))
        for value, place in zip(values.tolist(), places.tolist()):
            row, token = divmod(place, rows.shape[1])
            done.append((value / length**length_penalty, value, (token, live[row][2])))
        done = sorted(done, reverse=True, key=lambda one: one[0])[:beam_width]
        live = [one for one in done if one[2][0] != eos]
        done_now = [one for one in done if one[2][0] == eos]
        if not live or length == max_len:
            break
        done = done_now
    return [(tokens_of(node), score) for score, _, node in done]
