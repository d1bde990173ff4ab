"""Measures on invented passages whose names never occurred in training (greedy answers, exact match)."""

from __future__ import annotations

import json
import random

import torch

from .chat import Message, prompt_ids
from .generate import generate
from .model import Decoder
from .paths import DATA
from .small_talk import SMALL_TALK
from .prompts import ASK, LIST_PAIRS, NOT_STATED, READ, REPHRASE, UNKNOWN
from .tokenizer import load_tokenizer
from .world import Fact, Passage, World

PROBES = DATA / "probes.jsonl"


def same(answer: str, wanted: str) -> bool:
    return answer.strip().rstrip(".").lower() == wanted.strip().rstrip(".").lower()


class Reader:
    """A model and its tokenizer, asked in chats."""

    def __init__(self, model: Decoder):
        self.model, self.tokenizer = model, load_tokenizer()

    def answers(self, chats: list[list[Message]], longest: int = 32, **options) -> list[str]:
        prompts = [prompt_ids(self.tokenizer, chat) for chat in chats]
        return [self.tokenizer.decode(ids) for ids in generate(self.model, prompts, longest=longest, **options)]

    def read(self, pairs: list[tuple[str, str]]) -> list[str]:
        """Answers to (passage, question) pairs."""
        return self.answers([[("system", READ.format(passage=text)), ("user", question)] for text, question in pairs])


def passages(seed: int, counts: list[int], number: int, **options) -> tuple[World, list[Passage]]:
    world = World(random.Random(seed), held_names=True, **options)
    return world, [world.passage(world.random.choice(counts)) for _ in range(number)]


def share(results: list[bool]) -> float:
    return round(sum(results) / max(1, len(results)), 3)


def reading(reader: Reader, seed: int, counts: list[int], questions: int, **options) -> dict[str, float]:
    """Exact match, and how often a stated fact was called not stated."""
    world, texts = passages(seed, counts, questions // 2, **options)
    asked: list[tuple[Passage, Fact]] = []
    for passage in texts:
        facts = [f for f in passage.facts if not options.get("held_relations") or f.relation is not None]
        asked += [(passage, fact) for fact in world.random.sample(facts, min(2, len(facts)))]
    answers = reader.read([(passage.text, world.question(fact)) for passage, fact in asked])
    return {
        "exact": share([same(answer, fact.value) for answer, (_, fact) in zip(answers, asked)]),
        "wrongly not stated": share([answer == NOT_STATED for answer in answers]),
    }


def several_entities(reader: Reader, seed: int, counts: list[int], questions: int) -> dict[str, float]:
    """Questions about passages of two to four entities of one type that share attributes, so that both keys matter."""
    world = World(random.Random(seed), held_names=True)
    asked: list[tuple[Passage, Fact]] = []
    while len(asked) < questions:
        passage = world.passage(world.random.choice(counts), entities=world.random.randint(2, 4))
        labels = [fact.label for fact in passage.facts]
        shared = [fact for fact in passage.facts if labels.count(fact.label) > 1]
        asked += [(passage, fact) for fact in shared[:2]]
    answers = reader.read([(passage.text, world.question(fact)) for passage, fact in asked])
    return {"exact": share([same(answer, fact.value) for answer, (_, fact) in zip(answers, asked)])}


def not_stated(reader: Reader, seed: int, questions: int) -> dict[str, float]:
    world, texts = passages(seed, [3, 4, 5, 6], questions)
    asked = [(passage.text, question) for passage in texts if (question := world.unanswerable(passage))]
    return {"recognised": share([answer == NOT_STATED for answer in reader.read(asked)])}


def asking(reader: Reader, seed: int, number: int) -> dict[str, float]:
    """Questions for a given answer: well formed, and answered with that answer when put back to the model."""
    _, texts = passages(seed, [3, 4, 5, 6], number)
    facts = [(passage, random.Random(seed).choice(passage.facts)) for passage in texts]
    chats = [[("system", READ.format(passage=p.text)), ("user", ASK.format(span=f.value))] for p, f in facts]
    questions = reader.answers(chats, longest=48)
    back = reader.read([(p.text, q) for (p, _), q in zip(facts, questions)])
    formed = [q.endswith("?") and f.entity.name.lower() in q.lower() for q, (_, f) in zip(questions, facts)]
    returned = [same(answer, f.value) for answer, (_, f) in zip(back, facts)]
    return {"names the entity": share(formed), "answered back": share(returned),
            "both": share([a and b for a, b in zip(formed, returned)])}  # fmt: skip


def listing(reader: Reader, seed: int, number: int) -> dict[str, float]:
    _, texts = passages(seed, [2, 3, 4, 5, 6], number)
    outputs = reader.answers([[("system", READ.format(passage=p.text)), ("user", LIST_PAIRS)] for p in texts], longest=260)
    right = total = found = facts = 0
    for passage, output in zip(texts, outputs):
        covered: set[int] = set()
        for block in output.split("Q: ")[1:]:
            question, _, answer = block.partition("\nA: ")
            total += 1
            for number_, fact in enumerate(passage.facts):
                if same(answer, fact.value) and fact.entity.name.lower() in question.lower():
                    covered.add(number_)
                    right += 1
                    break
        found += len(covered)
        facts += len(passage.facts)
    return {"pairs right": round(right / max(1, total), 3), "facts covered": round(found / facts, 3)}


def rephrasing(reader: Reader, seed: int, number: int) -> dict[str, float]:
    """Other words for a question: it must differ, keep the name and still be answered by the same value."""
    world, texts = passages(seed, [3, 4, 5, 6], number)
    facts = [(passage, world.random.choice(passage.facts)) for passage in texts]
    given = [world.question(fact) for _, fact in facts]
    generator = torch.Generator().manual_seed(seed)
    outputs = reader.answers(
        [[("user", REPHRASE.format(question=question))] for question in given],
        longest=48, temperature=0.8, generator=generator,
    )  # fmt: skip
    back = reader.read([(passage.text, output) for (passage, _), output in zip(facts, outputs)])
    kept = [f.entity.name.lower() in o.lower() and o != g and o.endswith("?") for o, g, (_, f) in zip(outputs, given, facts)]
    meant = [same(answer, fact.value) for answer, (_, fact) in zip(back, facts)]
    return {"keeps the name": share(kept), "same answer": share(meant), "both": share([a and b for a, b in zip(kept, meant)])}


def without_passage(reader: Reader, seed: int, number: int) -> dict[str, float]:
    world = World(random.Random(seed), held_names=True)
    asked = [world.question(world.fact(world.entity())) for _ in range(number)]
    plain = reader.answers([[("user", question)] for question in asked])
    helpful = reader.answers([[("system", "You are a helpful assistant."), ("user", question)] for question in asked])
    talk = reader.answers([[("user", text)] for text, _ in SMALL_TALK])
    return {
        "does not know": share([answer == UNKNOWN for answer in plain + helpful]),
        "small talk": share([same(answer, wanted) for answer, (_, wanted) in zip(talk, SMALL_TALK)]),
    }


def probes(reader: Reader, show: bool = False) -> dict[str, float]:
    """Passages written by hand, in the way people write them."""
    rows = [json.loads(line) for line in PROBES.read_text().splitlines()]
    asked = [(row["passage"], question, answer) for row in rows for question, answer in row["questions"]]
    answers = reader.read([(passage, question) for passage, question, _ in asked])
    if show:
        for (_, question, wanted), answer in zip(asked, answers):
            print("ok " if same(answer, wanted) else "BAD", question, "|", answer, "|", wanted)
    stated = [(answer, wanted) for answer, (_, _, wanted) in zip(answers, asked) if wanted != NOT_STATED]
    absent = [answer for answer, (_, _, wanted) in zip(answers, asked) if wanted == NOT_STATED]
    return {"exact": share([same(a, w) for a, w in stated]), "not stated": share([a == NOT_STATED for a in absent])}
