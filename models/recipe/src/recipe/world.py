"""Writes short passages about invented things, and knows every fact in them.

Facts of an entity are told with its name, a pronoun, its noun or an apposition, one to three to a sentence, with the
value before or after its key, among filler sentences; sentences about several entities may alternate.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from .relations import (
    GENERIC_QUESTIONS, GENERIC_QUESTIONS_HELD, NAME_PATTERNS, EntityType, Relation, entity_types,
)  # fmt: skip
from .sentences import SIZES, Entity, Fact, Narrator, american, capitalise, fill
from .vocabulary import Vocabulary

__all__ = ["Entity", "Fact", "Passage", "World", "american", "capitalise", "fill"]

FILLERS = """
The weather was fine that day.|Nobody knows why.|Many people like this.|This was written down long ago.
|It was a quiet year.|The old people still talk about it.|Not much else is known.|Everyone was surprised.
|The news came as a surprise.|A map hangs on the wall.|There is a small garden nearby.|Most visitors come in spring.
|The work took a long time.|This has not changed since.|Some people disagree.|It rains often there.
|The records are kept in a box.|Few remember the details.|This was in the newspaper.|A short note was added later.
|The story is well known.|Children learn this at school.|It was hard work.|The winters are long.
""".replace("\n", "").split("|")
INTROS = [
    "Here are some notes.", "This is a short report.", "The following facts were recorded.", "Read this carefully.",
    "These notes were found in a drawer.", "Some news from this week.",
]  # fmt: skip


@dataclass
class Passage:
    text: str
    facts: list[Fact]
    entities: list[Entity]
    sentences: list[tuple[str, Entity | None]]


class World(Narrator):
    def __init__(
        self, source: random.Random, *, held_names: bool = False, held_templates: bool = False,
        held_relations: bool = False, generic: float = 0.22, one_type: float = 0.4,
    ):  # fmt: skip
        self.random = source
        self.vocabulary = Vocabulary(source, held_names)
        self.held_templates, self.held_relations = held_templates, held_relations
        self.generic, self.one_type = generic, one_type
        self.types = [t for t in entity_types() if not held_relations or any(r.held for r in t.relations)]

    # -- entities and facts ------------------------------------------------------------------------------------

    def entity(self, kind: EntityType | None = None) -> Entity:
        pick, words = self.random, self.vocabulary
        kind = kind or pick.choice(self.types)
        patterns = NAME_PATTERNS.get(kind.name)
        if patterns and pick.random() < 0.45:
            name = pick.choice(patterns).replace("{N}", words.nonce()).replace("{K}", kind.nouns[-1])
            name = name.replace("{J}", pick.choice((pick.choice(SIZES), words.listed("colour"), words.listed("adjective"))))
        else:
            name = words.value(kind.name_kind)
            if name.startswith("The "):
                name = "the " + name[4:]
        pronoun = pick.choice(["he", "she"]) if kind.pronoun == "person" else "it"
        return Entity(kind, name, pick.choice(kind.nouns), pronoun)

    def relations_of(self, entity: Entity) -> list[Relation]:
        return [r for r in entity.type.relations if r.held == self.held_relations and r.label not in entity.labels]

    def fact(self, entity: Entity) -> Fact:
        pick, words = self.random, self.vocabulary
        candidates = self.relations_of(entity)
        if not candidates or (pick.random() < self.generic and not self.held_relations):
            label = words.attribute_name()
            while label in entity.labels:
                label = words.attribute_name()
            relation, value = None, words.anything()
        else:
            relation = pick.choice(candidates)
            label, value = relation.label, words.value(relation.value_kind)
        entity.labels.add(label)
        return Fact(entity, label, value, relation)

    # -- passages ----------------------------------------------------------------------------------------------

    def passage(self, count: int, entities: int | None = None) -> Passage:
        pick = self.random
        if entities is None:
            entities = 1 if count == 1 or pick.random() < 0.25 else pick.randint(2, max(2, min(count, 6)))
        one_type = pick.choice(self.types) if pick.random() < self.one_type else None
        members: list[Entity] = []
        taken: set[str] = set()
        while len(members) < entities:
            entity = self.entity(one_type)
            if entity.name.lower() not in taken:
                taken.add(entity.name.lower())
                members.append(entity)
        shares = [1] * entities
        for _ in range(count - entities):
            shares[pick.randrange(entities)] += 1
        facts: list[Fact] = []
        # Entities of one type often share their attributes, so that both keys are needed to find a value.
        shared = one_type and pick.random() < 0.6
        for entity, share in zip(members, shares):
            for _ in range(share):
                fact = self.fact(entity)
                while fact.value.lower() in taken:
                    entity.labels.discard(fact.label)
                    fact = self.fact(entity)
                if shared and entity is not members[0] and pick.random() < 0.7:
                    model = pick.choice([f for f in facts if f.entity is members[0]])
                    if model.label not in entity.labels:
                        kind = model.relation.value_kind if model.relation else "anything"
                        entity.labels.discard(fact.label)
                        entity.labels.add(model.label)
                        fact = Fact(entity, model.label, self.vocabulary.value(kind), model.relation)
                taken.add(fact.value.lower())
                facts.append(fact)
        nouns = [e.noun for e in members]
        sole = {noun for noun in nouns if nouns.count(noun) == 1}
        sentences: list[tuple[str, Entity | None]] = []
        ordered: list[Fact] = []
        blocks = self.blocks(members, facts)
        told: set[int] = set()
        for block in blocks:
            entity = block[0].entity
            sentences += [(text, entity) for text in self.tell(block, sole, id(entity) in told)]
            told.add(id(entity))
            ordered += block
            if pick.random() < 0.06:
                sentences.append((pick.choice(FILLERS), None))
        if pick.random() < 0.08:
            sentences.insert(0, (pick.choice(INTROS), None))
        text = pick.choice([" "] * 12 + ["\n"]).join(sentence for sentence, _ in sentences)
        return Passage(text, ordered, members, sentences)

    def blocks(self, members: list[Entity], facts: list[Fact]) -> list[list[Fact]]:
        """Facts by entity, whole or cut in two, in any order."""
        pick, blocks = self.random, []
        for entity in members:
            own = [fact for fact in facts if fact.entity is entity]
            pick.shuffle(own)
            if len(own) > 1 and pick.random() < 0.2:
                cut = pick.randint(1, len(own) - 1)
                blocks += [own[:cut], own[cut:]]
            else:
                blocks.append(own)
        pick.shuffle(blocks)
        return blocks

    # -- questions ---------------------------------------------------------------------------------------------

    def question_templates(self, relation: Relation | None, label: str, held: bool | None = None) -> list[str]:
        held = self.held_templates if held is None else held
        if relation is None:
            return GENERIC_QUESTIONS_HELD if held else GENERIC_QUESTIONS
        if held:
            return relation.questions_held or relation.questions
        word = "Who" if relation.about_person else "What"
        return relation.questions + [f"{word} is the {{A}} of {{E}}?"]

    def mention(self, entity: Entity) -> str:
        plain = not entity.name.startswith("the ") and entity.noun not in entity.name.lower()
        if plain and entity.pronoun == "it" and self.random.random() < 0.08:
            return f"the {entity.noun} {entity.name}"
        return entity.name

    def questions(self, fact: Fact, count: int, held: bool | None = None) -> list[str]:
        """Up to ``count`` different questions that the fact answers."""
        templates = self.question_templates(fact.relation, fact.label, held)
        chosen = self.random.sample(templates, min(count, len(templates)))
        return [capitalise(fill(t, self.mention(fact.entity), fact.value, fact.label)) for t in chosen]

    def question(self, fact: Fact) -> str:
        return self.questions(fact, 1)[0]

    def unanswerable(self, passage: Passage) -> str | None:
        """A natural question that the passage does not answer."""
        pick = self.random
        for _ in range(10):
            known = pick.choice(passage.entities)
            if pick.random() < 0.6:  # a known entity, something not told about it
                entity = known
                other = pick.choice(passage.facts)
                if pick.random() < 0.4 and other.entity.type is entity.type and other.label not in entity.labels:
                    fact = Fact(entity, other.label, "", other.relation)
                else:
                    candidates = [r for r in entity.type.relations if r.label not in entity.labels and not r.held]
                    if not candidates or pick.random() < 0.2:
                        label = self.vocabulary.attribute_name()
                        if label in entity.labels:
                            continue
                        fact = Fact(entity, label, "", None)
                    else:
                        relation = pick.choice(candidates)
                        fact = Fact(entity, relation.label, "", relation)
            else:  # an entity that the passage does not mention, something told about another
                model = pick.choice(passage.facts)
                entity = self.entity(model.entity.type)
                if any(entity.name.lower() in e.name.lower() or e.name.lower() in entity.name.lower() for e in passage.entities):
                    continue
                fact = Fact(entity, model.label, "", model.relation)
            return self.question(fact)
        return None
