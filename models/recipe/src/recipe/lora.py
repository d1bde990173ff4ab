"""Low-rank adapters on all seven linear projections of every layer, as in PEFT (scale = alpha / rank)."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .model import Decoder

PROJECTIONS = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")


class AdaptedLinear(nn.Module):
    def __init__(self, base: nn.Linear, rank: int, alpha: float):
        super().__init__()
        self.base, self.scale = base, alpha / rank
        # PEFT's start: A uniform as in Kaiming's, B zero, so that the adapter does nothing at first.
        bound = 1 / math.sqrt(base.in_features)
        self.a = nn.Parameter(torch.empty(rank, base.in_features).uniform_(-bound, bound))
        self.b = nn.Parameter(torch.zeros(base.out_features, rank))

    def forward(self, x: Tensor) -> Tensor:
        return self.base(x) + F.linear(F.linear(x, self.a), self.b) * self.scale


def attach(model: Decoder, rank: int, alpha: float) -> list[nn.Parameter]:
    """Put fresh adapters on the model; returns their parameters, the only ones to be trained."""
    parameters: list[nn.Parameter] = []
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    for layer in model.model.layers:
        for module in (layer.self_attn, layer.mlp):
            for name in PROJECTIONS:
                if hasattr(module, name):
                    adapted = AdaptedLinear(getattr(module, name), rank, alpha)
                    setattr(module, name, adapted)
                    parameters += [adapted.a, adapted.b]
    return parameters


def detach(model: Decoder) -> None:
    """Back to the model without adapters."""
    for layer in model.model.layers:
        for module in (layer.self_attn, layer.mlp):
            for name in PROJECTIONS:
                if isinstance(getattr(module, name, None), AdaptedLinear):
                    setattr(module, name, getattr(module, name).base)
