"""A class with fit and predict; the votes of all test rows of a chunk are counted by one bincount."""

import torch


class Neighbours:
    def fit(self, x, y):
        if x.ndim != 2 or len(x) != len(y):
            raise ValueError(f"should be (N, D) and (N,), got {tuple(x.shape)} and {tuple(y.shape)}")
        self.x = x if x.dtype == torch.float64 else x.float()
        self.lengths, self.y, self.size = self.x.norm(dim=1), y, int(y.max()) + 1
        return self

    def predict(self, x, k):
        similarity = torch.einsum("md,nd->mn", x.to(self.x.dtype), self.x) / self.lengths
        labels = self.y[similarity.argsort(dim=1, descending=True)[:, :k]]
        cells = labels + self.size * torch.arange(len(x), device=x.device)[:, None]
        return torch.bincount(cells.flatten(), minlength=len(x) * self.size).view(len(x), -1).argmax(1)


def knn_accuracy(train_x, train_y, test_x, test_y, k=20):
    model = Neighbours().fit(train_x, train_y)
    if k < 1 or test_x.ndim != 2 or test_x.shape[1] != train_x.shape[1] or len(test_x) != len(test_y):
        raise ValueError("the test set or k does not fit")
    pairs = zip(test_x.split(32), test_y.split(32), strict=True)
    return sum((model.predict(x, k) == y).sum().item() for x, y in pairs) / len(test_x)
