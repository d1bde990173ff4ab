"""Reading and asking over texts written whole, of templates and with names that were never trained."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from .prompts import ASK, NOT_STATED, READ
from .texts import TextTasks

if TYPE_CHECKING:
    from .measures import Reader


def sample(seed: int, number: int) -> list[tuple[str, str, str]]:
    """Passage, question and answer, two of each passage."""
    tasks = TextTasks(random.Random(seed), held=True)
    found: list[tuple[str, str, str]] = []
    while len(found) < number:
        passage = tasks.writer.write(tasks.random.choice(tasks.templates))
        chosen = tasks.random.sample(passage.pairs, min(2, len(passage.pairs)))
        found += [(passage.text, tasks.random.choice(questions), answer) for questions, answer in chosen]
    return found[:number]


def same(answer: str, wanted: str) -> bool:
    return answer.strip().rstrip(".").lower() == wanted.lower()


def reading(reader: Reader, seed: int, number: int) -> dict[str, float]:
    asked = sample(seed, number)
    answers = reader.read([(text, question) for text, question, _ in asked])
    return {
        "exact": round(sum(same(answer, wanted) for answer, (_, _, wanted) in zip(answers, asked)) / number, 3),
        "wrongly not stated": round(sum(answer == NOT_STATED for answer in answers) / number, 3),
    }


def asking(reader: Reader, seed: int, number: int) -> dict[str, float]:
    """Questions for a given answer, put back to the model."""
    asked = sample(seed, number)
    chats = [[("system", READ.format(passage=text)), ("user", ASK.format(span=answer))] for text, _, answer in asked]
    questions = reader.answers(chats, longest=48)
    back = reader.read([(text, question) for (text, _, _), question in zip(asked, questions)])
    return {"answered back": round(sum(same(answer, wanted) for answer, (_, _, wanted) in zip(back, asked)) / number, 3)}
