"""Input directions that training leaves alone, as the engine finds and protects them.

See `protectedDirections.ts` and `updateProjection.ts` of the engine, which say why (Saha et al., arXiv:2103.09762).
The numbers and the order of random draws are the same, so the directions are, too, within rounding.
"""

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
    random = Random(1)
    drawn = [random.next() - 0.5 for _ in range(count * width)]
    directions = torch.tensor(drawn, dtype=torch.float32, device=rows.device).reshape(count, width)
    for _ in range(ITERATIONS):
        directions = _orthonormal(directions, random)
        directions = (directions @ rows.T) @ rows
    directions = _orthonormal(directions, random)
    held = (directions * ((directions @ rows.T) @ rows)).sum().item()
    return directions, min(1.0, held / max(rows.square().sum().item(), 5e-324))


def _orthonormal(rows: torch.Tensor, random: Random) -> torch.Tensor:
    """Gram and Schmidt, twice, in the order of the rows. A row that is nearly lost starts again at random."""
    if not torch.isfinite(rows).all():
        raise TrainerError("internal", "the model computed a number that is not finite")
    # Many small steps that wait for each other: a processor is faster at these.
    result = rows.double().cpu()
    for index in range(len(result)):
        others = result[:index]
        row = result[index]
        while True:
            before = row.norm()
            for _ in range(2):
                row = row - (row @ others.T) @ others
            if row.norm() > MIN_REMAINDER * before:
                break
            drawn = [random.next() - 0.5 for _ in range(len(row))]
            row = torch.tensor(drawn, dtype=row.dtype)
        result[index] = row / row.norm()
    return result.to(rows.device, torch.float32)
