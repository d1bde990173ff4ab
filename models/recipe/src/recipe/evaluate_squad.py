"""Reading and asking over SQuAD paragraphs whose titles were set aside before training."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from .prompts import ASK, NOT_STATED, READ
from .squad import Pair, Paragraph, f1, normalised, paragraphs

if TYPE_CHECKING:
    from .measures import Reader


def chosen(path: str, number: int, seed: int) -> list[tuple[Paragraph, Pair]]:
    """One random question of each of ``number`` random paragraphs."""
    source = random.Random(seed)
    texts = paragraphs(path, held=True)
    return [(paragraph, source.choice(paragraph.pairs)) for paragraph in source.sample(texts, min(number, len(texts)))]


def reading(reader: Reader, path: str, number: int, seed: int = 111) -> dict[str, float]:
    asked = chosen(path, number, seed)
    answers = reader.read([(paragraph.text, pair.question) for paragraph, pair in asked])
    exact = [any(normalised(answer) == normalised(a) for a in pair.answers) for answer, (_, pair) in zip(answers, asked)]
    scores = [max(f1(answer, a) for a in pair.answers) for answer, (_, pair) in zip(answers, asked)]
    return {
        "exact": round(sum(exact) / len(exact), 3),
        "f1": round(sum(scores) / len(scores), 3),
        "not stated": round(sum(answer == NOT_STATED for answer in answers) / len(answers), 3),
        "copied from the paragraph": round(sum(a in p.text for a, (p, _) in zip(answers, asked)) / len(answers), 3),
        "questions": len(asked),
    }


def asking(reader: Reader, path: str, number: int, seed: int = 112) -> dict[str, float]:
    """Questions for a given answer, put back to the model: answered when the words mostly agree (F1 of at least 0.8)."""
    asked = chosen(path, number, seed)
    chats = [[("system", READ.format(passage=p.text)), ("user", ASK.format(span=q.answers[0]))] for p, q in asked]
    questions = reader.answers(chats, longest=48)
    back = reader.read([(paragraph.text, question) for (paragraph, _), question in zip(asked, questions)])
    right = [f1(answer, pair.answers[0]) >= 0.8 for answer, (_, pair) in zip(back, asked)]
    return {"answered back": round(sum(right) / len(right), 3)}
