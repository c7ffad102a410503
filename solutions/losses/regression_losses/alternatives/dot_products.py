"""Every loss is a dot product of two vectors."""


def dot(first, second):
    def loss(pred, target, reduction="mean"):
        if pred.shape != target.shape or reduction not in ("mean", "sum", "none"):
            raise ValueError("pred and target should have one shape, and reduction be one of three words")
        error = (pred - target).reshape(-1)
        if reduction == "none":
            return (first(error) * second(error)).view(pred.shape)
        count = len(error) if reduction == "mean" else 1
        return first(error) @ (second(error) / count)  # divided last, the sum might overflow float16

    return loss


mse, mae = dot(lambda e: e, lambda e: e), dot(lambda e: e, lambda e: e.sign())


def huber(pred, target, delta=1.0, reduction="mean"):
    if not delta > 0:
        raise ValueError("delta should be positive")
    return dot(lambda e: e.clamp(-delta, delta), lambda e: e - e.clamp(-delta, delta) / 2)(pred, target, reduction)


def mape(pred, target, eps=1e-8, reduction="mean"):
    return dot(lambda e: e.abs(), lambda e: 100 / target.flatten().abs().clamp(min=eps))(pred, target, reduction)
