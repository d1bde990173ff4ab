"""Entities, facts, and the sentences that state them."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field

from .relations import GENERIC_FOLLOWING, GENERIC_STATEMENTS, GENERIC_STATEMENTS_HELD, EntityType, Relation
from .vocabulary import Vocabulary
from .vocabulary_words import MONTHS

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


class Narrator:
    """States facts in varied sentences; a world adds the facts, the passages and the questions."""

    random: random.Random
    vocabulary: Vocabulary
    held_templates: bool

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
        introduced = not told_before and entity.pronoun == "it" and pick.random() < 0.22
        if introduced:
            kind = f"{pick.choice(SIZES)} {entity.noun}" if pick.random() < 0.4 else entity.noun
            article = "an" if kind[0] in "aeio" else "a"
            phrases = rest[0].relation.participles if rest[0].relation else []
            if phrases and pick.random() < 0.5:  # "Varlo is a small firm founded in 1850."
                fact = rest.pop(0)
                kind += " " + fill(pick.choice(phrases), "", self.adorned(fact))
            opening = pick.choice(
                [f"{entity.name} is {article} {kind}.", f"There is {article} {kind} called {entity.name}.",
                 f"{entity.name} was {article} {kind}.", f"{article} {kind} by the name of {entity.name} is described here."]
            )  # fmt: skip
            sentences.append(capitalise(opening))
        while rest:
            follows = bool(sentences)
            if not follows:
                mention = entity.name if told_before else self.first_mention(entity)
                pronoun = None
            else:
                chance = pick.random()
                pronoun = entity.pronoun if chance < 0.45 else None
                # A thing that was introduced as "a pump" is often called "the pump" from then on.
                by_noun = 0.45 <= chance < (0.85 if introduced else 0.58)
                by_noun = by_noun and entity.noun in sole_nouns and entity.pronoun == "it"
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
