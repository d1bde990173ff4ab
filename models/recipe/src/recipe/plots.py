"""Draw a run's curves: exact answers on never repeated training questions, by task, against tokens.

    python -m recipe.plots --name base --output curves.png
    python -m recipe.plots --compare narrow=4.3M wide=6.3M --output models/recipe/runs/sizes.png
    python -m recipe.plots --scores --output models/recipe/runs/tokens.png

`--scores` draws what the ends of runs were measured at (`scores.jsonl`, the model card's figures) against all tokens so far, by size.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

from .paths import CHECKPOINTS, RUNS  # noqa: E402

TASKS = {
    "level 10": "synthetic binding", "read": "reading", "long": "long passages", "squad": "SQuAD", "texts": "texts written whole",
    "texts known": "texts by heart", "tools": "functions",
    "json": "JSON", "memory": "facts told in the chat", "instructions": "system prompts", "small talk": "small talk",
    "unknown": "not knowing", "almanac": "almanac by heart",
}  # fmt: skip


def smooth(values: list[float], width: int = 9) -> list[float]:
    return [sum(part) / len(part) for i in range(len(values)) if (part := values[max(0, i - width + 1) : i + 1])]


def log_of(name: str) -> list[dict]:
    return [json.loads(line) for line in (CHECKPOINTS / name / "log.jsonl").read_text().splitlines()]


def compare(runs: list[str], output: Path) -> None:
    """Runs on the same data, given as `name=label`, up to where the shortest ends: loss, fresh training questions, held-out ones."""
    logs = {label: log_of(name) for name, label in (run.split("=", 1) for run in runs)}
    last = min(lines[-1]["tokens"] for lines in logs.values())
    figure, axes = plt.subplots(2, 4, figsize=(14, 6))
    for label, lines in logs.items():
        lines = [line for line in lines if line["tokens"] <= last]
        curves = {"loss on answers": [(line["tokens"], line["loss"]) for line in lines]}
        for task in ("read", "squad", "tools", "texts"):
            curves[f"exact: {TASKS.get(task, task)}"] = [(line["tokens"], line["exact"][task]) for line in lines if task in line["exact"]]
        for measure in lines[-1].get("held_out", {}):
            curves[f"held out: {measure}"] = [(line["tokens"], line["held_out"][measure]) for line in lines if line.get("held_out")]
        for axis, (title, points) in zip(axes.flat, curves.items()):
            axis.plot([tokens / 1e6 for tokens, _ in points], smooth([value for _, value in points]), label=label)
            axis.set(xlabel="million tokens", title=title)
            second_half = [value for _, value in points[len(points) // 2 :]]
            print(label, title, round(sum(second_half) / len(second_half), 3))
    axes.flat[0].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(output, dpi=80)


def scores_by_size(output: Path) -> None:
    """Percent on held-out material against millions of tokens; a line a size, continued from the smaller one's last point."""
    rows = [json.loads(line) for line in (RUNS / "scores.jsonl").read_text().splitlines()]
    measures = list(dict.fromkeys(key for row in rows for key in row if key not in ("tokens", "parameters")))
    figure, axes = plt.subplots(2, 4, figsize=(14, 6))
    for axis, measure in zip(axes.flat, measures):
        for size in sorted({row["parameters"] for row in rows}):
            points = [(row["tokens"] / 1e6, row[measure]) for row in rows if row["parameters"] == size and measure in row]
            axis.plot([x for x, _ in points], [y for _, y in points], "o-", label=f"{size / 1e6:.1f} million parameters")
        axis.set(xlabel="million tokens", xscale="log", title=f"{measure} (%)", ylim=(0, None))
        ticks = sorted({round(row["tokens"] / 1e6) for row in rows})
        axis.set_xticks(ticks, labels=[str(tick) for tick in ticks], fontsize=7)
        axis.minorticks_off()
    for axis in axes.flat[len(measures):]:
        axis.set_axis_off()
    axes.flat[0].legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(output, dpi=80)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--name", default="base")
    parser.add_argument("--compare", nargs="+", metavar="NAME=LABEL", help="runs of several sizes on the same data")
    parser.add_argument("--scores", action="store_true", help="held-out scores at the ends of runs, by size")
    parser.add_argument("--output", type=Path, default=Path("curves.png"))
    options = parser.parse_args()
    if options.compare:
        compare(options.compare, options.output)
        return
    if options.scores:
        scores_by_size(options.output)
        return
    lines = log_of(options.name)
    figure, (scores, losses) = plt.subplots(1, 2, figsize=(10, 3.6))
    for task, label in TASKS.items():
        points = [(line["tokens"] / 1e6, line["exact"][task]) for line in lines if task in line["exact"]]
        if points:
            scores.plot([x for x, _ in points], smooth([y for _, y in points]), label=label, linewidth=1.2)
    for measure in lines[-1].get("held_out", {}):
        points = [(line["tokens"] / 1e6, line["held_out"][measure]) for line in lines if line.get("held_out")]
        scores.plot([x for x, _ in points], smooth([y for _, y in points]), "--", label=f"held out: {measure}", linewidth=1.2)
    scores.set(xlabel="million tokens", ylabel="exact answers", ylim=(0, 1), title="fresh training questions; held-out ones dashed")
    scores.legend(fontsize=6)
    losses.plot([line["tokens"] / 1e6 for line in lines], [line["loss"] for line in lines], linewidth=1)
    losses.set(xlabel="million tokens", ylabel="loss on answers", yscale="log", title="training loss")
    figure.tight_layout()
    figure.savefig(options.output, dpi=80)


if __name__ == "__main__":
    main()
