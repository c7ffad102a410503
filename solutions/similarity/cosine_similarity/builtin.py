"""torch.nn.functional.cosine_similarity, whose `dim` is 1 by default."""

import functools

import torch.nn.functional as F

cosine_similarity = functools.partial(F.cosine_similarity, dim=-1)
