"""Pretrain the base model: first the synthetic binding curriculum, then the English tasks.

    python -m recipe.pretrain --name base --tokens 100e6 --processes 2

Resumes by itself from ``checkpoints/<name>`` when that folder holds a checkpoint. All schedules count tokens, not
seconds, so a paused process does no harm. ``repeat.py`` gives the options of the runs that made the shipped model.
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
from torch import Tensor

from . import measures
from .examples import Batch
from .grow import exported, grow
from .initialise import initialise
from .losses import nearest_alike
from .model import Decoder, ModelConfig
from .muon import Muon
from .options import parser
from .parallel import Workers
from .paths import CHECKPOINTS
from .stream import Batches, Loaders, Stream
from .synthetic import LEVELS

STATISTICS = 2 * len(LEVELS) + 2  # per level: right and asked; then tokens and loss
LOG_EVERY = 50  # steps


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
    """Exact answers about names that are never trained, the same few questions each time.

    A copy in float32 on the CPU gives them.
    """
    copy = Decoder(model.config)
    copy.load_state_dict({name: value.detach().cpu() for name, value in model.state_dict().items()})
    reader = measures.Reader(copy)
    return {
        "reading": measures.reading(reader, 41, [3, 4, 5, 6], 40)["exact"],
        "several entities": measures.several_entities(reader, 42, [6, 8], 24)["exact"],
        "asking": measures.asking(reader, 43, 16)["both"],
    }


def keep_memory() -> None:
    """Have the C library keep freed memory: fetching a batch's hundreds of megabytes anew costs a fifth of the time."""
    try:
        library = ctypes.CDLL("libc.so.6")
    except OSError:
        return  # not Linux with glibc
    library.mallopt(-4, 0)  # M_MMAP_MAX
    library.mallopt(-1, 2**31 - 1)  # M_TRIM_THRESHOLD


def make_model(options: argparse.Namespace) -> Decoder:
    """New weights, or those of ``--start``, in the sizes asked for."""
    start = exported(options.start) if options.start else None
    sizes = start.config if start else ModelConfig()
    model = Decoder(replace(
        sizes, num_hidden_layers=options.layers or sizes.num_hidden_layers,
        intermediate_size=options.intermediate or sizes.intermediate_size,
    ))  # fmt: skip
    if start:
        grow(model, start)
    else:
        initialise(model)
    model.dtype = torch.float32 if options.float32 else torch.bfloat16
    return model


class Training:
    """A run, from its last checkpoint on; one object in each of its processes."""

    def __init__(self, options: argparse.Namespace, device: torch.device):
        self.options, self.device = options, device
        self.folder = CHECKPOINTS / options.name
        self.folder.mkdir(parents=True, exist_ok=True)
        self.model = make_model(options).to(device)
        self.parameters = list(self.model.parameters())
        self.workers = Workers(options.processes, self.parameters, STATISTICS)
        self.optimisers = make_optimisers(self.model, options.optimiser, options.rate)
        vocab_size = self.model.config.vocab_size
        self.stream: Batches = (
            Loaders(options, vocab_size, options.loaders) if options.loaders
            else Stream(options, self.workers.rank, vocab_size)
        )  # fmt: skip
        self.log = Log(self.folder / "log.jsonl")
        self.step = self.tokens = 0
        self.cpu_before = self.mean_loss = self.rate = 0.0
        self.held_out: dict[str, float] = {}
        self.restore()
        self.last_log = (time.time(), self.tokens)

    def run(self) -> None:
        """Trains to the end of the tokens, or until ``--seconds`` have passed."""
        started, stopping = time.time(), False
        while self.tokens < self.options.tokens and not stopping:
            self.learn(self.stream.batch().to(self.device))
            if self.step % LOG_EVERY == 0 and self.workers.rank == 0:
                self.write_log()
            # A step is about the same for all processes, so that they stop at the same one.
            stopping = self.step % 20 == 0 and self.workers.agree(time.time() - started > self.options.seconds)
            if self.step % self.options.save_every == 0 or self.tokens >= self.options.tokens or stopping:
                self.save()

    def learn(self, batch: Batch) -> None:
        """One step of the optimisers, on the batches of all processes."""
        loss, likeliest, ends = self.model.loss(batch)
        loss.backward()
        if len(ends):
            self.log.add("alike", nearest_alike(ends.detach(), batch.groups).sum().item(), len(ends))
        statistics = self.workers.average(self.count(batch, answers_right(likeliest, batch).tolist(), loss.item()))
        torch.nn.utils.clip_grad_norm_(self.parameters, 1.0)
        self.rate = learning_rate(self.options, self.step, self.tokens)
        for optimiser in self.optimisers:
            for group in optimiser.param_groups:
                group["lr"] = self.rate
            optimiser.step()
            optimiser.zero_grad(set_to_none=True)
        for level in range(len(LEVELS)):
            right, asked = statistics[2 * level].item(), statistics[2 * level + 1].item()
            if asked:
                self.stream.curriculum.record(level, right / asked, min(0.15, 0.15 * asked / 60))
        self.step += 1
        self.tokens += int(statistics[-2])
        self.mean_loss += 0.05 * (statistics[-1].item() / self.workers.count - self.mean_loss)

    def count(self, batch: Batch, right: list[bool], loss: float) -> Tensor:
        """Logs the answers by kind; right and asked of each level, then tokens and loss."""
        statistics = torch.zeros(STATISTICS)
        for kind, exact in zip(batch.kinds, right):
            self.log.add(kind, exact, 1)
            if kind.startswith("level "):
                level = int(kind[6:])
                statistics[2 * level] += exact
                statistics[2 * level + 1] += 1
        statistics[-2:] = torch.tensor([batch.tokens, loss])
        return statistics

    def cpu_seconds(self) -> float:
        return self.cpu_before + time.process_time() * self.workers.count

    def write_log(self) -> None:
        now = time.time()
        speed = (self.tokens - self.last_log[1]) / (now - self.last_log[0])
        self.last_log = (now, self.tokens)
        left_hours = (self.options.tokens - self.tokens) / max(1.0, speed) / 3600
        cpu_hours = self.cpu_seconds() / 3600
        if self.step % self.options.save_every == 0:
            self.held_out = held_out(self.model)
        self.log.write(
            step=self.step, tokens=self.tokens, hours_left=round(left_hours, 2), cpu_hours=round(cpu_hours, 3),
            speed=round(speed), loss=round(self.mean_loss, 4), level=self.stream.curriculum.level,
            rate=self.rate, held_out=self.held_out,
        )  # fmt: skip

    def save(self) -> None:
        """Every process saves its own data position, at the same step; the first one all else."""
        torch.save(self.stream.state(), self.data_file())
        if self.workers.rank:
            return
        saved = {
            "model": self.model.state_dict(), "optimisers": [optimiser.state_dict() for optimiser in self.optimisers],
            "step": self.step, "tokens": self.tokens, "cpu_seconds": self.cpu_seconds(),
            "config": self.model.config.as_dict(),
        }  # fmt: skip
        new = self.folder / "last.new"
        torch.save(saved, new)
        os.replace(new, self.folder / "last.pt")

    def restore(self) -> None:
        """What ``save`` has written, if it has."""
        file = self.folder / "last.pt"
        if not file.exists():
            return
        saved = torch.load(file, map_location=self.device)
        self.model.load_state_dict(saved["model"])
        for optimiser, state in zip(self.optimisers, saved["optimisers"], strict=True):
            optimiser.load_state_dict(state)
        self.step, self.tokens, self.cpu_before = saved["step"], saved["tokens"], saved["cpu_seconds"]
        self.stream.restore(torch.load(self.data_file(), weights_only=False))

    def data_file(self) -> Path:
        return self.folder / f"data-{self.workers.rank}.pt"


def main() -> None:
    options = parser().parse_args()
    keep_memory()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if device.type == "cpu":
        torch.set_num_threads(1)
    else:
        options.processes = 1
    torch.manual_seed(options.seed)
    training = Training(options, device)
    if options.compile:
        training.model.compile()
    training.run()
    if training.workers.rank:
        os._exit(0)


if __name__ == "__main__":
    main()
