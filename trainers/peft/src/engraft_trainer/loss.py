"""The loss of a run, and what it takes: rows as tensors, the mask, and the head at the supervised positions only."""

from dataclasses import dataclass

import torch
from transformers import PreTrainedModel

from .errors import TrainerError
from .wire import Run


@dataclass(frozen=True)
class Rows:
    ids: torch.Tensor
    # None where each row is one sequence, padded on the right: then the model's own causal mask is right, and fast.
    mask: dict[str, torch.Tensor] | torch.Tensor | None
    places: torch.Tensor | None


def loss_of(model: PreTrainedModel, run: Run, dtype: torch.dtype) -> torch.Tensor:
    """`- Σ weight Σ probability · log softmax(logits)[id]` over the supervised positions."""
    device = model.device
    vocabulary = model.config.vocab_size
    if max(run.ids) >= vocabulary or max(run.target_ids) >= vocabulary:
        raise TrainerError("invalid_request", f"tokens must be below {vocabulary}")
    rows = lay_out(model, run)
    with torch.autocast(device.type, dtype=torch.bfloat16, enabled=dtype == torch.bfloat16):
        states = model.model(
            input_ids=rows.ids, attention_mask=rows.mask, position_ids=rows.places, use_cache=False
        ).last_hidden_state
        chosen = states.flatten(0, 1)[torch.tensor(run.positions, device=device)]
        logits = model.lm_head(chosen)
    logprobs = torch.log_softmax(logits.float(), dim=-1)
    shape = (len(run.positions), -1)
    target_ids = torch.tensor(run.target_ids, device=device).reshape(shape)
    probabilities = torch.tensor(run.target_probabilities, device=device, dtype=torch.float32).reshape(shape)
    weights = torch.tensor(run.weights, device=device, dtype=torch.float32)
    picked = (logprobs.gather(1, target_ids) * probabilities).sum(dim=1)
    return -(picked * weights).sum()


def lay_out(model: PreTrainedModel, run: Run) -> Rows:
    def tensor(numbers: list[int]) -> torch.Tensor:
        return torch.tensor(numbers, device=model.device).reshape(run.rows, run.length)

    if not run.packed:
        return Rows(tensor(run.ids), None, None)
    segments, trunks, places = tensor(run.segments), tensor(run.trunks), tensor(run.places)
    own, seen = segments[:, :, None], segments[:, None, :]
    index = torch.arange(run.length, device=model.device)
    visible = ((own == seen) | (trunks[:, :, None] == seen)) & (index[:, None] >= index[None, :])
    full = visible[:, None]
    window = getattr(model.config, "sliding_window", None)
    if window is None:
        return Rows(tensor(run.ids), full, places)
    # Distances are those within a sequence: others may lie between it and the one that it continues.
    near = full & (places[:, None, :, None] - places[:, None, None, :] < window)
    types = getattr(model.config, "layer_types", None)
    # Qwen has a mask for each type of layer, Mistral one for all.
    mask = near if types is None else {"full_attention": full, "sliding_attention": near}
    return Rows(tensor(run.ids), mask, places)
