"""A policy that writes digits, samples of it, and the reward, which can be verified."""

import torch
from torch import Tensor, nn

END = 10  # the tokens 0 to 9 are digits
LONGEST = 6  # tokens of an answer


class Policy(nn.Module):
    """Answers to prompts from 0 to 9, token by token."""

    def __init__(self, width: int = 48) -> None:
        super().__init__()
        self.embedding = nn.Embedding(END + 1 + 10, width)
        self.cell = nn.GRU(width, width, batch_first=True)
        self.head = nn.Linear(width, END + 1)

    def forward(self, prompts: Tensor, tokens: Tensor) -> Tensor:
        """Logits (B, L, 11) of each of the tokens (B, L), from the prompt (B,) and the tokens before it."""
        before = torch.cat([prompts[:, None] + END + 1, tokens[:, :-1]], dim=1)
        states, _ = self.cell(self.embedding(before))
        return self.head(states)


@torch.no_grad()
def rollout(policy: nn.Module, prompts: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Samples answers: tokens (B, LONGEST), which are END from the first END on, and a mask of those that were chosen.

    The first END was chosen, so the mask has it.
    """
    tokens = torch.full((len(prompts), LONGEST), END)
    mask = torch.zeros(len(prompts), LONGEST)
    going_on = torch.ones(len(prompts), dtype=torch.bool)
    for place in range(LONGEST):
        logits = policy(prompts, tokens[:, : place + 1])[:, -1]
        probabilities = torch.softmax(logits, dim=-1)
        drawn = torch.multinomial(probabilities, 1, generator=generator)[:, 0]
        tokens[:, place] = torch.where(going_on, drawn, END)
        mask[:, place] = going_on.float()
        going_on = going_on & (drawn != END)
    return tokens, mask


def reward(prompts: Tensor, tokens: Tensor) -> Tensor:
    """1 for an answer of two digits or more, with an END, whose sum ends with the prompt's digit; else 0."""
    digits = tokens != END
    total = (tokens * digits).sum(dim=1) % 10
    ended = tokens[:, -1] == END
    return ((total == prompts) & ended & (digits.sum(dim=1) >= 2)).float()
