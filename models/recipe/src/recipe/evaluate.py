"""Measure a model on held-out material only (greedy answers), and print the table of the model card.

    python -m recipe.evaluate --name base [--squad FILE] [--questions 200] [--json FILE] [--quick]
    python -m recipe.evaluate --folder models/base
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

import torch

from . import evaluate_squad, evaluate_tasks, evaluate_texts, measures
from .export import load
from .grow import exported
from .learn import adapter_row
from .measures import Reader
from .model import Decoder


@dataclass(frozen=True)
class Row:
    """A line of the table: what is measured, in which result, and what it should at least be (at most, if negative)."""

    label: str
    result: str
    key: str
    at_least: float | None = None


ROWS = [
    Row("generated passages, unseen vocabulary, 3–6 facts", "3-6 facts", "exact", 0.9),
    Row("10–12 facts", "10-12 facts", "exact", 0.75),
    Row("several entities with shared attributes", "several entities", "exact", 0.75),
    Row("passages of 13–40 sentences", "tasks", "long passages"),
    Row("unseen wordings of statement and question", "unseen wordings", "exact", 0.8),
    Row("unseen relations", "unseen relations", "exact", 0.7),
    Row("not stated, recognised", "not stated", "recognised", 0.85),
    Row("stated, but falsely called not stated", "3-6 facts", "wrongly not stated", -0.1),
    Row("SQuAD, exact match", "SQuAD", "exact", 0.3),
    Row("SQuAD, F1", "SQuAD", "f1", 0.4),
    Row("question asked for a given answer: names the entity, answered back", "ask a question", "both", 0.85),
    Row("listed pairs that are right", "list pairs", "pairs right", 0.85),
    Row("the same on SQuAD: answered back", "SQuAD asking", "answered back", 0.5),
    Row("texts written whole, never trained: read", "texts", "exact"),
    Row("the same: question asked for a given answer, answered back", "asking about texts", "answered back"),
    Row("rephrased at temperature 0.8: other words, same answer", "rephrase", "both"),
    Row("tool calls: right function and arguments", "tasks", "tool calls", 0.85),
    Row("the same in unseen wordings", "tasks", "tool calls, unseen wordings"),
    Row("the same of everyday functions, kept out of training", "tasks", "tool calls, everyday functions"),
    Row("a function's result told", "tasks", "tool results told"),
    Row("JSON valid", "tasks", "json valid", 0.95),
    Row("JSON right", "tasks", "json right"),
    Row("the same of everyday statements, kept out of training", "tasks", "json right, everyday statements"),
    Row("facts told earlier in the chat, unseen wordings", "tasks", "chat facts, unseen wordings"),
    Row("simple system prompts, unseen wordings", "tasks", "system prompts, unseen wordings"),
    Row("small talk in unseen wordings, sensible", "tasks", "small talk", 0.9),
    Row("unknown things: I do not know", "without passage", "does not know"),
    Row("hand-written passages (a development set)", "hand-written passages", "exact"),
    Row("LoRA on right pairs of one unseen passage: unseen phrasings", "adapter", "unseen phrasings", 0.8),
    Row("canaries lost with it, points", "adapter", "canaries lost", -5),
]


def evaluate(model: Decoder, questions: int, squad: str | None, quick: bool) -> dict[str, dict[str, float]]:
    reader = Reader(model)
    several = [4, 5, 6, 7, 8, 9, 10]
    steps: dict[str, Callable[[], dict[str, float]]] = {
        "3-6 facts": lambda: measures.reading(reader, 101, [3, 4, 5, 6], questions),
        "10-12 facts": lambda: measures.reading(reader, 102, [10, 11, 12], questions),
        "several entities": lambda: measures.several_entities(reader, 110, several, questions),
        "unseen wordings": lambda: measures.reading(reader, 103, [3, 4, 5, 6], questions, held_templates=True, generic=0.1),
        "unseen relations": lambda: measures.reading(reader, 104, [3, 4, 5, 6], questions, held_relations=True),
        "not stated": lambda: measures.not_stated(reader, 105, questions),
        "ask a question": lambda: measures.asking(reader, 106, questions // 2),
        "list pairs": lambda: measures.listing(reader, 107, questions // 6),
        "rephrase": lambda: measures.rephrasing(reader, 108, questions // 2),
        "without passage": lambda: measures.without_passage(reader, 109, questions // 3),
        "hand-written passages": lambda: measures.probes(reader),
    }
    steps["texts"] = lambda: evaluate_texts.reading(reader, 111, 2 * questions)
    steps["asking about texts"] = lambda: evaluate_texts.asking(reader, 112, questions // 2)
    if squad:
        steps["SQuAD"] = lambda: evaluate_squad.reading(reader, squad, 2 * questions)
        steps["SQuAD asking"] = lambda: evaluate_squad.asking(reader, squad, questions // 2)
    steps["tasks"] = lambda: evaluate_tasks.rows(reader, questions)
    if not quick:
        steps["adapter"] = lambda: adapter_row(reader)
    result: dict[str, dict[str, float]] = {}
    for name, step in steps.items():
        started = time.time()
        result[name] = step()
        print(f"{name}: {result[name]} ({time.time() - started:.0f} s)", flush=True)
    return result


def table(result: dict[str, dict[str, float]]) -> str:
    lines = ["| measure | value | at least |", "|---|---|---|"]
    for row in ROWS:
        value = result.get(row.result, {}).get(row.key)
        if value is None:
            continue
        points = row.key.endswith("lost")
        shown = f"{value:.1f}" if points else f"{100 * value:.1f} %"
        limit = "" if row.at_least is None else f"{'at most ' if row.at_least < 0 else ''}{abs(row.at_least) * (1 if points else 100):.0f}{'' if points else ' %'}"
        lines.append(f"| {row.label} | {shown} | {limit} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--name", default="base", help="a run, of which the last checkpoint is measured")
    parser.add_argument("--folder", type=Path, help="an exported model instead")
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--squad", help="SQuAD as gzipped JSON lines")
    parser.add_argument("--quick", action="store_true", help="without the adapters")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--show", action="store_true", help="print the answers to the hand-written passages")
    options = parser.parse_args()
    torch.set_num_threads(1)
    model = exported(options.folder).eval() if options.folder else load(options.name)
    result = evaluate(model, options.questions, options.squad, options.quick)
    print(table(result))
    if options.show:
        measures.probes(Reader(model), show=True)
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
