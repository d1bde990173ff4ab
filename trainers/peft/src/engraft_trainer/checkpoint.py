"""The base model: its identity, and its weights in memory."""

import hashlib
import json
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, PreTrainedModel

# As the engine reads them. The identity is made of these files, so it must name the same ones in the same order.
REQUIRED = ("config.json", "tokenizer.json")
OPTIONAL = (
    "generation_config.json",
    "tokenizer_config.json",
    "added_tokens.json",
    "chat_template.jinja",
    "additional_chat_templates/tool_use.jinja",
    "chat_template.json",
)
WEIGHTS = "model.safetensors"
INDEX = "model.safetensors.index.json"


def content_hash(folder: Path) -> str:
    """`sha256:<hex>` over a line `<sha256>  <name>` for each file, as `describe` of the engine gives it."""
    total = hashlib.sha256()
    for name in (*REQUIRED, *OPTIONAL, *weight_files(folder)):
        path = folder / name
        if name in OPTIONAL and not path.exists():
            continue
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        total.update(f"{digest}  {name}\n".encode())
    return f"sha256:{total.hexdigest()}"


def weight_files(folder: Path) -> list[str]:
    """One file or several shards, in alphabetical order."""
    if (folder / WEIGHTS).exists() or not (folder / INDEX).exists():
        return [WEIGHTS]
    index = json.loads((folder / INDEX).read_text("utf-8"))
    return sorted(set(index["weight_map"].values()))


def load_model(folder: Path, dtype: torch.dtype, device: torch.device, checkpointing: bool) -> PreTrainedModel:
    """The frozen base model, ready to be trained on."""
    model = AutoModelForCausalLM.from_pretrained(
        folder, dtype=dtype, attn_implementation="sdpa", local_files_only=True, use_safetensors=True
    )
    model.config.use_cache = False
    model.config.attention_dropout = 0.0
    model.requires_grad_(False)
    model.to(device)
    if checkpointing:
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    # Checkpointing takes place in training mode only. There is no dropout that the mode could switch on.
    model.train()
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
        if hasattr(module, "attention_dropout"):
            module.attention_dropout = 0.0
    return model
