"""Reads `relations*.txt`: entity types, their relations, and the many ways to state and to ask each."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache

from .paths import DATA

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
    "software": ["{N}", "lib{N}", "{N} Server", "{N}DB", "the {N} plugin", "the {J} service"],
    "policy": ["the {N} policy", "the {J} policy", "the {N} rules", "the travel policy", "the holiday policy"],
    "meeting": ["the {N} meeting", "the {J} meeting", "the board meeting", "the {N} workshop", "the {N} council"],
    "course": ["the {N} course", "the {J} course", "course {N}", "the {N} seminar", "the evening class"],
    "vacancy": ["the post at {N}", "the {J} position", "the vacancy at {N}", "the {N} internship"],
    "contract": ["the {N} contract", "the {N} lease", "the {J} contract", "the agreement with {N}", "the {N} deal"],
    "recipe": ["{N} stew", "{N} pie", "the {J} soup", "{N} bread", "the {N} pudding"],
    "medicine": ["{N}", "{N} syrup", "{N} tablets", "{N} drops"],
    "appliance": ["the {N} oven", "the {N} kettle", "the {J} dishwasher", "the {N} 200", "the coffee machine"],
    "vehicle": ["the {N}", "the {N} van", "the {J} bus", "the {N} Cruiser", "the {J} tractor"],
    "game": ["{N}", "the game of {N}", "{N} Quest", "{N} Chess"],
    "plant": ["{N}", "the {N} lily", "the {N} rose", "{N} fern", "the {J} {N}"],
    "film": ["{N}", "The {N} Affair", "Return to {N}"],
    "song": ["{N}", "Goodbye {N}", "The {N} Waltz"],
    "painting": ["the {N} portrait", "View of {N}", "the {J} portrait", "the {N} altarpiece"],
    "church": ["Saint {N}", "the {N} chapel", "{N} Abbey", "{N} Cathedral", "the {J} church"],
    "airport": ["{N} Airport", "{N} Field", "the {N} airfield"],
    "hospital": ["{N} Hospital", "Saint {N} Hospital", "the {N} Clinic", "the {J} clinic"],
    "shop": ["{N}", "the {N} shop", "{N} Books", "{N} Stores", "the {J} shop"],
    "bank": ["{N} Bank", "the Bank of {N}", "the {N} Credit Union"],
    "laboratory": ["the {N} Laboratory", "{N} Lab", "the {N} Observatory", "the {J} laboratory"],
    "newspaper": ["the {N} Times", "the {N} Herald", "{N} Weekly", "the {J} Gazette"],
    "war": ["the War of {N}", "the {N} War", "the Siege of {N}", "the Battle of {N}", "the {N} uprising"],
    "treaty": ["the Treaty of {N}", "the {N} Accord", "the Peace of {N}"],
    "species": ["the {N} warbler", "the {J} {N}", "the {N} beetle", "the {N} frog", "the {N} bat"],
    "star": ["{N}", "the {N} comet", "the {N} nebula"],
    "match": ["the {N} final", "the {N} derby", "the {J} match", "the match against {N}"],
    "harvest": ["the {N} harvest", "the {J} harvest", "the harvest at {N}"],
    "exhibit": ["the {N} vase", "the {N} sword", "the {N} mask", "the {J} statue", "the {N} crown"],
    "hotel": ["Hotel {N}", "the {N} Hotel", "the Grand {N}", "{N} Lodge", "the {J} guest house"],
    "trail": ["the {N} Trail", "the {N} Way", "the {J} path", "the {N} loop"],
    "notice": ["the notice from {N}", "the {J} letter", "the {N} announcement", "the invitation from {N}"],
    "concert": ["the {N} concert", "the {J} concert", "the {N} lecture", "the {N} gala"],
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


MARKS = {
    "+": "statements", "!": "statements_held", "~": "participles", "?": "questions", "*": "questions_held",
    "<": "reversed_questions",
}  # fmt: skip


@cache
def entity_types() -> tuple[EntityType, ...]:
    """The types of all lists; a type or a relation that is named again gains relations or wordings."""
    types: dict[str, EntityType] = {}
    for path in sorted(DATA.glob("relations*.txt")):
        for line in path.read_text().splitlines():
            mark, _, rest = line.partition(" ")
            parts = [part.strip() for part in rest.split("|")]
            if mark == "==":
                if parts[0] not in types:
                    name, kind, pronoun, nouns = parts
                    types[name] = EntityType(name, kind, pronoun, [noun.strip() for noun in nouns.split(",")])
                current = types[parts[0]]
            elif mark == "--":  # a label, the kind of its value
                known = next((r for r in current.relations if r.label == parts[0]), None)
                if known and parts[1:] not in ([], [known.value_kind]):
                    raise ValueError(f"{path.name}: {current.name}, {parts[0]}: the kind was {known.value_kind} before")
                relation = known or Relation(parts[0], parts[1], held=parts[2:] == ["held-out"])
                if not known:
                    current.relations.append(relation)
            elif mark in MARKS:
                wordings = getattr(relation, MARKS[mark])
                if rest not in wordings:
                    wordings.append(rest)
    return tuple(types.values())
