"""Real English: SQuAD, given as gzipped JSON lines of {title, context, qas: [{q, a: [answers]}]}.

SQuAD is licensed CC BY-SA 4.0; a model trained on it must name it. One title in twenty is set aside for evaluation.
"""

from __future__ import annotations

import gzip
import json
import random
import re
import string
import zlib
from collections import Counter
from dataclasses import dataclass
from functools import cache

from .chat import Chat, Message
from .prompts import ASK, NOT_STATED, READ


@dataclass
class Pair:
    question: str
    answers: list[str]


@dataclass
class Paragraph:
    title: str
    text: str
    pairs: list[Pair]


def held_out(title: str) -> bool:
    return zlib.crc32(title.encode()) % 20 == 3


@cache
def paragraphs(path: str, held: bool) -> list[Paragraph]:
    """The paragraphs of the titles that are (not) set aside, with the pairs whose answer stands in them."""
    result: list[Paragraph] = []
    with gzip.open(path, "rt") as file:
        for line in file:
            row = json.loads(line)
            pairs = [Pair(" ".join(qa["q"].split()), qa["a"]) for qa in row["qas"] if qa["a"] and qa["a"][0] in row["context"]]
            pairs = [pair for pair in pairs if len(pair.question) > 8]
            if pairs and held_out(row["title"]) == held:
                result.append(Paragraph(row["title"], row["context"], pairs))
    return result


def windows(paragraph: Paragraph, longest: int, source: random.Random) -> Paragraph:
    """Consecutive sentences of at most about ``longest`` characters, with the pairs that they answer."""
    if len(paragraph.text) <= longest:
        return paragraph
    sentences = re.split(r"(?<=[.!?])\s+(?=[A-Z\"'(])", paragraph.text)
    first = source.randrange(len(sentences))
    last, length = first, len(sentences[first])
    while True:
        options = [i for i in (first - 1, last + 1) if 0 <= i < len(sentences) and length + len(sentences[i]) < longest]
        if not options:
            break
        chosen = source.choice(options)
        length += len(sentences[chosen]) + 1
        first, last = min(first, chosen), max(last, chosen)
    text = " ".join(sentences[first : last + 1])
    return Paragraph(paragraph.title, text, [pair for pair in paragraph.pairs if pair.answers[0] in text])


class SquadTasks:
    """Reading and asking over the paragraphs that are not set aside."""

    def __init__(self, path: str, source: random.Random, longest: int = 800):
        self.random, self.longest = source, longest
        self.paragraphs = paragraphs(path, held=False)

    def chat(self) -> Chat:
        while True:
            paragraph = self.random.choice(self.paragraphs)
            window = windows(paragraph, self.longest, self.random)
            if window.pairs:
                break
        return self.ask(window) if self.random.random() < 0.3 else self.read(paragraph, window)

    def read(self, paragraph: Paragraph, window: Paragraph) -> Chat:
        pick = self.random
        turns = [(pair.question, pair.answers[0]) for pair in window.pairs]
        pick.shuffle(turns)
        absent = [pair.question for pair in paragraph.pairs if pair.answers[0] not in window.text]
        if pick.random() < 0.5:
            if not absent or pick.random() < 0.3:
                other = pick.choice(self.paragraphs)
                absent = [pair.question for pair in other.pairs] if other.title != paragraph.title else []
            turns += [(question, NOT_STATED) for question in absent[:1]]
        messages: list[Message] = [("system", READ.format(passage=window.text))]
        for question, answer in turns:
            messages += [("user", question), ("assistant", answer)]
        return Chat("squad", messages, independent=True, train_text=True)

    def ask(self, window: Paragraph) -> Chat:
        messages: list[Message] = [("system", READ.format(passage=window.text))]
        for pair in window.pairs:
            messages += [("user", ASK.format(span=pair.answers[0])), ("assistant", pair.question)]
        return Chat("squad ask", messages, independent=True, train_text=True)


def normalised(answer: str) -> str:
    """Lower case, without punctuation, articles and surplus spaces: the normalisation of SQuAD's own evaluation."""
    plain = "".join(letter for letter in answer.lower() if letter not in string.punctuation)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", plain).split())


def f1(answer: str, wanted: str) -> float:
    """Harmonic mean of precision and recall over the words of a normalised answer (Rajpurkar et al., 2016)."""
    given, right = normalised(answer).split(), normalised(wanted).split()
    shared = sum((Counter(given) & Counter(right)).values())
    return 2 * shared / (len(given) + len(right)) if shared else float(given == right)
