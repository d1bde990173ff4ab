"""Repeat the runs that made the shipped model, one after the other.

    python -m recipe.repeat --squad FILE [--through 09-ninth] [--share 1.0]

Each run's weights are written to ``checkpoints/<run>/model``; a run that has them is not repeated, and one that was
stopped goes on. The model that comes out is one like the shipped one, not the same: the chats are those of today's
generator, which grew from run to run, and some settings are not on record (``not_on_record`` in ``runs/*.toml``).
``--share 0.001`` takes a thousandth of the tokens, to try the command.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from .paths import CHECKPOINTS
from .runs import Run, flags, runs_through


def weights_of(run: str) -> Path:
    """Where the exported weights of a run lie."""
    return CHECKPOINTS / run / "model"


def call(module: str, *arguments: object) -> None:
    """Runs a module of the recipe in a process of its own; CalledProcessError when it fails."""
    command = [sys.executable, "-m", f"recipe.{module}", *(str(argument) for argument in arguments)]
    print(" ".join(command[1:]), flush=True)
    subprocess.run(command, check=True)


def repeat(run: Run, squad: str | None, share: float, further: list[str]) -> None:
    start = weights_of(run.start) if run.start else None
    before = start
    for number, part in enumerate(run.parts, 1):
        last = number == len(run.parts)
        name = run.name if last else f"{run.name}-{number}"
        folder = weights_of(name)
        if not (folder / "config.json").exists():
            given = [*flags(part, share), *further]
            if start:
                given += ["--start", str(start)]
            if squad and part["squad_share"]:
                given += ["--squad", squad]
            call("pretrain", "--name", name, *given)
            average = ["--average", before] if last and run.average else []
            call("export", "--name", name, "--folder", folder, *average)
        start = folder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--squad", help="SQuAD's training paragraphs as gzipped JSON lines; without it none is read")
    parser.add_argument("--through", metavar="RUN", help="the last run; by default the one that ships")
    parser.add_argument("--share", type=float, default=1.0, help="of each run's tokens")
    options, further = parser.parse_known_args()
    runs = runs_through(options.through)
    for run in runs:
        repeat(run, options.squad, options.share, further)
    print(f"the weights are in {weights_of(runs[-1].name)}")


if __name__ == "__main__":
    main()
