"""What training minimises: the cross-entropy of the targets, and a contrast between questions."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

CONTRAST_WEIGHT, CONTRAST_TEMPERATURE = 0.3, 0.1


def log_sums(logits: Tensor) -> tuple[Tensor, Tensor]:
    """Of each row: the logarithm of the sum of exponentials, and the largest logit; in float32."""
    wide = logits.float()
    largest = wide.amax(-1)
    return largest + (wide - largest[:, None]).exp().sum(-1).log(), largest


def scaled_probabilities(logits: Tensor, sums: Tensor, scales: Tensor) -> Tensor:
    return ((logits.float() - sums[:, None]).exp() * scales[:, None]).to(logits.dtype)


def compile_losses() -> None:
    """Passes over all logits are worth compiling in a long run; what needs no compiler must not ask for one."""
    global log_sums, scaled_probabilities
    log_sums = torch.compile(log_sums, dynamic=True)
    scaled_probabilities = torch.compile(scaled_probabilities, dynamic=True)


class TokenLosses(torch.autograd.Function):
    """Each target's cross-entropy, in float32, and whether it is the likeliest token.

    The same as the library's, whose gradient scatters into a matrix of zeros and takes ten times as long on CPU.
    """

    @staticmethod
    def forward(context, logits: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
        sums, largest = log_sums(logits)
        chosen = logits.gather(1, targets[:, None])[:, 0].float()
        right = chosen >= largest
        context.save_for_backward(logits, targets, sums)
        context.mark_non_differentiable(right)
        return sums - chosen, right

    @staticmethod
    def backward(context, scales: Tensor, _right: Tensor) -> tuple[Tensor, None]:
        logits, targets, sums = context.saved_tensors
        gradient = scaled_probabilities(logits, sums, scales)
        gradient[torch.arange(len(targets), device=targets.device), targets] -= scales.to(gradient.dtype)
        return gradient, None


def nearest_alike(ends: Tensor, groups: Tensor) -> Tensor:
    """For each question: whether the one most similar to it asks for the same."""
    unit = F.normalize(ends, dim=-1)
    return groups[(unit @ unit.T).fill_diagonal_(-1).argmax(-1)] == groups


def contrast(ends: Tensor, groups: Tensor) -> Tensor:
    """Draws questions that ask for the same together and all others apart (supervised contrast, arXiv:2004.11362).

    What one wording teaches an adapter then holds for the others, too.
    """
    unit = F.normalize(ends, dim=-1)
    itself = torch.eye(len(groups), dtype=torch.bool, device=groups.device)
    scores = (unit @ unit.T / CONTRAST_TEMPERATURE).masked_fill(itself, -1e4)
    same = (groups[:, None] == groups[None, :]) & ~itself
    each = torch.log_softmax(scores, dim=-1).masked_fill(~same, 0).sum(-1) / same.sum(-1).clamp(min=1)
    return -each.mean()
