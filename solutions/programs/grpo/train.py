"""Trains the policy by GRPO until its digits add up: python train.py [SEED]"""

import copy
import functools
import sys

import torch
from grpo import collect, update
from policy import END, Policy, reward, rollout

STEPS, PROMPTS, GROUP, EPOCHS = 100, 10, 16, 2
RATE = 8e-3


def show(step, rewards, found):
    if step == 1 or step % 10 == 0:
        figures = f"entropy {found['entropy']:.2f}   off {found['off']:.3f}   moved {found['moved']:.2f}"
        print(f"step {step:3}   reward {rewards.mean():.2f}   {figures}   kl {found['kl']:.2f}", flush=True)


def main(seed):
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    policy = Policy()
    reference = copy.deepcopy(policy)
    optimizer = torch.optim.Adam(policy.parameters(), lr=RATE)
    for step in range(1, STEPS + 1):
        prompts = torch.randint(10, (PROMPTS,), generator=generator)
        sample = functools.partial(rollout, generator=generator)
        batch = collect(policy, reference, prompts, GROUP, sample, reward)
        show(step, batch["rewards"], update(policy, optimizer, batch, EPOCHS))
    prompts = torch.arange(1000) % 10
    tokens, mask = rollout(policy, prompts, torch.Generator().manual_seed(seed + 1))
    made = reward(prompts, tokens).mean()
    print(f"evaluated   of 1000 new answers {made:.3f} are right   length {mask.sum(1).mean():.2f}", flush=True)
    for prompt, answer in zip(prompts[:4].tolist(), tokens[:4].tolist(), strict=True):
        print(f"{prompt}: {' + '.join(str(digit) for digit in answer if digit != END)}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
