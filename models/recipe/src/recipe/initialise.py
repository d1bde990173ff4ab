"""Start the weights with the circuits that reading needs.

A small decoder that starts from random weights stays at chance for millions of tokens on "which of these facts
answers the question?". This initialisation gives it approximate versions of the heads that such models grow at
last, and training then sharpens them:

* layer 0 looks at positions: one token back, two tokens back, and two "local bags" (an average over a short and a
  long neighbourhood). They are built from the rotary embedding acting on one constant embedding dimension.
* every later layer has two induction heads (find an earlier token whose predecessors equal mine, and copy what
  follows) and two bag-matching heads (find a place with a similar neighbourhood), all copying by an identity map.

The residual stream starts as: dimension 0 constant, the first half token identity, the second half one slice per
head of layer 0. The architecture is untouched; only the starting point differs.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from .model import Attention, Decoder, rotary_frequencies

CONSTANT = 0.5  # the embedding's constant dimension
INDUCTION_GAIN, BAG_GAIN = 1.5, 2.0


def orthogonal(rows: int, columns: int) -> Tensor:
    """``rows`` orthonormal vectors of ``columns`` dimensions."""
    return torch.linalg.qr(torch.randn(columns, rows))[0].T


@torch.no_grad()
def initialise(model: Decoder) -> None:
    config = model.config
    size, heads = config.hidden_size, config.num_attention_heads
    scale = 0.8 * size**-0.5
    residual_scale = (2 * config.num_hidden_layers) ** -0.5
    for layer in model.model.layers:
        attention, mlp = layer.self_attn, layer.mlp
        for linear in (attention.q_proj, attention.k_proj, attention.v_proj, mlp.gate_proj, mlp.up_proj):
            linear.weight.normal_(std=scale)
        for linear in (attention.o_proj, mlp.down_proj):
            linear.weight.normal_(std=0.8 * linear.in_features**-0.5 * residual_scale)

    identity = size // 2
    width = (size - identity) // heads
    embedding = model.model.embed_tokens.weight
    embedding.zero_()
    embedding[:, :identity].normal_(std=identity**-0.5)
    embedding[:, 0] = CONSTANT
    summary = orthogonal(width, identity)  # token identity -> slice, shared by all heads so that slices compare
    # What the constant dimension is worth after the first norm.
    constant = CONSTANT / math.sqrt(1 + CONSTANT**2) * math.sqrt(size)
    positional_layer(model.model.layers[0].self_attn, model, identity, width, summary, constant)
    for layer in model.model.layers[1:]:
        matching_layer(layer.self_attn, model, identity, width, summary, constant / 2.2)


def positional_layer(attention: Attention, model: Decoder, identity: int, width: int, summary: Tensor, constant: float):
    """Heads that look one and two tokens back, and heads that average short and long neighbourhoods."""
    config = model.config
    frequencies = rotary_frequencies(config)
    half, head_dim, size = config.head_dim // 2, config.head_dim, config.hidden_size
    fast = (frequencies > 0.08).float()
    short_bag = ((frequencies < 0.25) & (frequencies > 0.075)).float()
    long_bag = ((frequencies < 0.1) & (frequencies > 0.03)).float()
    # (offset, rotations used, sharpness, output gain)
    kinds = [(1.0, fast, 60.0, 2.0), (2.0, fast, 60.0, 2.0), (0.0, short_bag, 12.0, 4.0), (0.0, long_bag, 12.0, 7.0)]
    query, key = attention.q_proj.weight, attention.k_proj.weight
    value, output = attention.v_proj.weight, attention.o_proj.weight
    for head in range(config.num_attention_heads):
        offset, weights, sharpness, gain = kinds[head % 4]
        start = head * head_dim
        rows = slice(start, start + head_dim)
        for matrix in (query, key, value):
            matrix[rows] *= 0.05
        output[:, rows] *= 0.1
        # Constant query and key give the score  sharpness * mean over f of cos(f * (distance - offset)).
        amplitude = (weights / weights.sum() * sharpness * math.sqrt(head_dim)).sqrt() / constant
        key[start : start + half, 0] = amplitude
        key[start + half : start + head_dim, 0] = 0
        query[start : start + half, 0] = amplitude * torch.cos(-offset * frequencies)
        query[start + half : start + head_dim, 0] = amplitude * torch.sin(-offset * frequencies)
        value[start : start + width, :identity] += summary
        value[start : start + width, 0] = 0
        target = identity + head * width
        output[target : target + width, start : start + width] += torch.eye(width) * gain / math.sqrt(size)


def matching_layer(attention: Attention, model: Decoder, identity: int, width: int, summary: Tensor, constant: float):
    """Heads that find an equal token or a similar neighbourhood and copy the token found there."""
    config = model.config
    frequencies = rotary_frequencies(config)
    half, head_dim, size = config.head_dim // 2, config.head_dim, config.hidden_size
    previous = slice(identity, identity + width)
    before_previous = slice(identity + width, identity + 2 * width)
    long_bag = slice(identity + 3 * width, identity + 4 * width)
    query, key = attention.q_proj.weight, attention.k_proj.weight
    value, output = attention.v_proj.weight, attention.o_proj.weight
    for head in range(config.num_attention_heads):
        start = head * head_dim
        rows = slice(start, start + head_dim)
        for matrix in (query, key, value):
            matrix[rows] *= 0.3
        output[:, rows] *= 0.5
        query[rows, 0] = 0
        key[rows, 0] = 0
        # The slowest rotations hardly depend on the position: contents are compared there.
        used = min(width, half)
        pairs = range(half - (used + 1) // 2, half)
        slow = [start + index + part for index in pairs for part in (0, half)][:width]
        mixing = torch.linalg.qr(torch.randn(width, width))[0][: len(slow)]
        kind = ("induction", "second induction", "bag", "bag to previous")[head % 4]
        if kind == "induction":
            query[slow, :identity] += INDUCTION_GAIN * (mixing @ summary)
            key[slow, previous] += INDUCTION_GAIN * mixing
        elif kind == "second induction":
            query[slow, before_previous] += INDUCTION_GAIN * mixing
            key[slow, previous] += INDUCTION_GAIN * mixing
        elif kind == "bag":
            query[slow, long_bag] += BAG_GAIN * mixing
            key[slow, long_bag] += BAG_GAIN * mixing
        else:
            query[slow, long_bag] += BAG_GAIN * mixing
            key[slow, previous] += BAG_GAIN * mixing
        query[slow, 0] = 0
        key[slow, 0] = 0
        if "bag" in kind:  # push away from the own neighbourhood, which would always match best
            near = (frequencies < 0.1) & (frequencies > 0.03)
            weights = near.float() / near.sum()
            amplitude = (weights * 20.0 * math.sqrt(head_dim)).sqrt() / constant
            index = start + torch.arange(half)[near]
            key[index, 0] = amplitude[near]
            query[index, 0] = -amplitude[near]
        copied = min(head_dim, identity)
        copy = orthogonal(copied, identity)
        value[start : start + copied, :identity] += copy
        value[start : start + copied, 0] = 0
        output[:identity, start : start + copied] += copy.T * 2.0 / math.sqrt(size)
        output[0] = 0
