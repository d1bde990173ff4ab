"""Draw a run's curves: exact answers on never repeated training questions, by task, against tokens.

    python -m models.recipe.plots --name base --output models/recipe/curves.png
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

from .pretrain import RUNS  # noqa: E402

TASKS = {
    "level 10": "synthetic binding", "read": "reading", "long": "long passages", "squad": "SQuAD", "tools": "functions",
    "json": "JSON", "memory": "facts told in the chat", "instructions": "system prompts", "small talk": "small talk",
    "unknown": "not knowing", "almanac": "almanac by heart",
}  # fmt: skip


def smooth(values: list[float], width: int = 9) -> list[float]:
    return [sum(part) / len(part) for i in range(len(values)) if (part := values[max(0, i - width + 1) : i + 1])]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--name", default="base")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "curves.png")
    options = parser.parse_args()
    lines = [json.loads(line) for line in (RUNS / options.name / "log.jsonl").read_text().splitlines()]
    figure, (scores, losses) = plt.subplots(1, 2, figsize=(10, 3.6))
    for task, label in TASKS.items():
        points = [(line["tokens"] / 1e6, line["exact"][task]) for line in lines if task in line["exact"]]
        if points:
            scores.plot([x for x, _ in points], smooth([y for _, y in points]), label=label, linewidth=1.2)
    scores.set(xlabel="million tokens", ylabel="exact answers", ylim=(0, 1), title="fresh training questions")
    scores.legend(fontsize=6)
    losses.plot([line["tokens"] / 1e6 for line in lines], [line["loss"] for line in lines], linewidth=1)
    losses.set(xlabel="million tokens", ylabel="loss on answers", yscale="log", title="training loss")
    figure.tight_layout()
    figure.savefig(options.output, dpi=80)


if __name__ == "__main__":
    main()
