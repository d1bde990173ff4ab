"""All training data as an endless series of packed batches, made in this process or in others beside it."""

from __future__ import annotations

import argparse
import random
from typing import Protocol

import torch.multiprocessing as multiprocessing

from .examples import Batch, Example, Packer
from .synthetic import LEVELS, Curriculum, Synthetic
from .task_stream import TaskStream

LENGTHS = (256, 512, 1024)  # of the rows that examples are packed into
SNAPSHOT_EVERY = 64  # batches of a loader between copies of its state


class Batches(Protocol):
    curriculum: Curriculum

    def batch(self) -> Batch: ...
    def state(self) -> dict: ...
    def restore(self, state: dict) -> None: ...


class Stream:
    """The data of one process: synthetic binding until that is mastered, then mostly English chats."""

    def __init__(self, options: argparse.Namespace, rank: int, vocab_size: int):
        seed = options.seed * 1000 + rank * 7919
        self.random = random.Random(seed)
        self.curriculum = Curriculum(Synthetic(seed + 5, vocab_size))
        self.options = options
        self.mastered = options.start is not None
        if self.mastered:
            self.curriculum.level = len(LEVELS) - 1
        self.world = TaskStream(seed + 17, options.squad, options.squad_share, options.texts_share)
        self.packers = [Packer(options.batch // length, length) for length in LENGTHS]

    def example(self) -> Example:
        self.mastered = self.mastered or self.curriculum.mastered
        share = self.options.world if self.mastered else self.options.early_world
        return self.world.next() if self.random.random() < share else self.curriculum.next()

    def batch(self) -> Batch:
        while True:
            for packer in self.packers:
                if packer.ready():
                    return packer.pack()
            example = self.example()
            for packer in self.packers:
                if len(example.ids) <= packer.length:
                    packer.add(example)
                    break

    def state(self) -> dict:
        return {
            "random": self.random.getstate(), "curriculum": self.curriculum.state(), "mastered": self.mastered,
            "waiting": [list(packer.waiting) for packer in self.packers], "world": self.world.state(),
        }  # fmt: skip

    def restore(self, state: dict) -> None:
        self.random.setstate(state["random"])
        self.curriculum.restore(state["curriculum"])
        self.mastered = state["mastered"]
        for packer, waiting in zip(self.packers, state["waiting"]):
            packer.waiting = list(waiting)
        self.world.restore(state["world"])


class Loaders:
    """Streams in processes of their own, read in turn: a GPU is fed by many cores.

    The order of batches does not depend on the processes' speed. A loader's position is its last snapshot and the batches read since.
    """

    def __init__(self, options: argparse.Namespace, vocab_size: int, count: int):
        self.context = multiprocessing.get_context("fork")
        multiprocessing.set_sharing_strategy("file_system")
        self.streams = [Stream(options, rank, vocab_size) for rank in range(count)]
        self.curriculum = self.streams[0].curriculum
        self.level, self.mastered = self.context.Value("i", self.curriculum.level), self.context.Value("b", self.streams[0].mastered)
        self.snapshots: list[dict] = [stream.state() for stream in self.streams]
        self.since = [0] * count
        self.turn = 0
        self.queues: list = []

    def start(self) -> None:
        for stream, since in zip(self.streams, self.since):
            queue = self.context.Queue(maxsize=8)
            self.context.Process(target=self.feed, args=(stream, since, queue), daemon=True).start()
            self.queues.append(queue)

    def feed(self, stream: Stream, skip: int, queue) -> None:
        number = 0
        while True:
            stream.curriculum.level, stream.mastered = self.level.value, bool(self.mastered.value)
            snapshot = stream.state() if number % SNAPSHOT_EVERY == 0 else None
            batch = stream.batch()
            if number >= skip:
                queue.put((batch, snapshot))
            number += 1

    def batch(self) -> Batch:
        if not self.queues:
            self.start()
        rank = self.turn % len(self.queues)
        self.turn += 1
        batch, snapshot = self.queues[rank].get()
        if snapshot:
            self.snapshots[rank], self.since[rank] = snapshot, 0
        self.since[rank] += 1
        self.level.value = self.curriculum.level
        self.mastered.value = self.mastered.value or self.curriculum.mastered
        return batch

    def state(self) -> dict:
        return {"snapshots": self.snapshots, "since": self.since, "turn": self.turn, "curriculum": self.curriculum.state()}

    def restore(self, state: dict) -> None:
        self.snapshots, self.since, self.turn = state["snapshots"], list(state["since"]), state["turn"]
        for stream, snapshot in zip(self.streams, self.snapshots):
            stream.restore(snapshot)
        self.curriculum = Curriculum(Synthetic(0, self.streams[0].curriculum.synthetic.vocab_size))
        self.curriculum.restore(state["curriculum"])
        self.level.value = self.curriculum.level
