"""Measures training steps beside plain transformers and PEFT on the same rows: tokens per second, and their share of
what the GPU can multiply (MFU).

    python -m engraft_trainer.bench --model DIR [--tokens 4096] [--length 512] [--steps 20] [--peak-tflops 989]

A token takes 4 N floating-point operations for N weights of the layers and the head, since frozen weights need no
gradients, and 6 · layers · width · length for attention, which sees half of a row. Layers computed again do not
count. Both run in bfloat16 where there is a GPU, and in turns, so that neither has the cooler card.
"""

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path

import torch
from accelerate import Accelerator
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, PreTrainedModel

from .checkpoint import load_model
from .settings import DTYPES
from .training import Base, Training
from .wire import Opening, Optimizer, Run

PROJECTIONS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
# Dense bfloat16, as the makers state it.
PEAK_TFLOPS = {"H200": 989, "H100": 989, "A100": 312, "L40S": 362, "L4": 121, "A10": 125, "4090": 165, "B200": 2250}
ROUNDS = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--tokens", type=int, default=4096, help="in a step")
    parser.add_argument("--length", type=int, default=512, help="of a sequence")
    parser.add_argument("--steps", type=int, default=20, help="in a round")
    parser.add_argument("--rank", type=int, default=8)
    parser.add_argument("--peak-tflops", type=float, help="by default from the name of the GPU")
    parser.add_argument("--gradient-checkpointing", action=argparse.BooleanOptionalAction, default=False)
    given = parser.parse_args()
    accelerator = Accelerator()
    on_gpu = accelerator.device.type == "cuda"
    dtype = DTYPES["bfloat16" if on_gpu else "float32"]
    rows = max(1, given.tokens // given.length)
    ours, model = trainer_step(given, accelerator, dtype, rows)
    theirs = plain_step(given, accelerator, dtype, rows)
    flops = flops_per_token(model, given.length)
    peak = given.peak_tflops or peak_of(accelerator.device)
    seconds: dict[str, list[float]] = {"trainer": [], "transformers+peft": []}
    for _ in range(ROUNDS + 1):
        for name, step in (("trainer", ours), ("transformers+peft", theirs)):
            seconds[name].append(measure(step, given.steps, accelerator.device))
    for name, each in seconds.items():
        # The first round warms up.
        tokens_per_second = rows * given.length * given.steps / min(each[1:])
        share = None if peak is None else tokens_per_second * flops / (peak * 1e12)
        print(json.dumps({"what": name, "tokens_per_second": round(tokens_per_second), "mfu": share}))


def trainer_step(
    given: argparse.Namespace, accelerator: Accelerator, dtype: torch.dtype, rows: int
) -> tuple[Callable[[], object], PreTrainedModel]:
    model = load_model(given.model, dtype, accelerator.device, given.gradient_checkpointing)
    modules = [(n, m) for n, m in model.named_modules() if n.split(".")[-1] in PROJECTIONS]
    tensors = {}
    for name, module in modules:
        key = f"base_model.model.{name}"
        tensors[f"{key}.lora_A.weight"] = torch.randn(given.rank, module.in_features) / module.in_features
        tensors[f"{key}.lora_B.weight"] = torch.zeros(module.out_features, given.rank)
    opening = Opening("", lora_settings(given.rank), Optimizer((0.9, 0.999), 0.0, 1.0, 0), True, [])
    training = Training(Base(model, dtype, accelerator), opening, tensors)
    run = random_run(rows, given.length, model.config.vocab_size)
    return lambda: training.step([run], 1e-4), model


def plain_step(
    given: argparse.Namespace, accelerator: Accelerator, dtype: torch.dtype, rows: int
) -> Callable[[], object]:
    """As PEFT's own examples train: the model's own loss, autocast, and AdamW."""
    model = AutoModelForCausalLM.from_pretrained(given.model, dtype=dtype, local_files_only=True)
    model.config.use_cache = False
    if given.gradient_checkpointing:
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    peft_model = get_peft_model(model, LoraConfig(**lora_settings(given.rank))).to(accelerator.device).train()
    optimizer = torch.optim.AdamW([each for each in peft_model.parameters() if each.requires_grad], lr=1e-4)
    run = random_run(rows, given.length, model.config.vocab_size)
    ids = torch.tensor(run.ids, device=accelerator.device).reshape(rows, given.length)

    def step() -> None:
        optimizer.zero_grad()
        with torch.autocast(accelerator.device.type, torch.bfloat16, enabled=dtype == torch.bfloat16):
            loss = peft_model(input_ids=ids, labels=ids).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(peft_model.parameters(), 1.0)
        optimizer.step()

    return step


def lora_settings(rank: int) -> dict:
    return {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "bias": "none",
        "r": rank,
        "lora_alpha": 2 * rank,
        "lora_dropout": 0,
        "target_modules": PROJECTIONS,
    }


def random_run(rows: int, length: int, vocabulary: int) -> Run:
    """Every token but the first of a row is a target, as in the plain loss."""
    ids = torch.randint(vocabulary, (rows, length), generator=torch.Generator().manual_seed(1))
    positions = [row * length + place for row in range(rows) for place in range(length - 1)]
    targets = ids[:, 1:].flatten().tolist()
    ones = [1] * (rows * length)
    count = len(targets)
    places = list(range(length)) * rows
    certain, alike = [1.0] * count, [1 / count] * count
    return Run(
        rows, length, False, ids.flatten().tolist(), ones, ones, places, positions, targets, certain, alike
    )


def flops_per_token(model: PreTrainedModel, length: int) -> float:
    linear = [m for name, m in model.named_modules() if isinstance(m, torch.nn.Linear) and ".lora_" not in name]
    weights = sum(module.weight.numel() for module in linear)
    config = model.config
    heads = config.num_attention_heads
    width = heads * (getattr(config, "head_dim", None) or config.hidden_size // heads)
    return 4 * weights + 6 * config.num_hidden_layers * width * length


def peak_of(device: torch.device) -> float | None:
    if device.type != "cuda":
        return None
    name = torch.cuda.get_device_name(device)
    return next((peak for key, peak in PEAK_TFLOPS.items() if key in name), None)


def measure(step: Callable[[], object], steps: int, device: torch.device) -> float:
    if device.type == "cuda":
        torch.cuda.synchronize()
    started = time.perf_counter()
    for _ in range(steps):
        step()
    if device.type == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
