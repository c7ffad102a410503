import math
import torch

def mutual_information(joint, base=None):
    px, py = joint.sum(1, keepdim=True), joint.sum(0, keepdim=True)
    mi = (joint * torch.log(joint / (px * py))).sum()
    return mi if base is None else mi / math.log(base)

def conditional_entropy(joint, given="y", base=None):
    marginal = joint.sum(0 if given == "y" else 1, keepdim=True)
    h = -(joint * torch.log(joint / marginal)).sum()
    return h if base is None else h / math.log(base)
