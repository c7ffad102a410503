"""Trains the model on two lines of the text until it knows them by heart: python train.py [SEED]"""

import math
import sys

import torch
from data import TEXT, Tokenizer, get_batch, split
from model import MiniGPT
from trainer import evaluate, fit, load, make_optimizer, save

STEPS, ROWS, LENGTH = 70, 8, 20
PROMPT = 6  # characters of a line
CHECKPOINT = "checkpoint.pt"
TOKENIZER = Tokenizer(TEXT)
TRAINED, HELD_OUT = ([TOKENIZER.encode(f"\n{line}\n") for line in lines] for lines in split(TEXT))


def make(seed):
    """A new model with its optimiser, and where its batches come from."""
    torch.manual_seed(seed)
    model = MiniGPT(TOKENIZER.size, LENGTH, dim=48, heads=4, layers=1, dropout=0.05)
    generator = torch.Generator().manual_seed(seed)
    return model, make_optimizer(model), generator, lambda: get_batch(TRAINED, ROWS, LENGTH, generator)


def show(step, loss, rate):
    if step == 1 or step % 10 == 0:
        print(f"step {step:4}   loss {loss:8.4f}   rate {rate:.5f}", flush=True)


def complete(model, line, temperature=0.0, generator=None):
    """What the model makes of the line's first characters, up to its end."""
    prompt = torch.tensor([TOKENIZER.encode("\n" + line[:PROMPT])])
    model.eval()
    made = TOKENIZER.decode(model.generate(prompt, len(line) - PROMPT + 4, temperature, generator)[0].tolist())
    model.train()
    return made[1:].partition("\n")[0]


def difference_after_a_resume(seed):
    """The largest difference of losses between 8 steps and 4, a checkpoint and 4 more."""
    through, resumed = [], []
    model, optimizer, generator, next_batch = make(seed)
    fit(model, optimizer, next_batch, STEPS, last=4)
    save(CHECKPOINT, model, optimizer, generator, 4)
    fit(model, optimizer, next_batch, STEPS, first=4, last=8, log=lambda step, loss, rate: through.append(loss))
    model, optimizer, generator, next_batch = make(seed + 1)
    first = load(CHECKPOINT, model, optimizer, generator)
    fit(model, optimizer, next_batch, STEPS, first=first, last=8, log=lambda step, loss, rate: resumed.append(loss))
    return max(abs(one - other) for one, other in zip(through, resumed, strict=True))


def main(seed):
    torch.set_num_threads(1)
    print(f"log V {math.log(TOKENIZER.size):.4f}", flush=True)
    model, optimizer, _, next_batch = make(seed)
    fit(model, optimizer, next_batch, STEPS, log=show)
    for _ in range(2):
        trained, held_out = evaluate(model, TRAINED, LENGTH), evaluate(model, HELD_OUT, LENGTH)
        print(f"evaluated   trained {trained:.4f}   held out {held_out:.4f}", flush=True)
    draws = torch.Generator().manual_seed(seed)
    for name, temperature in (("greedy", 0.0), ("cold", 0.2)):
        for line in split(TEXT)[0]:
            print(f"{name:6}  {line[:PROMPT]!r} -> {complete(model, line, temperature, draws)!r}", flush=True)
    print(f"resumed     losses differ by {difference_after_a_resume(seed):.4f}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
