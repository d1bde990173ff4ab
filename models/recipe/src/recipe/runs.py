"""The runs that were made, as ``runs/*.toml`` tells them."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from .paths import RUNS


@dataclass(frozen=True)
class Run:
    name: str
    #: The run whose weights it started from; None: it started from nothing.
    start: str | None
    #: Whether the mean of its weights and of those that it started from went on.
    average: bool
    ships: bool
    #: Options of each call of ``pretrain``; every call after the first starts from the weights of the one before.
    parts: list[dict[str, float | int | str | bool]]


def read_run(file: Path) -> Run:
    told = tomllib.loads(file.read_text())
    return Run(file.stem, told.get("start"), told.get("average", False), told["ships"], told["parts"])


def all_runs() -> list[Run]:
    """In the order in which they were made."""
    return [read_run(file) for file in sorted(RUNS.glob("*.toml"))]


def runs_through(name: str | None) -> list[Run]:
    """Those that led to the run of this name, or to the shipped model, the earliest first."""
    runs = {run.name: run for run in all_runs()}
    last = name or [run.name for run in runs.values() if run.ships][-1]
    chain = [runs[last]]
    while chain[0].start is not None:
        chain.insert(0, runs[chain[0].start])
    return chain


def flags(part: dict[str, float | int | str | bool], share: float = 1.0) -> list[str]:
    """A part as flags of ``pretrain``, with so large a share of its tokens."""
    words: list[str] = []
    for key, value in part.items():
        flag = f"--{key.replace('_', '-')}"
        if value is True:
            words.append(flag)
        elif value is not False:
            words += [flag, str(value * share if key == "tokens" else value)]
    return words
