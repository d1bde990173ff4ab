"""Where the recipe's files lie."""

from __future__ import annotations

from pathlib import Path

RECIPE = Path(__file__).resolve().parents[2]
DATA = RECIPE / "data"
#: What each run was: a TOML file, its curves and the scores at the ends of all runs.
RUNS = RECIPE / "runs"
#: What runs write: weights, optimiser, position in the data, log.
CHECKPOINTS = RECIPE / "checkpoints"
#: The shipped model.
BASE = RECIPE.parent / "base"
