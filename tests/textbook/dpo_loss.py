import torch.nn.functional as F

def sequence_logp(logits, labels, ignore_index=-100):
    B, S, V = logits.shape
    nll = F.cross_entropy(logits[:, :-1].reshape(-1, V), labels[:, 1:].reshape(-1), ignore_index=ignore_index, reduction="none")
    return -nll.view(B, S - 1).sum(1)

def dpo_loss(policy_chosen, policy_rejected, ref_chosen, ref_rejected, beta=0.1, label_smoothing=0.0, reduction="mean"):
    z = beta * ((policy_chosen - policy_rejected) - (ref_chosen - ref_rejected))
    loss = (1 - label_smoothing) * F.softplus(-z) + label_smoothing * F.softplus(z)
    return loss if reduction == "none" else getattr(loss, reduction)()
