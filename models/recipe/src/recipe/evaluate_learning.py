"""One wording of each fact of an unseen text learned into an adapter; then the other wordings are asked, without the text.

    python -m recipe.evaluate_learning --name base --passages 8

This is what carries a learned passage over to the questions that people ask.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

import torch

from . import lora
from .chat import encode
from .export import load
from .grow import exported
from .learn import Settings, closed_book, learn
from .measures import Reader, share
from .replay import replay_chats
from .texts import TextTasks


def other_wordings(reader: Reader, passages: int, seed: int = 700) -> dict[str, float]:
    """Shares of right answers; 64 exposures of every fact, as the product trains."""
    replay = [encode(reader.tokenizer, chat) for chat in replay_chats(200)]
    tasks = TextTasks(random.Random(seed), held=True)
    chosen = tasks.random.sample(sorted(tasks.templates, key=lambda template: template.name), passages)
    trained: list[bool] = []
    others: list[bool] = []
    for number, template in enumerate(chosen):
        pairs = tasks.naming(tasks.writer.write(template))
        pairs = [(sorted(set(questions)), answer) for questions, answer in pairs if len(set(questions)) > 1]
        first = [(questions[0], answer) for questions, answer in pairs]
        rest = [(question, answer) for questions, answer in pairs for question in questions[1:]]
        settings = Settings(rate=2.5e-3, batch=8, replay=2, replay_weight=1.0, rephrasings=0, steps=8 * len(pairs))
        learn(reader, first, settings, replay, number)
        trained += closed_book(reader, first)
        others += closed_book(reader, rest)
        lora.detach(reader.model)
    return {"trained wordings": share(trained), "other wordings": share(others), "questions": len(others)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--name", default="base")
    parser.add_argument("--folder", type=Path, help="an exported model instead of a run")
    parser.add_argument("--passages", type=int, default=8)
    options = parser.parse_args()
    torch.set_num_threads(1)
    model = exported(options.folder) if options.folder else load(options.name)
    print(other_wordings(Reader(model), options.passages))


if __name__ == "__main__":
    main()
