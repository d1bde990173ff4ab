"""Input directions that training leaves alone, as the engine finds and protects them.

See `protectedDirections.ts` and `updateProjection.ts` of the engine, which say why (Saha et al., arXiv:2103.09762).
The numbers and the order of random draws are the same, so the directions are, too, within rounding.
"""

from copy import copy
from functools import lru_cache

import numpy as np
import torch

from .adapter import Adapter, lora_inputs
from .errors import TrainerError
from .xoshiro import Random

MAX_DIRECTIONS = 16
MAX_SAMPLED_TOKENS = 512
MAX_PROTECTED_SHARE = 0.25
ITERATIONS = 8
MIN_REMAINDER = 1e-5
MAX_GROWTH = 4
SHARED_INPUTS = {"q_proj": "heads", "k_proj": "heads", "v_proj": "heads", "gate_proj": "gated", "up_proj": "gated"}


class UpdateProjection:
    """Keeps optimizer steps out of the directions of each A."""

    def __init__(self, adapter: Adapter, sequences: list[list[int]]) -> None:
        inputs = sample_inputs(adapter, sequences)
        found = {group: leading_directions(rows) for group, rows in inputs.items()}
        names = (name for name in adapter.matrices if ".lora_A." in name)
        self._parts: list[tuple[torch.nn.Parameter, torch.Tensor, float]] = [
            (adapter.matrices[name], *found[input_group(name)]) for name in names
        ]

    @torch.no_grad()
    def clear_directions(self) -> None:
        """For a fresh adapter: removes its parts along the directions, and scales up the rest."""
        for matrix, directions, share in self._parts:
            growth = min(MAX_GROWTH, max(1 - share, 1e-30) ** -0.5)
            matrix.copy_(without(matrix, directions) * growth)

    @torch.no_grad()
    def step(self, optimizer: torch.optim.Optimizer) -> None:
        """An optimizer step, except for its part along the directions."""
        before = [matrix.clone() for matrix, _, _ in self._parts]
        optimizer.step()
        for (matrix, directions, _), then in zip(self._parts, before, strict=True):
            matrix.copy_(then + without(matrix - then, directions))


def input_group(name: str) -> str:
    """Projections of the same input have the same group."""
    block, _, projection = name.removesuffix(".lora_A.weight").rpartition(".")
    return f"{block}.{SHARED_INPUTS.get(projection, projection)}"


def without(rows: torch.Tensor, directions: torch.Tensor) -> torch.Tensor:
    return rows - (rows @ directions.T) @ directions


@torch.no_grad()
def sample_inputs(adapter: Adapter, sequences: list[list[int]]) -> dict[str, torch.Tensor]:
    """Inputs `[tokens, width]` of the adapted projections in the base model, by `input_group`."""
    total = sum(len(tokens) for tokens in sequences)
    if total == 0:
        raise TrainerError("invalid_request", "the protected texts hold no token")
    count = min(MAX_SAMPLED_TOKENS, total)
    pieces: dict[str, list[torch.Tensor]] = {}
    positions: list[int] = []

    def keep(group: str):
        pieces[group] = []

        def hook(_module: torch.nn.Module, args: tuple[torch.Tensor, ...]) -> None:
            pieces[group].append(args[0][0, positions].float())

        return hook

    firsts: dict[str, torch.nn.Module] = {}
    for name, module in lora_inputs(adapter).items():
        firsts.setdefault(input_group(name), module)
    hooks = [module.register_forward_pre_hook(keep(group)) for group, module in firsts.items()]
    base = adapter.model.get_base_model()
    try:
        with adapter.model.disable_adapter():
            seen = 0
            for tokens in sequences:
                positions = [
                    index
                    for index in range(len(tokens))
                    if (seen + index + 1) * count // total > (seen + index) * count // total
                ]
                seen += len(tokens)
                if positions:
                    base.model(input_ids=torch.tensor([tokens], device=base.device), use_cache=False)
    finally:
        for hook in hooks:
            hook.remove()
    return {group: torch.cat(parts) for group, parts in pieces.items()}


@torch.no_grad()
def leading_directions(rows: torch.Tensor) -> tuple[torch.Tensor, float]:
    """Orthonormal rows that hold about the most of the inputs, and the share of their sum of squares."""
    height, width = rows.shape
    count = max(1, min(MAX_DIRECTIONS, height, int(MAX_PROTECTED_SHARE * width)))
    drawn, random = _first_draws(count * width)
    directions = torch.tensor(drawn, dtype=torch.float32, device=rows.device).reshape(count, width)
    for _ in range(ITERATIONS):
        directions = _orthonormal(directions, random)
        directions = (directions @ rows.T) @ rows
    directions = _orthonormal(directions, random)
    held = (directions * ((directions @ rows.T) @ rows)).sum().item()
    return directions, min(1.0, held / max(rows.square().sum().item(), 5e-324))


@lru_cache(maxsize=8)
def _draws(count: int) -> tuple[list[float], Random]:
    random = Random(1)
    return [random.next() - 0.5 for _ in range(count)], random


def _first_draws(count: int) -> tuple[list[float], Random]:
    """Every projection begins with the same numbers, and may draw more of its own."""
    drawn, random = _draws(count)
    return drawn, copy(random)


def _orthonormal(rows: torch.Tensor, random: Random) -> torch.Tensor:
    """Gram and Schmidt, twice, in the order of the rows. A row that is nearly lost starts again at random."""
    # Many small steps that wait for each other, at which NumPy is fastest.
    result = rows.double().cpu().numpy()
    if not np.isfinite(result).all():
        raise TrainerError("not_finite", "the model computed a number that is not finite")
    for index, row in enumerate(result):
        others = result[:index]
        while True:
            before = np.linalg.norm(row)
            for _ in range(2):
                row = row - (others @ row) @ others
            if np.linalg.norm(row) > MIN_REMAINDER * before:
                break
            row = np.array([random.next() - 0.5 for _ in range(len(row))])
        result[index] = row / np.linalg.norm(row)
    return torch.from_numpy(result).to(rows.device, torch.float32)
