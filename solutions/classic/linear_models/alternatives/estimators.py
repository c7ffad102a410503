"""Classes with fit; Levenberg and Marquardt's damping in place of halved steps; labels as signs."""

import torch


class Ridge:
    def __init__(self, alpha):
        assert alpha >= 0
        self.alpha = alpha

    def fit(self, x, y):
        assert x.ndim == 2 and y.ndim == 1 and len(x) == len(y)
        offset = x.mean(0)
        rows = torch.cat([x - offset, self.alpha**0.5 * torch.eye(x.shape[1], dtype=x.dtype, device=x.device)])
        coef = torch.linalg.pinv(rows)[:, : len(x)] @ (y - y.mean())
        return coef, y.mean() - offset.dot(coef)


class Logistic(Ridge):
    def loss(self, theta):
        return -torch.nn.functional.logsigmoid(self.rows @ theta).sum() + 0.5 * (self.alpha * theta).dot(theta)

    def fit(self, x, y):
        assert x.ndim == 2 and y.ndim == 1 and len(x) == len(y) and self.alpha > 0
        assert set(y.tolist()) == {0, 1}
        sign = torch.where(y == 1, 1.0, -1.0).double()
        self.rows = torch.cat([x.double() * sign[:, None], sign[:, None]], dim=1)
        self.alpha = self.alpha * torch.ones_like(self.rows[0]).index_fill(0, torch.tensor([x.shape[1]]).to(y.device), 0)
        theta, damping = torch.zeros_like(self.rows[0]), 1e-3
        for _ in range(500):
            q = torch.sigmoid(-self.rows @ theta)
            gradient = self.alpha * theta - q @ self.rows
            if gradient.norm() < 1e-10 * len(x) or damping > 1e12:
                break
            hessian = torch.einsum("n,ni,nj->ij", q * (1 - q), self.rows, self.rows) + torch.diag(self.alpha)
            moved = theta - torch.linalg.solve(hessian + damping * hessian.diag().clamp(min=1e-9).diag(), gradient)
            if self.loss(moved) <= self.loss(theta):
                theta, damping = moved, damping / 10
            else:
                damping *= 10
        return theta[:-1].to(x.dtype), theta[-1].to(x.dtype)


def linear_regression(x, y, l2=0.0):
    return Ridge(l2).fit(x, y)


def logistic_regression(x, y, l2=1.0):
    return Logistic(l2).fit(x, y)
