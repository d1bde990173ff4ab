"""Reads `relations.txt`: entity types, their relations, and the many ways to state and to ask each."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

#: Ways to name an entity beyond the plain name of its kind: {N} an invented word, {J} an adjective, {K} its noun.
NAME_PATTERNS = {
    "town": ["{N}"],
    "ship": ["the {N}", "{N}", "the MS {N}", "the {J} ferry"],
    "project": ["project {N}", "Project {N}", "{N}"],
    "festival": ["the {N} Festival", "{N} Fair", "the {N} Cup", "the {N} race"],
    "school": ["{N} School", "{N} College", "the {N} Academy"],
    "building": ["the {N} Tower", "{N} House", "the {N} Museum", "Hotel {N}", "{N} Castle", "the {N} library",
                 "the {N} lighthouse", "the {N} Theatre", "the {N} mill", "the {J} {K}", "the {J} library", "the archive",
                 "the {J} lighthouse", "the {J} station"],
    "mountain": ["Mount {N}", "{N} Peak", "{N} Hill"],
    "lake": ["Lake {N}", "the {N} river", "the river {N}", "{N} Lake"],
    "planet": ["{N}", "planet {N}"],
    "restaurant": ["the {N} Inn", "Cafe {N}", "the {N} bakery", "the {J} cafe", "the bakery"],
    "team": ["the {N} Lions", "{N} United", "the {N} Club", "FC {N}", "the {N} choir"],
    "train": ["train {N}", "the {N} Express", "line {N}"],
    "dish": ["{N}", "{N} soup", "{N} cake"],
    "bridge": ["the {N} Bridge", "{N} Bridge", "the {N} Tunnel", "the {N} railway", "{N} Road",
               "the {J} bridge"],
    "farm": ["{N} Farm", "the {N} mill", "the {N} mine", "{N} Gardens", "the {J} {K}"],
    "device": ["the {N}", "the {N} engine", "the {N} clock", "the {N} pump", "the {J} {K}", "the {J} pump"],
    "company": ["{N}", "{N} Ltd"],
}  # fmt: skip

GENERIC_STATEMENTS = [
    "The {A} of {E} is {V}.", "{E} has {V} as its {A}.", "The {A} for {E} is {V}.", "For {E}, the {A} is {V}.",
    "{V} is the {A} of {E}.", "As for {E}, its {A} is {V}.", "{E}'s {A} is {V}.",
]  # fmt: skip
GENERIC_STATEMENTS_HELD = ["{E} uses {V} for its {A}.", "When it comes to {A}, {E} has {V}."]
GENERIC_FOLLOWING = [  # after a sentence about the same entity
    "Its {A} is {V}.", "The {A} is {V}.", "It has {V} as its {A}.", "It also has a {A}, which is {V}.",
]  # fmt: skip
GENERIC_QUESTIONS = [
    "What is the {A} of {E}?", "What {A} does {E} have?", "What is {E}'s {A}?", "Which {A} does {E} have?",
    "What is the {A} for {E}?", "Tell me the {A} of {E}.", "Do you know the {A} of {E}?", "{E} has which {A}?",
]  # fmt: skip
GENERIC_QUESTIONS_HELD = ["Can you say what the {A} of {E} is?", "For {E}, what is the {A}?"]


@dataclass(frozen=True)
class Relation:
    label: str
    value_kind: str
    held: bool = False
    statements: list[str] = field(default_factory=list)
    statements_held: list[str] = field(default_factory=list)
    participles: list[str] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)
    questions_held: list[str] = field(default_factory=list)
    reversed_questions: list[str] = field(default_factory=list)

    @property
    def about_person(self) -> bool:
        return self.value_kind == "person"


@dataclass(frozen=True)
class EntityType:
    name: str
    name_kind: str
    pronoun: str  # "it" or "person"
    nouns: list[str]
    relations: list[Relation] = field(default_factory=list)


@cache
def entity_types() -> tuple[EntityType, ...]:
    types: list[EntityType] = []
    lists = {
        "+": "statements", "!": "statements_held", "~": "participles", "?": "questions", "*": "questions_held",
        "<": "reversed_questions",
    }  # fmt: skip
    for line in (Path(__file__).parent / "relations.txt").read_text().splitlines():
        mark, _, rest = line.partition(" ")
        if mark == "==":
            name, kind, pronoun, nouns = (part.strip() for part in rest.split("|"))
            types.append(EntityType(name, kind, pronoun, [noun.strip() for noun in nouns.split(",")]))
        elif mark == "--":  # a label, the kind of its value
            parts = [part.strip() for part in rest.split("|")]
            types[-1].relations.append(Relation(parts[0], parts[1], held=parts[2:] == ["held-out"]))
        elif mark in lists:
            getattr(types[-1].relations[-1], lists[mark]).append(rest)
    return tuple(types)
