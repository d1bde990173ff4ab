"""Start a larger decoder from the weights of a smaller one, so that it computes the same at first.

New layers are appended with zero output projections, and new feed-forward units with zero outputs, after Chen et al.,
"Net2Net" (2016).
"""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

import torch
from safetensors.torch import load_file

from .model import Decoder, ModelConfig


def exported(folder: Path) -> Decoder:
    """A model that ``export`` has written."""
    known = {field.name for field in fields(ModelConfig)}
    config = {name: value for name, value in json.loads((folder / "config.json").read_text()).items() if name in known}
    model = Decoder(ModelConfig(**config))
    model.load_state_dict({name: value.float() for name, value in load_file(folder / "model.safetensors").items()})
    return model


@torch.no_grad()
def grow(model: Decoder, small: Decoder) -> None:
    """Give ``model`` the function of ``small``; it may have more layers and wider feed-forward parts."""
    state, smaller = model.state_dict(), small.state_dict()
    for name, value in state.items():
        if name in smaller:
            slices = tuple(slice(0, size) for size in smaller[name].shape)
            if "down_proj" in name:
                value.zero_()
            elif value.ndim == 2 and value.shape != smaller[name].shape:
                value.normal_(std=0.6 * value.shape[1] ** -0.5)
            value[slices] = smaller[name]
        elif "o_proj" in name or "down_proj" in name:
            value.zero_()
        elif value.ndim == 2:
            value.normal_(std=0.6 * value.shape[1] ** -0.5)
