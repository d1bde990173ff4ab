"""A tiny random model, and a trainer on it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from accelerate import Accelerator
from safetensors.torch import save
from transformers import LlamaConfig, LlamaForCausalLM

from engraft_trainer.checkpoint import load_model
from engraft_trainer.training import Base
from engraft_trainer.wire import read_opening

torch.set_num_threads(1)
RANK = 2
PROJECTIONS = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    torch.manual_seed(1)
    config = LlamaConfig(
        vocab_size=64,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=3,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=128,
        initializer_range=0.5,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    (folder / "tokenizer.json").write_text("{}")
    return folder


@pytest.fixture
def base(model_folder) -> Base:
    accelerator = Accelerator(cpu=True)
    return Base(load_model(model_folder, torch.float32, accelerator.device, False), torch.float32, accelerator)


def fresh_matrices(base: Base, first_layer: int = 0) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    tensors = {}
    for name, module in base.model.named_modules():
        if not name.endswith(PROJECTIONS) or int(name.split(".")[2]) < first_layer:
            continue
        key = f"base_model.model.{name}"
        tensors[f"{key}.lora_A.weight"] = torch.randn(RANK, module.in_features, generator=generator) * 0.1
        tensors[f"{key}.lora_B.weight"] = torch.zeros(module.out_features, RANK)
    return tensors


def opening_bytes(tensors: dict[str, torch.Tensor], model: str = "sha256:x", **changes) -> bytes:
    session = {
        "model": model,
        "adapter_config": {
            "peft_type": "LORA",
            "task_type": "CAUSAL_LM",
            "bias": "none",
            "r": RANK,
            "lora_alpha": 4,
            "lora_dropout": 0,
            "target_modules": list(PROJECTIONS),
            **changes.pop("adapter_config", {}),
        },
        "optimizer": {"betas": [0.9, 0.99], "weight_decay": 0.01, "clip_norm": 1, "steps": 0},
        "is_fresh": True,
        "protected": [],
        **changes,
    }
    return save(tensors, metadata={"session": json.dumps(session)})


def opened(base: Base, tensors: dict[str, torch.Tensor], **changes):
    return read_opening(opening_bytes(tensors, **changes))


def run_of(tokens: list[int], target_start: int, share: float = 1.0) -> dict:
    """One sequence, whose targets are the tokens from `target_start` on."""
    count = len(tokens) - target_start
    return {
        "rows": 1,
        "length": len(tokens),
        "packed": False,
        "ids": tokens,
        "segments": [1] * len(tokens),
        "trunks": [1] * len(tokens),
        "places": list(range(len(tokens))),
        "positions": list(range(target_start - 1, len(tokens) - 1)),
        "target_ids": tokens[target_start:],
        "target_probabilities": [1.0] * count,
        "weights": [share / count] * count,
    }


@pytest.fixture
def start_trainer(model_folder):
    """Starts a trainer in a process of its own, with one process or more, and gives its address."""
    started = []

    def start(*flags: str, processes: int = 1, script: Path | None = None) -> tuple[str, subprocess.Popen]:
        program = ["-m", "engraft_trainer"] if script is None else [str(script)]
        trainer = [*program, "--model", str(model_folder), "--port", "0", *flags]
        # What `accelerate launch` runs for several GPUs. For several processors it would need MPI.
        launch = ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node", str(processes)]
        command = [sys.executable, *trainer] if processes == 1 else [sys.executable, *launch, *trainer]
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "ACCELERATE_USE_CPU": "true"}
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        started.append(process)
        for line in process.stdout:
            if "listening on " in line:
                return line.split("listening on ")[1].strip(), process
        raise AssertionError("the trainer ended")

    yield start
    for process in started:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
