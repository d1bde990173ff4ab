"""Muon (Jordan et al. 2024) for weight matrices: momentum, orthogonalised by Newton–Schulz.

The scale, 0.2 times the root of the longer side, and the weight decay are those of Liu et al. 2025 (arXiv:2502.16982), so that a rate
for AdamW suits it. ``torch.optim.Muon`` computes the same, but always with bfloat16 products, which are slow on many CPUs.
"""

from __future__ import annotations

from typing import Callable

import torch
from torch import Tensor

COEFFICIENTS = (3.4445, -4.775, 2.0315)
ITERATIONS = 5


def orthogonalised(matrices: Tensor, dtype: torch.dtype) -> Tensor:
    """U V^T, nearly, of each matrix U S V^T of (count, rows, columns)."""
    a, b, c = COEFFICIENTS
    tall = matrices.shape[1] > matrices.shape[2]
    wide = matrices.to(dtype)
    wide = wide.mT.contiguous() if tall else wide
    wide = wide / wide.norm(dim=(1, 2), keepdim=True).clamp(min=1e-7)
    for _ in range(ITERATIONS):
        square = wide @ wide.mT
        wide = torch.baddbmm(wide, torch.baddbmm(square, square, square, beta=b, alpha=c), wide, beta=a)
    return (wide.mT if tall else wide).to(matrices.dtype)


class Muon(torch.optim.Optimizer):
    """Matrices of one shape are orthogonalised together."""

    def __init__(self, matrices: list[torch.nn.Parameter], lr: float, momentum: float = 0.95, weight_decay: float = 0.1, dtype: torch.dtype = torch.float32):
        super().__init__(matrices, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})
        self.dtype = dtype

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:
        for group in self.param_groups:
            by_shape: dict[torch.Size, list[torch.nn.Parameter]] = {}
            for matrix in group["params"]:
                by_shape.setdefault(matrix.shape, []).append(matrix)
            for shape, matrices in by_shape.items():
                updates = orthogonalised(torch.stack([self.ahead(matrix, group["momentum"]) for matrix in matrices]), self.dtype)
                scale = 0.2 * max(shape) ** 0.5
                for matrix, update in zip(matrices, updates):
                    matrix.mul_(1 - group["lr"] * group["weight_decay"]).add_(update, alpha=-group["lr"] * scale)

    def ahead(self, matrix: torch.nn.Parameter, momentum: float) -> Tensor:
        """Nesterov's momentum of the matrix's gradient."""
        state = self.state[matrix]
        if "momentum_buffer" not in state:
            state["momentum_buffer"] = torch.zeros_like(matrix)
        buffer: Tensor = state["momentum_buffer"].lerp_(matrix.grad, 1 - momentum)
        return matrix.grad.lerp(buffer, momentum)
