"""Write a checkpoint as a Hugging Face Qwen3 model and check that transformers computes the same logits.

    python -m recipe.export --name base [--folder models/base] [--dtype float32] [--average FOLDER]

`--average models/base` writes the mean of the run's weights and of those that it started from. What a run forgot comes back, and most of what it
learned stays (Wortsman et al., "Model soups", arXiv:2203.05482; Ilharco et al., "Patching", arXiv:2208.05592).
"""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor

from .grow import exported
from .model import Decoder, ModelConfig
from .paths import BASE, CHECKPOINTS


def load(name: str) -> Decoder:
    """The model of a run's last checkpoint."""
    saved = torch.load(CHECKPOINTS / name / "last.pt", map_location="cpu")
    model = Decoder(ModelConfig(**saved["config"]))
    model.load_state_dict(saved["model"])
    return model.eval()


@torch.no_grad()
def averaged(model: Decoder, other: Decoder) -> Decoder:
    """The mean of two models' weights; ValueError when they are not of the same size."""
    if model.config != other.config:
        raise ValueError(f"only models of one size can be averaged: {model.config} and {other.config}")
    mean = Decoder(model.config)
    theirs = other.state_dict()
    mean.load_state_dict({name: (value + theirs[name]) / 2 for name, value in model.state_dict().items()})
    return mean.eval()


def huggingface_config(config: ModelConfig, dtype: str) -> dict:
    return {
        "architectures": ["Qwen3ForCausalLM"],
        "model_type": "qwen3",
        "vocab_size": config.vocab_size,
        "hidden_size": config.hidden_size,
        "intermediate_size": config.intermediate_size,
        "num_hidden_layers": config.num_hidden_layers,
        "num_attention_heads": config.num_attention_heads,
        "num_key_value_heads": config.num_attention_heads,
        "head_dim": config.head_dim,
        "hidden_act": "silu",
        "max_position_embeddings": config.max_position_embeddings,
        "rms_norm_eps": config.rms_norm_eps,
        "rope_theta": config.rope_theta,
        "rope_scaling": None,
        "attention_bias": False,
        "attention_dropout": 0.0,
        "use_sliding_window": False,
        "sliding_window": None,
        "max_window_layers": config.num_hidden_layers,
        "tie_word_embeddings": True,
        "use_cache": True,
        "initializer_range": 0.02,
        "bos_token_id": None,
        "eos_token_id": 2,
        "pad_token_id": 0,
        "torch_dtype": dtype,
    }


def write(model: Decoder, folder: Path, dtype: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    tensors: dict[str, Tensor] = {
        name: value.to(getattr(torch, dtype)).contiguous() for name, value in model.state_dict().items()
    }
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "model.safetensors").chmod(0o644)
    config = huggingface_config(model.config, dtype)
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    generation = {"eos_token_id": [2], "pad_token_id": 0, "do_sample": False, "max_new_tokens": 256}
    (folder / "generation_config.json").write_text(json.dumps(generation, indent=2) + "\n")
    for name in ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja"):
        if not (folder / name).exists():
            shutil.copyfile(BASE / name, folder / name)


@torch.no_grad()
def check(model: Decoder, folder: Path) -> float:
    """The largest difference between this recipe's float32 logits and those of transformers."""
    from transformers import AutoTokenizer, Qwen3ForCausalLM

    other = Qwen3ForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    messages = [
        {"role": "system", "content": "Answer from this passage.\n\nMira Voss runs the mill. It opened in 1877."},
        {"role": "user", "content": "When did the mill open?"},
    ]
    text = tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
    ids = torch.tensor([tokenizer.encode(text, add_special_tokens=False)])
    length = ids.shape[1]
    cos, sin = model.rotary(torch.arange(length), torch.float32)
    mask = torch.full((1, 1, length, length), -1e9).triu(1)
    hidden, _ = model.model(ids, cos, sin, mask, torch.float32)
    mine = model.logits(hidden)
    return (mine - other(ids).logits).abs().max().item()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--name", default="base")
    parser.add_argument("--folder", type=Path, default=BASE)
    parser.add_argument("--dtype", choices=["float32", "bfloat16"], default="float32")
    parser.add_argument("--average", type=Path, metavar="FOLDER", help="exported weights to take the mean with")
    options = parser.parse_args()
    model = load(options.name)
    if options.average:
        model = averaged(model, exported(options.average))
    write(model, options.folder, options.dtype)
    difference = check(model, options.folder)
    size = (options.folder / "model.safetensors").stat().st_size
    print(f"{size / 1e6:.1f} MB, largest difference from transformers {difference:.2g}")
    assert difference < (1e-3 if options.dtype == "float32" else 0.5)


if __name__ == "__main__":
    main()
