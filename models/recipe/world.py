"""Writes short passages about invented things, and knows every fact in them.

Facts of an entity are told with its name, a pronoun, its noun or an apposition, one or two to a sentence, with the
value before or after its key, among filler sentences; sentences about several entities may alternate.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field

from .relations import (
    GENERIC_FOLLOWING, GENERIC_QUESTIONS, GENERIC_QUESTIONS_HELD, GENERIC_STATEMENTS, GENERIC_STATEMENTS_HELD,
    NAME_PATTERNS, EntityType, Relation, entity_types,
)  # fmt: skip
from .vocabulary import MONTHS, Vocabulary

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
PREFACES = ["Today", "In fact,", "As everyone knows,", "At present", "According to the notes,", "We know that", "Also,"]
ADJUNCTS = ["now", "these days", "as far as we know", "for many years", "at the moment", "with great success", "since then",
            "on most days", "after all"]  # fmt: skip
SIZES = ["small", "large", "old", "new", "famous", "quiet", "busy", "little", "modern", "well-known"]
OBJECT_PRONOUNS = {"it": "it", "he": "him", "she": "her", "they": "them"}
POSSESSIVES = {"it": "its", "he": "his", "she": "her", "they": "their"}
AMERICAN = {
    "colour": "color", "metre": "meter", "litre": "liter", "organis": "organiz", "honour": "honor",
    "favourite": "favorite", "programme": "program", "practis": "practic", "Theatre": "Theater", "grey": "gray",
    "harbour": "harbor", "storeys": "stories", "travellers": "travelers",
}  # fmt: skip


def american(text: str) -> str:
    for british, other in AMERICAN.items():
        text = text.replace(british, other)
    return text


@dataclass
class Entity:
    type: EntityType
    name: str
    noun: str
    pronoun: str
    labels: set[str] = field(default_factory=set)


@dataclass
class Fact:
    entity: Entity
    label: str
    value: str
    relation: Relation | None  # none: a generic attribute


@dataclass
class Passage:
    text: str
    facts: list[Fact]
    entities: list[Entity]
    sentences: list[tuple[str, Entity | None]]


def capitalise(text: str) -> str:
    return text[:1].upper() + text[1:]


def fill(template: str, entity: str, value: str = "", label: str = "") -> str:
    """Fill a template, choosing "in" or "on" before a time and "a" or "an" before a value."""
    if "{@V}" in template:
        is_day = value[:1].isdigit() and any(month in value for month in MONTHS) or re.match(r"[A-Z]\w+ \d{1,2}(,|$)", value)
        template = template.replace("{@V}", f"{'on' if is_day else 'in'} {value}")
    text = template.replace("{E}", entity).replace("{A}", label).replace("{V}", value)
    text = re.sub(r"\b([Aa]) (?=[aeio]|u(?!ni|s))", r"\1n ", text)
    return text.replace("..", ".")


class World:
    def __init__(
        self, source: random.Random, *, held_names: bool = False, held_templates: bool = False,
        held_relations: bool = False, generic: float = 0.22,
    ):  # fmt: skip
        self.random = source
        self.vocabulary = Vocabulary(source, held_names)
        self.held_templates, self.held_relations, self.generic = held_templates, held_relations, generic
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

    # -- sentences ---------------------------------------------------------------------------------------------

    def statement_template(self, fact: Fact, following: bool) -> str:
        pick, relation = self.random, fact.relation
        if relation is None:
            if self.held_templates:
                return pick.choice(GENERIC_STATEMENTS_HELD)
            if following and fact.entity.pronoun == "it" and pick.random() < 0.7:
                return pick.choice(GENERIC_FOLLOWING)
            return pick.choice(GENERIC_STATEMENTS)
        if self.held_templates and relation.statements_held:
            return pick.choice(relation.statements_held)
        if pick.random() < 0.08 and not relation.value_kind.startswith("#"):
            return f"The {fact.label} of {{E}} is {{V}}."
        return pick.choice(relation.statements)

    def state(self, fact: Fact, mention: str, pronoun: str | None = None, following: bool = False) -> str:
        """One sentence for one fact; with a pronoun the entity is not named."""
        template = self.statement_template(fact, following)
        if pronoun and "{E}" in template:
            if pronoun == "it" and template.endswith("in {E}."):
                template = template.replace("in {E}.", "there.")
            template = re.sub(r"^The (.+?) of \{E\} ", rf"{POSSESSIVES[pronoun]} \1 ", template)
            template = template.replace("{E}'s", POSSESSIVES[pronoun])
            if template.startswith("{E}"):
                template = pronoun + template[3:]
            template = template.replace("{E}", OBJECT_PRONOUNS[pronoun])
        elif "," in mention and not template.startswith("{E} "):
            mention = fact.entity.name
        if self.random.random() < 0.05:
            adjunct = self.random.choice((self.random.choice(ADJUNCTS), self.adjunct()))
            template = template.rstrip(".") + f" {adjunct}."
        text = fill(template, mention, self.adorned(fact), fact.label)
        if self.random.random() < 0.05:
            text = text if template.startswith("{") else text[:1].lower() + text[1:]
            return self.random.choice(PREFACES) + " " + text
        return capitalise(text)

    def adjunct(self) -> str:
        """Something more that nobody asks about."""
        words = self.vocabulary
        return self.random.choice(
            [f"since {words.year()}", f"in {words.year()}", f"every {words.listed('day')}", f"under {words.person()}",
             f"together with {words.person()}", f"near {words.place()}", "last year", "every day"]
        )  # fmt: skip

    def adorned(self, fact: Fact) -> str:
        """The value as the sentence shows it: a person sometimes comes with a role, "the engineer Mira Voss"."""
        pick = self.random
        if fact.relation and fact.relation.about_person and pick.random() < 0.08:
            return f"the {self.vocabulary.listed('job')} {fact.value}"
        if fact.relation and fact.relation.value_kind == "number" and pick.random() < 0.05:
            return f"{pick.choice(['about', 'almost', 'around', 'exactly', 'more than'])} {fact.value}"
        return fact.value

    def joined(self, facts: list[Fact], mention: str) -> str | None:
        """Two or three facts in one sentence, when their templates allow it."""
        pick = self.random
        if len(facts) == 3:
            return self.enumerated(facts, mention)
        first, second = facts
        if first.relation and second.relation and pick.random() < 0.7:
            # "founded in 1850" and "founded by Ada Lund" share their verb.
            for one in first.relation.participles:
                for other in second.relation.participles:
                    verb, _, rest = other.partition(" ")
                    if one.startswith(verb + " ") and one != other:
                        begin = fill(one, "", self.adorned(first))
                        return capitalise(f"{mention} was {begin} {fill(rest, '', self.adorned(second))}.")
        starting = [t for t in (second.relation.statements if second.relation else []) if t.startswith("{E} ")]
        if first.relation and first.relation.participles and starting and pick.random() < 0.5:
            phrase = fill(pick.choice(first.relation.participles), "", first.value)
            rest = fill(pick.choice(starting)[4:], "", second.value)
            if pick.random() < 0.4:
                return f"{capitalise(phrase)}, {mention} {rest}"
            return capitalise(f"{mention}, {phrase}, {rest}")
        if first.relation and starting:
            opening = [t for t in first.relation.statements if t.startswith("{E} ")]
            if opening:
                begin = fill(pick.choice(opening), mention, first.value).rstrip(".")
                rest = fill(pick.choice(starting)[4:], "", second.value)
                link = pick.choice([" and", " and", ", and it" if first.entity.pronoun == "it" else f", and {first.entity.pronoun}"])
                return capitalise(f"{begin}{link} {rest}")
        return None

    def enumerated(self, facts: list[Fact], mention: str) -> str | None:
        """ "Varlo makes lamps, is based in Tirn and employs 40 people." """
        parts: list[str] = []
        for fact in facts:
            starting = [t for t in (fact.relation.statements if fact.relation else []) if t.startswith("{E} ")]
            if not starting:
                return None
            parts.append(fill(self.random.choice(starting)[4:].rstrip("."), "", self.adorned(fact)))
        return capitalise(f"{mention} {parts[0]}, {parts[1]} and {parts[2]}.")

    def first_mention(self, entity: Entity) -> str:
        chance = self.random.random()
        plain = not entity.name.startswith("the ") and entity.noun not in entity.name.lower()
        if chance < 0.12 and plain and entity.pronoun == "it":
            return f"the {entity.noun} {entity.name}"
        if chance < 0.2 and entity.pronoun == "it":
            return f"{entity.name}, {'an' if entity.noun[0] in 'aeio' else 'a'} {entity.noun},"
        return entity.name

    def tell(self, facts: list[Fact], sole_nouns: set[str], told_before: bool) -> list[str]:
        """Consecutive sentences about one entity."""
        pick, entity, sentences = self.random, facts[0].entity, []
        rest = list(facts)
        if not told_before and entity.pronoun == "it" and pick.random() < 0.18:
            kind = f"{pick.choice(SIZES)} {entity.noun}" if pick.random() < 0.4 else entity.noun
            article = "an" if kind[0] in "aeio" else "a"
            phrases = rest[0].relation.participles if rest[0].relation else []
            if phrases and pick.random() < 0.5:  # "Varlo is a small firm founded in 1850."
                fact = rest.pop(0)
                kind += " " + fill(pick.choice(phrases), "", self.adorned(fact))
            opening = pick.choice([f"{entity.name} is {article} {kind}.", f"There is {article} {kind} called {entity.name}."])
            sentences.append(capitalise(opening))
        while rest:
            follows = bool(sentences)
            if not follows:
                mention = entity.name if told_before else self.first_mention(entity)
                pronoun = None
            else:
                chance = pick.random()
                pronoun = entity.pronoun if chance < 0.45 else None
                by_noun = 0.45 <= chance < 0.58 and entity.noun in sole_nouns and entity.pronoun == "it"
                mention = f"the {entity.noun}" if by_noun else entity.name
            if len(rest) > 1 and pick.random() < 0.25:
                number = 3 if len(rest) > 2 and pick.random() < 0.25 else 2
                sentence = self.joined(rest[:number], pronoun or mention)
                if sentence:
                    sentences.append(sentence)
                    rest = rest[number:]
                    continue
            fact = rest.pop(0)
            sentences.append(self.state(fact, mention, pronoun, follows))
        return sentences

    # -- passages ----------------------------------------------------------------------------------------------

    def passage(self, count: int, entities: int | None = None) -> Passage:
        pick = self.random
        if entities is None:
            entities = 1 if count == 1 or pick.random() < 0.25 else pick.randint(2, max(2, min(count, 6)))
        one_type = pick.choice(self.types) if pick.random() < 0.4 else None
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
