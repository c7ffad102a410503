"""torch.nn.functional.cosine_similarity."""

from torch.nn.functional import cosine_similarity as cosine_similarity
