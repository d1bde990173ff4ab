"""Experiments on learning one unseen passage into an adapter, to find good default settings.

    python -m recipe.learn --name base --passages 6 --settings '[{"rate": 0.01}, {"rate": 0.005}]'

For every passage: a few forms of each question with its right answer, the model's own rephrasings of them, rehearsal
rows; then questions in forms that were not trained on, without the passage, and canaries.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import time
from dataclasses import asdict, dataclass, field, replace

import torch

from . import lora
from .chat import Chat, Message, encode
from .measures import Reader, same, share
from .examples import Example, collate
from .export import load
from .model import Decoder
from .replay import replay_chats
from .small_talk import SMALL_TALK
from .prompts import REPHRASE, UNKNOWN
from .world import Passage, World, capitalise, fill


@dataclass
class Settings:
    rank: int = 8
    alpha: float = 16.0
    rate: float = 5e-3
    steps: int = 80
    batch: int = 16  # question rows of a step
    replay: int = 4  # rehearsal rows of a step
    replay_weight: float = 0.5
    forms: int = 3  # question forms a fact, apart from rephrasings
    rephrasings: int = 4  # sampled per form of a fact
    swap_system: float = 0.3  # share of rows with a system message that is not the passage
    weight_decay: float = 0.0


@dataclass
class Material:
    passage: Passage
    train: list[tuple[str, str]] = field(default_factory=list)
    known_forms: list[tuple[str, str]] = field(default_factory=list)  # forms from pretraining, not trained here
    new_forms: list[tuple[str, str]] = field(default_factory=list)  # forms never seen anywhere
    absent: list[tuple[str, str]] = field(default_factory=list)  # about the passage's entities, but not told
    rephrased: int = 0
    rephrased_right: int = 0


def rephrase(reader: Reader, question: str, count: int, generator: torch.Generator) -> list[str]:
    chats: list[list[Message]] = [[("user", REPHRASE.format(question=question))]] * count
    return reader.answers(chats, longest=48, temperature=0.8, generator=generator)


def material(reader: Reader, world: World, facts: int, settings: Settings, seed: int) -> Material:
    passage = world.passage(facts)
    result = Material(passage)
    generator = torch.Generator().manual_seed(seed)
    for fact in passage.facts:
        templates = [t for t in world.question_templates(fact.relation, fact.label, held=False) if t.endswith("?")]
        forms = sorted({capitalise(fill(t, fact.entity.name, fact.value, fact.label)) for t in templates})
        world.random.shuffle(forms)
        chosen = forms[: settings.forms]
        own: set[str] = set()
        for question in chosen:
            own.update(rephrase(reader, question, settings.rephrasings, generator))
        own = {q for q in own if q.endswith("?") and fact.entity.name.lower() in q.lower()} - set(chosen)
        candidates = sorted(own)
        confirmed = reader.read([(passage.text, q) for q in candidates]) if candidates else []
        own = {q for q, answer in zip(candidates, confirmed) if same(answer, fact.value)}
        result.rephrased += len(own)
        result.rephrased_right += sum(q in forms for q in own)
        result.train += [(q, fact.value) for q in chosen + sorted(own)]
        left = [q for q in forms if q not in chosen and q not in own]
        result.known_forms += [(q, fact.value) for q in left[:2]]
        held = world.question_templates(fact.relation, fact.label, held=True)
        held = [capitalise(fill(t, fact.entity.name, fact.value, fact.label)) for t in held]
        result.new_forms += [(q, fact.value) for q in held if q not in forms and q not in own][:1]
    for entity in passage.entities:
        others = world.relations_of(entity)
        for relation in world.random.sample(others, min(2, len(others))):
            templates = world.question_templates(relation, relation.label, held=False)
            result.absent.append((capitalise(fill(templates[0], entity.name, "", relation.label)), UNKNOWN))
    return result


def loss_of(model: Decoder, examples: list[Example]) -> torch.Tensor:
    length = max(len(example.ids) for example in examples)
    return model.loss(collate([[example] for example in examples], length))[0]


def learn(reader: Reader, pairs: list[tuple[str, str]], settings: Settings, replay: list[Example], seed: int) -> float:
    """Train adapters on question and answer pairs; returns the seconds it took."""
    model, pick = reader.model, random.Random(seed)
    torch.manual_seed(seed)
    started = time.process_time()
    parameters = lora.attach(model, settings.rank, settings.alpha)
    optimiser = torch.optim.AdamW(parameters, lr=settings.rate, betas=(0.9, 0.99), weight_decay=settings.weight_decay)
    order: list[int] = []
    for step in range(settings.steps):
        warm = min(1.0, (step + 1) / 5)
        for group in optimiser.param_groups:
            group["lr"] = settings.rate * warm * (0.55 + 0.45 * math.cos(math.pi * step / settings.steps))
        rows: list[Example] = []
        while len(rows) < min(settings.batch, len(pairs)):
            if not order:
                order = pick.sample(range(len(pairs)), len(pairs))
            question, answer = pairs[order.pop()]
            system: list[Message] = []
            if pick.random() < settings.swap_system:
                system = [("system", "You are a helpful assistant.")]
            rows.append(encode(reader.tokenizer, Chat("pair", [*system, ("user", question), ("assistant", answer)])))
        loss = loss_of(model, rows)
        if settings.replay:
            loss = loss + settings.replay_weight * loss_of(model, pick.sample(replay, settings.replay))
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimiser.step()
    return time.process_time() - started


def closed_book(reader: Reader, pairs: list[tuple[str, str]]) -> list[bool]:
    answers = reader.answers([[("user", question)] for question, _ in pairs])
    return [same(answer, wanted) for answer, (_, wanted) in zip(answers, pairs)]


class Canaries:
    """What learning a passage must not break."""

    def __init__(self, reader: Reader, seed: int = 901):
        self.reader = reader
        world = World(random.Random(seed), held_names=True)
        passages = [world.passage(world.random.choice((3, 4, 5))) for _ in range(12)]
        self.reading = [(p.text, world.question(f), f.value) for p in passages for f in p.facts[:2]]
        self.unknown = [(world.question(world.fact(world.entity())), UNKNOWN) for _ in range(20)]

    def run(self) -> dict[str, list[bool]]:
        answers = self.reader.read([(text, question) for text, question, _ in self.reading])
        return {
            "reading": [same(answer, wanted) for answer, (_, _, wanted) in zip(answers, self.reading)],
            "unknown": closed_book(self.reader, self.unknown),
            "talk": closed_book(self.reader, SMALL_TALK),
        }


def adapter_row(reader: Reader, passages: int = 4, seed: int = 500) -> dict[str, float]:
    """Right pairs learned, one unseen passage after another from the clean base, as the product trains them.

    "unseen phrasings" were never trained, neither here nor in pretraining; "canaries lost" is in points of the share
    of reading, not knowing and small talk that was right before.
    """
    settings = Settings(rate=2.5e-3, batch=8, replay=2, replay_weight=1.0, rephrasings=0)
    canaries = Canaries(reader)
    before = [right for results in canaries.run().values() for right in results]
    replay = [encode(reader.tokenizer, chat) for chat in replay_chats(200)]
    trained: list[bool] = []
    unseen: list[bool] = []
    after: list[bool] = []
    for number in range(passages):
        world = World(random.Random(seed + number), held_names=True)
        m = material(reader, world, 4 + number % 4, settings, number)
        steps = 64 * len(m.passage.facts) // settings.batch  # 64 exposures of every fact
        learn(reader, m.train, replace(settings, steps=steps), replay, number)
        trained += closed_book(reader, m.train)
        unseen += closed_book(reader, m.new_forms)
        after += [right for results in canaries.run().values() for right in results]
        lora.detach(reader.model)
    return {
        "trained forms": share(trained), "unseen phrasings": share(unseen),
        "canaries lost": round(100 * (share(before) - share(after)), 1), "questions": len(unseen),
    }  # fmt: skip


def experiment(reader: Reader, variants: list[Settings], passages: int, seed: int) -> None:
    canaries = Canaries(reader)
    print("before", {name: share(results) for name, results in canaries.run().items()}, flush=True)
    replay = [encode(reader.tokenizer, chat) for chat in replay_chats(200)]
    totals: list[dict[str, list]] = [{} for _ in variants]
    for number in range(passages):
        cache: dict[tuple, Material] = {}
        for settings, total in zip(variants, totals):
            world = World(random.Random(seed + number), held_names=True)
            key = (settings.forms, settings.rephrasings)
            if key not in cache:
                cache[key] = material(reader, world, 4 + number % 4, settings, number)
            m = cache[key]
            seconds = learn(reader, m.train, settings, replay, number)
            measured = {
                "trained forms": closed_book(reader, m.train[:: max(1, len(m.train) // 12)]),
                "known forms": closed_book(reader, m.known_forms),
                "new forms": closed_book(reader, m.new_forms),
                "absent": closed_book(reader, m.absent),
                **canaries.run(),
                "pairs": [len(m.train)],
                "seconds": [seconds],
            }
            lora.detach(reader.model)
            shown = {name: share(results) for name, results in measured.items()}
            print(number, len(m.passage.facts), settings.rate, settings.steps, settings.replay, shown, flush=True)
            for name, results in measured.items():
                total.setdefault(name, []).extend(results)
    for settings, total in zip(variants, totals):
        print(json.dumps({"settings": asdict(settings), **{name: share(results) for name, results in total.items()}}), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--name", default="base")
    parser.add_argument("--passages", type=int, default=6)
    parser.add_argument("--seed", type=int, default=500)
    parser.add_argument("--settings", default="[{}]", help="JSON list of changed settings")
    options = parser.parse_args()
    torch.set_num_threads(1)
    reader = Reader(load(options.name))
    variants = [Settings(**changed) for changed in json.loads(options.settings)]
    experiment(reader, variants, options.passages, options.seed)


if __name__ == "__main__":
    main()
