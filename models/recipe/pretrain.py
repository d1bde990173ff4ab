"""Pretrain the base model: first the synthetic binding curriculum, then the English tasks.

    python -m models.recipe.pretrain --name base --tokens 100e6 --processes 2

Resumes by itself from ``runs/<name>`` when that folder holds a checkpoint. All schedules count tokens, not seconds,
so a paused process does no harm.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import time
from dataclasses import replace
from pathlib import Path

import torch

from . import measures
from .examples import Batch
from .grow import exported, grow
from .initialise import initialise
from .losses import nearest_alike
from .model import Decoder, ModelConfig
from .muon import Muon
from .parallel import Workers
from .stream import Batches, Loaders, Stream
from .synthetic import LEVELS

RUNS = Path(__file__).parent / "runs"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--name", default="base")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tokens", type=float, default=100e6, help="tokens to train on in all")
    parser.add_argument("--decay", type=float, default=0.3, help="share of the tokens over which the rate falls")
    parser.add_argument("--rate", type=float, default=2e-3, help="learning rate")
    parser.add_argument("--optimiser", choices=("adamw", "muon"), default="adamw", help="of the layers' matrices; all else is always AdamW's")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--batch", type=int, default=2048, help="tokens per step and process")
    parser.add_argument("--save-every", type=int, default=100, help="steps between checkpoints")
    parser.add_argument("--world", type=float, default=0.87, help="share of English tasks once binding is mastered")
    parser.add_argument("--early-world", type=float, default=0.0, help="share of English tasks before that")
    parser.add_argument("--squad", help="SQuAD as gzipped JSON lines; empty: not used")
    parser.add_argument("--squad-share", type=float, default=0.4, help="share of SQuAD among the English chats")
    parser.add_argument("--texts-share", type=float, default=0.3, help="share of passages written whole among the English chats")
    parser.add_argument("--layers", type=int, help="by default as in --start")
    parser.add_argument("--intermediate", type=int, help="feed-forward width, by default as in --start")
    parser.add_argument("--start", type=Path, help="folder of an exported model of the same width to start from")
    parser.add_argument("--loaders", type=int, default=0, help="processes that make the data beside one that trains")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="save and stop after this time, to be resumed")
    parser.add_argument("--float32", action="store_true", help="products in float32: faster on a CPU without fast bfloat16")
    parser.add_argument("--compile", action=argparse.BooleanOptionalAction, default=True)
    return parser.parse_args()


def make_optimisers(model: Decoder, name: str, rate: float) -> list[torch.optim.Optimizer]:
    """AdamW for everything, or Muon for the layers' matrices, scaled so that AdamW's rate suits both."""
    matrices = [p for p in model.model.layers.parameters() if p.ndim == 2] if name == "muon" else []
    taken = {id(p) for p in matrices}
    rest = [p for p in model.parameters() if id(p) not in taken]
    groups = [
        {"params": [p for p in rest if p.ndim == 2], "weight_decay": 0.01},
        {"params": [p for p in rest if p.ndim != 2], "weight_decay": 0.0},
    ]
    optimisers: list[torch.optim.Optimizer] = [torch.optim.AdamW(groups, lr=rate, betas=(0.9, 0.98), fused=True)]
    if matrices:
        optimisers.append(Muon(matrices, rate, dtype=model.dtype))
    return optimisers


def learning_rate(options: argparse.Namespace, step: int, tokens: int) -> float:
    """Warm up over 20 steps, hold, fall linearly to 3 % over the last part."""
    left = max(0.0, 1 - tokens / options.tokens)
    return options.rate * min(1.0, (step + 1) / 20, max(0.03, left / max(options.decay, 1e-9)))


def answers_right(right: torch.Tensor, batch: Batch) -> torch.Tensor:
    """For each answer of the batch: whether every one of its tokens is the likeliest."""
    counts = torch.zeros(len(batch.kinds) + 1, device=right.device).index_add_(0, batch.owner, (~right).float())
    return counts[:-1] == 0


class Log:
    """Running means of loss and exact answers per kind of task, written as JSON lines."""

    def __init__(self, path: Path):
        self.path = path
        self.sums: dict[str, list[float]] = {}

    def add(self, kind: str, right: float, count: float) -> None:
        entry = self.sums.setdefault(kind, [0.0, 0.0])
        entry[0] += right
        entry[1] += count

    def write(self, **values) -> None:
        exact = {kind: round(right / count, 3) for kind, (right, count) in sorted(self.sums.items()) if count}
        self.sums = {}
        line = json.dumps({**values, "exact": exact})
        with self.path.open("a") as file:
            file.write(line + "\n")
        print(line, flush=True)


def held_out(model: Decoder) -> dict[str, float]:
    """Exact answers about names that are never trained, the same few questions each time; measured by a copy in float32, on the CPU."""
    copy = Decoder(model.config)
    copy.load_state_dict({name: value.detach().cpu() for name, value in model.state_dict().items()})
    reader = measures.Reader(copy)
    return {
        "reading": measures.reading(reader, 41, [3, 4, 5, 6], 40)["exact"],
        "several entities": measures.several_entities(reader, 42, [6, 8], 24)["exact"],
        "asking": measures.asking(reader, 43, 16)["both"],
    }


def keep_memory() -> None:
    """Have the C library keep freed memory: fetching a batch's hundreds of megabytes anew each step costs a fifth of the time."""
    try:
        library = ctypes.CDLL("libc.so.6")
    except OSError:
        return  # not Linux with glibc
    library.mallopt(-4, 0)  # M_MMAP_MAX
    library.mallopt(-1, 2**31 - 1)  # M_TRIM_THRESHOLD


def main() -> None:
    options = arguments()
    keep_memory()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if device.type == "cpu":
        torch.set_num_threads(1)
    else:
        options.processes = 1
    torch.manual_seed(options.seed)
    folder = RUNS / options.name
    folder.mkdir(parents=True, exist_ok=True)
    start = exported(options.start) if options.start else None
    sizes = start.config if start else ModelConfig()
    config = replace(
        sizes, num_hidden_layers=options.layers or sizes.num_hidden_layers,
        intermediate_size=options.intermediate or sizes.intermediate_size,
    )  # fmt: skip
    model = Decoder(config)
    if start:
        grow(model, start)
    else:
        initialise(model)
    model.to(device)
    model.dtype = torch.float32 if options.float32 else torch.bfloat16
    parameters = list(model.parameters())
    workers = Workers(options.processes, parameters, statistics=2 * len(LEVELS) + 2)
    optimisers = make_optimisers(model, options.optimiser, options.rate)
    stream: Batches = (
        Loaders(options, config.vocab_size, options.loaders) if options.loaders
        else Stream(options, workers.rank, config.vocab_size)
    )  # fmt: skip
    started, stopping = time.time(), False
    step = tokens = 0
    cpu_before = 0.0
    weights_file, data_file = folder / "last.pt", folder / f"data-{workers.rank}.pt"
    if weights_file.exists():
        saved = torch.load(weights_file, map_location=device)
        model.load_state_dict(saved["model"])
        for optimiser, state in zip(optimisers, saved["optimisers"], strict=True):
            optimiser.load_state_dict(state)
        step, tokens, cpu_before = saved["step"], saved["tokens"], saved["cpu_seconds"]
        stream.restore(torch.load(data_file, weights_only=False))
    if options.compile:
        model.compile()
    log = Log(folder / "log.jsonl")
    mean_loss, last_log = 0.0, (time.time(), tokens)
    scores: dict[str, float] = {}
    while tokens < options.tokens and not stopping:
        batch = stream.batch().to(device)
        loss, likeliest, ends = model.loss(batch)
        loss.backward()
        right = answers_right(likeliest, batch).tolist()
        if len(ends):
            log.add("alike", nearest_alike(ends.detach(), batch.groups).sum().item(), len(ends))
        statistics = torch.zeros(2 * len(LEVELS) + 2)  # per level: right and asked; then tokens and loss
        for kind, exact in zip(batch.kinds, right):
            log.add(kind, exact, 1)
            if kind.startswith("level "):
                level = int(kind[6:])
                statistics[2 * level] += exact
                statistics[2 * level + 1] += 1
        statistics[-2:] = torch.tensor([batch.tokens, loss.item()])
        statistics = workers.average(statistics)
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        rate = learning_rate(options, step, tokens)
        for optimiser in optimisers:
            for group in optimiser.param_groups:
                group["lr"] = rate
            optimiser.step()
            optimiser.zero_grad(set_to_none=True)
        for level in range(len(LEVELS)):
            right_count, count = statistics[2 * level].item(), statistics[2 * level + 1].item()
            if count:
                stream.curriculum.record(level, right_count / count, min(0.15, 0.15 * count / 60))
        step += 1
        tokens += int(statistics[-2])
        mean_loss += 0.05 * (statistics[-1].item() / workers.count - mean_loss)
        if step % 50 == 0 and workers.rank == 0:
            now = time.time()
            speed = (tokens - last_log[1]) / (now - last_log[0])
            last_log = (now, tokens)
            cpu = cpu_before + time.process_time() * workers.count
            left_hours = (options.tokens - tokens) / max(1.0, speed) / 3600
            if step % options.save_every == 0:
                scores = held_out(model)
            log.write(
                step=step, tokens=tokens, hours_left=round(left_hours, 2), cpu_hours=round(cpu / 3600, 3), speed=round(speed), loss=round(mean_loss, 4),
                level=stream.curriculum.level, rate=rate, held_out=scores,
            )  # fmt: skip
        # A step is about the same for all processes, so that they stop at the same one.
        stopping = step % 20 == 0 and workers.agree(time.time() - started > options.seconds)
        if step % options.save_every == 0 or tokens >= options.tokens or stopping:
            torch.save(stream.state(), data_file)  # every process saves its own data position at the same step
            if workers.rank == 0:
                saved = {
                    "model": model.state_dict(), "optimisers": [optimiser.state_dict() for optimiser in optimisers], "step": step, "tokens": tokens,
                    "cpu_seconds": cpu_before + time.process_time() * workers.count, "config": config.as_dict(),
                }  # fmt: skip
                torch.save(saved, weights_file.with_suffix(".new"))
                os.replace(weights_file.with_suffix(".new"), weights_file)
    if workers.rank:
        os._exit(0)


if __name__ == "__main__":
    main()
