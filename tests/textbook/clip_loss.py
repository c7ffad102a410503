import torch
import torch.nn.functional as F

def clip_loss(image, text, logit_scale):
    image = image / image.norm(dim=1, keepdim=True)
    text = text / text.norm(dim=1, keepdim=True)
    logits = logit_scale.exp().clamp(max=100) * image @ text.t()
    labels = torch.arange(len(image))
    return (F.cross_entropy(logits, labels) + F.cross_entropy(logits.t(), labels)) / 2
