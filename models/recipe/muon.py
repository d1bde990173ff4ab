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


def orthogonalised(matrix: Tensor, dtype: torch.dtype) -> Tensor:
    """U V^T of the matrix U S V^T, nearly."""
    a, b, c = COEFFICIENTS
    x = matrix.to(dtype)
    wide = x.T if x.shape[0] > x.shape[1] else x
    wide = wide / wide.norm().clamp(min=1e-7)
    for _ in range(ITERATIONS):
        square = wide @ wide.T
        wide = a * wide + (b * square + c * square @ square) @ wide
    return (wide.T if x.shape[0] > x.shape[1] else wide).to(matrix.dtype)


class Muon(torch.optim.Optimizer):
    def __init__(self, matrices: list[torch.nn.Parameter], lr: float, momentum: float = 0.95, weight_decay: float = 0.1, dtype: torch.dtype = torch.float32):
        super().__init__(matrices, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})
        self.dtype = dtype

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:
        for group in self.param_groups:
            for matrix in group["params"]:
                state = self.state[matrix]
                if "momentum_buffer" not in state:
                    state["momentum_buffer"] = torch.zeros_like(matrix)
                buffer: Tensor = state["momentum_buffer"].lerp_(matrix.grad, 1 - group["momentum"])
                ahead = matrix.grad.lerp(buffer, group["momentum"])  # Nesterov's
                scale = 0.2 * max(matrix.shape) ** 0.5
                matrix.mul_(1 - group["lr"] * group["weight_decay"])
                matrix.add_(orthogonalised(ahead, self.dtype), alpha=-group["lr"] * scale)
