"""A compact re-implementation of the Qwen3 decoder, for fast training on CPU or one GPU.

Parameter names equal those of Hugging Face's ``Qwen3ForCausalLM``, so exporting is only a matter of writing the
state dictionary (``export.py`` also checks that both give the same logits). Differences are about speed alone:
rows hold several packed documents (``document`` numbers keep them apart in the attention mask) and logits are
computed only at the positions that carry a loss.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .examples import Batch
from .losses import CONTRAST_WEIGHT, TokenLosses, compile_losses, contrast


BLOCK = 128  # queries that attend together


@dataclass(frozen=True)
class ModelConfig:
    """Sizes of the decoder; the names follow Hugging Face's ``Qwen3Config``."""

    vocab_size: int = 4096
    hidden_size: int = 256
    num_hidden_layers: int = 5
    num_attention_heads: int = 4
    head_dim: int = 64
    intermediate_size: int = 512
    rope_theta: float = 500_000.0
    rms_norm_eps: float = 1e-6
    max_position_embeddings: int = 2048
    #: Initial product of the query and key norm weights: larger means sharper attention from the start.
    qk_norm_gain: float = 4.0

    def as_dict(self) -> dict:
        return asdict(self)


class RMSNorm(nn.Module):
    """Root-mean-square norm, computed in float32 whatever the activations' type."""

    def __init__(self, size: int, eps: float, initial: float = 1.0):
        super().__init__()
        self.weight = nn.Parameter(torch.full((size,), initial))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        wide = x.float()
        wide = wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + self.eps)
        return (wide * self.weight).to(x.dtype)


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary position embedding in the "rotate half" layout."""
    low, high = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-high, low), dim=-1) * sin


class Attention(nn.Module):
    def __init__(self, config: ModelConfig):
        super().__init__()
        self.heads, self.head_dim = config.num_attention_heads, config.head_dim
        inner = self.heads * self.head_dim
        self.q_proj = nn.Linear(config.hidden_size, inner, bias=False)
        self.k_proj = nn.Linear(config.hidden_size, inner, bias=False)
        self.v_proj = nn.Linear(config.hidden_size, inner, bias=False)
        self.o_proj = nn.Linear(inner, config.hidden_size, bias=False)
        initial = config.qk_norm_gain**0.5
        self.q_norm = RMSNorm(config.head_dim, config.rms_norm_eps, initial)
        self.k_norm = RMSNorm(config.head_dim, config.rms_norm_eps, initial)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor, mask: Tensor, cache: tuple[Tensor, Tensor] | None):
        batch, length, _ = x.shape
        split = (batch, length, self.heads, self.head_dim)
        query = rotate(self.q_norm(self.q_proj(x).view(split)), cos, sin).transpose(1, 2)
        key = rotate(self.k_norm(self.k_proj(x).view(split)), cos, sin).transpose(1, 2)
        value = self.v_proj(x).view(split).transpose(1, 2)
        if cache is not None:
            key, value = torch.cat((cache[0], key), dim=2), torch.cat((cache[1], value), dim=2)
        mixed = attend(query * self.head_dim**-0.5, key, value, mask).transpose(1, 2).reshape(batch, length, -1)
        return self.o_proj(mixed), (key, value)


def attend(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
    """Attention written out, which is faster on CPU than the library's fused one once it is compiled.

    A block of queries looks at the keys up to its own end alone, which spares nearly half of the work.
    """
    length, before = query.shape[2], key.shape[2] - query.shape[2]
    mixed: list[Tensor] = []
    for start in range(0, length, BLOCK):
        end = min(start + BLOCK, length)
        scores = torch.matmul(query[:, :, start:end], key[:, :, : before + end].transpose(2, 3)) + mask[:, :, start:end, : before + end]
        mixed.append(torch.matmul(torch.softmax(scores, dim=-1), value[:, :, : before + end]))
    return torch.cat(mixed, dim=2)


class FeedForward(nn.Module):
    def __init__(self, config: ModelConfig):
        super().__init__()
        self.gate_proj = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.up_proj = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.down_proj = nn.Linear(config.intermediate_size, config.hidden_size, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class Layer(nn.Module):
    def __init__(self, config: ModelConfig):
        super().__init__()
        self.input_layernorm = RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.self_attn = Attention(config)
        self.post_attention_layernorm = RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.mlp = FeedForward(config)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor, mask: Tensor, cache: tuple[Tensor, Tensor] | None = None):
        attended, cache = self.self_attn(self.input_layernorm(x), cos, sin, mask, cache)
        x = x + attended
        return x + self.mlp(self.post_attention_layernorm(x)), cache


class Trunk(nn.Module):
    """Embedding and layers, named ``model`` in Qwen3's state dictionary."""

    def __init__(self, config: ModelConfig):
        super().__init__()
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layers = nn.ModuleList(Layer(config) for _ in range(config.num_hidden_layers))
        self.norm = RMSNorm(config.hidden_size, config.rms_norm_eps)

    def forward(self, ids: Tensor, cos: Tensor, sin: Tensor, mask: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        """What the last layer gives, and what the one in the middle does."""
        x = middle = self.embed_tokens(ids).to(dtype)
        for number, layer in enumerate(self.layers):
            x, _ = layer(x, cos, sin, mask)
            if number == len(self.layers) // 2:
                middle = x
        return x, middle


class Decoder(nn.Module):
    def __init__(self, config: ModelConfig):
        super().__init__()
        self.config = config
        #: Of the activations and of the products; the weights are float32.
        self.dtype = torch.float32
        self.model = Trunk(config)
        self.register_buffer("frequencies", rotary_frequencies(config), persistent=False)
        self.use_trunk(self.model)

    def use_trunk(self, trunk) -> None:
        # Set past nn.Module's registry: a compiled trunk has the same parameters, which must not be listed twice.
        object.__setattr__(self, "run_trunk", trunk)

    def compile(self) -> None:
        self.use_trunk(torch.compile(self.model, dynamic=False))
        compile_losses()

    def rotary(self, positions: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        angles = positions.float().unsqueeze(-1) * self.frequencies
        angles = torch.cat((angles, angles), dim=-1).unsqueeze(-2)
        return angles.cos().to(dtype), angles.sin().to(dtype)

    def logits(self, hidden: Tensor) -> Tensor:
        return F.linear(self.model.norm(hidden), self.model.embed_tokens.weight.to(hidden.dtype))

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Logits at the flat positions ``batch.select`` of packed rows, and the middle layer's output at ``batch.ends``.

        A token sees the earlier tokens of its document that stand before all branches or in its own branch.
        """
        dtype = self.dtype
        document, branch = batch.document, batch.branch
        allowed = (document[:, :, None] == document[:, None, :]).tril()
        allowed &= (branch[:, None, :] == 0) | (branch[:, :, None] == branch[:, None, :])
        mask = torch.zeros(allowed.shape, dtype=dtype, device=allowed.device).masked_fill_(~allowed, -1e4)[:, None]
        cos, sin = self.rotary(batch.position, dtype)
        with torch.autocast(mask.device.type, dtype, enabled=dtype != torch.float32):
            hidden, middle = (part.reshape(-1, self.config.hidden_size) for part in self.run_trunk(batch.ids, cos, sin, mask, dtype))
            return self.logits(hidden[batch.select]), middle[batch.ends].float()

    def loss(self, batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
        """The weighted mean cross-entropy of a batch, with the contrast of its questions added; which targets are the likeliest tokens;
        and the questions' ends."""
        logits, ends = self(batch)
        each, right = TokenLosses.apply(logits, batch.targets)
        loss = (each * batch.weights).sum() / batch.weights.sum().clamp(min=1)
        if len(ends):
            loss = loss + CONTRAST_WEIGHT * contrast(ends, batch.groups)
        return loss, right, ends


def rotary_frequencies(config: ModelConfig) -> Tensor:
    steps = torch.arange(0, config.head_dim, 2).float() / config.head_dim
    return 1.0 / config.rope_theta**steps
