"""Batched decoding with a key/value cache, for evaluation and for the adapter experiments."""

from __future__ import annotations

import torch
from torch import Tensor

from .examples import IM_END, PAD
from .model import Decoder


@torch.no_grad()
def generate(
    model: Decoder, prompts: list[list[int]], *, longest: int = 32, temperature: float = 0.0,
    generator: torch.Generator | None = None, batch: int = 32,
) -> list[list[int]]:  # fmt: skip
    """The continuation of every prompt up to the end of turn; greedy at temperature zero."""
    outputs: list[list[int]] = [[] for _ in prompts]
    order = sorted(range(len(prompts)), key=lambda index: len(prompts[index]))
    for start in range(0, len(order), batch):
        chosen = order[start : start + batch]
        for index, output in zip(chosen, _decode(model, [prompts[i] for i in chosen], longest, temperature, generator)):
            outputs[index] = output
    return outputs


def _decode(model: Decoder, prompts, longest, temperature, generator) -> list[list[int]]:
    width = max(len(prompt) for prompt in prompts)
    padding = torch.tensor([width - len(prompt) for prompt in prompts])
    ids = torch.tensor([[PAD] * (width - len(prompt)) + prompt for prompt in prompts])
    outputs: list[list[int]] = [[] for _ in prompts]
    finished = [False] * len(prompts)
    caches: list[tuple[Tensor, Tensor] | None] = [None] * len(model.model.layers)
    seen = 0
    for _ in range(longest):
        length = ids.shape[1]
        key_positions = torch.arange(seen + length)
        query_positions = key_positions[seen:]
        hidden_keys = (key_positions[None, None, :] < padding[:, None, None]) | (key_positions > query_positions[:, None])
        mask = torch.zeros(hidden_keys.shape).masked_fill_(hidden_keys, -1e9)[:, None]
        cos, sin = model.rotary((query_positions - padding[:, None]).clamp(min=0), torch.float32)
        x = model.model.embed_tokens(ids)
        for number, layer in enumerate(model.model.layers):
            x, caches[number] = layer(x, cos, sin, mask, caches[number])
        seen += length
        logits = model.logits(x[:, -1])
        if temperature:
            following = torch.multinomial(torch.softmax(logits / temperature, -1), 1, generator=generator)
        else:
            following = logits.argmax(-1, keepdim=True)
        for row, token in enumerate(following[:, 0].tolist()):
            finished[row] = finished[row] or token == IM_END
            if not finished[row]:
                outputs[row].append(token)
        if all(finished):
            break
        ids = following
    return outputs
