"""Chats in which the answer is JSON: an object with the asked keys, a list, or one answer under one key.

Values are copied from the passage; digits alone become a number, and what the passage does not tell becomes null.
"""

from __future__ import annotations

import random
import re
from typing import Any

from .chat import Chat, Message
from .prompts import READ
from .toolbox import as_json
from .vocabulary import is_held_out
from .wordings import read_sections
from .world import Entity, Fact, Passage, World, capitalise

OBJECT = [
    "Describe {E} in JSON with the keys {keys}.", "Answer in JSON with the keys {keys}: {E}.",
    "Give me a JSON object about {E} with the keys {keys}.", "Write JSON for {E}. Keys: {keys}.",
    "What do we know about {E}? Answer in JSON with the keys {keys}.", "Extract {keys} of {E} as JSON.",
    "Return {keys} of {E} as a JSON object.", "I need {E} as JSON with {keys}.", "{E}: {keys}, as JSON please.",
    "Fill in this JSON about {E}: {form}", "Complete {form} for {E}.", "Make a JSON object with the keys {keys} for {E}.",
]  # fmt: skip
OBJECT_HELD = [
    "Put what is known about {E} into JSON with the keys {keys}.", "Please answer with a JSON object ({keys}) for {E}.",
    "JSON for {E}, with exactly these keys: {keys}.",
]  # fmt: skip
ALL = [
    "Give me the facts about {E} as a JSON object.", "Write everything about {E} as JSON.", "Describe {E} in JSON.",
    "Turn the facts about {E} into JSON.", "Return a JSON object about {E}.", "What is known about {E}? Answer in JSON.",
]  # fmt: skip
ALL_HELD = ["Summarise {E} as a JSON object.", "Make JSON out of what the text says about {E}."]
SENTENCE = [
    "Turn this into JSON with the keys {keys}: {text}", "{text}\nWrite that as JSON with the keys {keys}.",
    "Extract {keys} as JSON from this text: {text}", "Read this: {text}\nAnswer in JSON with the keys {keys}.",
    "JSON with {keys}, please: {text}", "Convert to JSON ({keys}): {text}", "{text}\nFill in: {form}",
]  # fmt: skip
SENTENCE_HELD = ["Take {keys} from this sentence and answer as JSON: {text}", "{text}\nPut it into a JSON object with {keys}."]
NAMES = [
    "List the {nouns} as a JSON array.", "Give me the names of the {nouns} as a JSON list.", "Which {nouns} are there? Answer as a JSON list.",
    "Write all {nouns} as JSON.", "Return a JSON array with the names of all {nouns}.",
]  # fmt: skip
NAMES_HELD = ["I want a JSON list of the {nouns}.", "Put the names of the {nouns} into a JSON array."]
ROWS = [
    "List the {nouns} as JSON objects with the keys {keys}.", "Give me all {nouns} as a JSON list of objects with {keys}.",
    "Return a JSON array of the {nouns} with {keys}.", "Write the {nouns} as JSON, each with the keys {keys}.",
]  # fmt: skip
ROWS_HELD = ["Make a JSON array with {keys} of every one of the {nouns}."]
SYSTEMS = [
    'Answer only in JSON with the key "{key}".', 'Always answer with a JSON object that has the key "{key}".',
    "Reply in JSON: the answer goes under {key}.", 'Your output is JSON with one key, "{key}".', 'Respond with {{"{key}": ...}} only.',
    'Write every answer as {{"{key}": "..."}}.',
]  # fmt: skip
SYSTEMS_HELD = ['All replies must be JSON objects with the single key "{key}".', "Put the answer into a JSON object under {key}."]
#: For training, more of each in ``json_wordings.txt``; "PAIRS" are there only.
MORE = read_sections("json_wordings.txt")
for usual, name in ((OBJECT, "OBJECT"), (ALL, "ALL"), (SENTENCE, "SENTENCE"), (NAMES, "NAMES"), (ROWS, "ROWS"), (SYSTEMS, "SYSTEMS")):
    usual += [wording.replace("\\n", "\n") for wording in MORE[name] if wording not in usual]
PAIRS = [wording.replace("\\n", "\n") for wording in MORE["PAIRS"]]
ANSWER_KEYS = ["answer", "result", "value", "reply", "text", "response", "output", "data"]


def json_value(text: str) -> str | int:
    return int(text) if re.fullmatch(r"0|[1-9]\d{0,14}", text) else text


def key_style(source: random.Random, label: str, style: str) -> str:
    words = label.replace("-", " ").split()
    if style == "camel":
        return words[0] + "".join(capitalise(word) for word in words[1:])
    return ("_" if style == "snake" else " ").join(words)


class JsonTasks:
    """``held_keys`` takes only sets of keys that are kept out of training, ``held_wordings`` such requests.

    ``simple`` is the share of short chats, with which training begins to make sense; evaluation has none.
    """

    def __init__(
        self, source: random.Random, world: World, *, held_keys: bool = False, held_wordings: bool = False, simple: float = 0.0
    ):
        self.random, self.world, self.simple = source, world, simple
        self.held_keys, self.held_wordings = held_keys, held_wordings

    def wording(self, usual: list[str], held: list[str]) -> str:
        return self.random.choice(held if self.held_wordings else usual)

    def fill(self, template: str, keys: list[str], **values: str) -> str:
        quoted = self.random.random() < 0.2
        shown = [f'"{key}"' if quoted else key for key in keys]
        listed = shown[0] if len(keys) == 1 else ", ".join(shown[:-1]) + " and " + shown[-1]
        if len(keys) == 1:
            template = template.replace("the keys", "the key").replace("Keys", "Key").replace("these keys", "this key")
        form = "{" + ", ".join(f'"{key}": ...' for key in keys) + "}"
        text = template.format(keys=listed, form=form, **values)
        return text if template.startswith("{keys}") else capitalise(text)  # a key keeps its letters

    def keys_allowed(self, keys: list[str]) -> bool:
        return is_held_out(",".join(sorted(keys))) == self.held_keys

    # -- one object --------------------------------------------------------------------------------------------

    def object(self, passage: Passage, entity: Entity, most: int = 4, absent: float = 0.3) -> tuple[list[str], dict[str, Any]]:
        """At most so many keys in any order, and the object with their values."""
        pick, world = self.random, self.world
        own = [fact for fact in passage.facts if fact.entity is entity]
        while True:
            style = pick.choice(("snake", "snake", "camel", "words"))
            chosen: list[tuple[str, Any]] = [(fact.label, json_value(fact.value)) for fact in pick.sample(own, min(len(own), pick.randint(1, most)))]
            if pick.random() < absent:
                others = [r.label for r in entity.type.relations if r.label not in entity.labels and not r.held]
                label = pick.choice(others) if others and pick.random() < 0.7 else world.vocabulary.attribute_name()
                if label not in entity.labels:
                    chosen.insert(pick.randint(0, len(chosen)), (label, None))
            if pick.random() < 0.5:
                chosen.insert(0, ("name", entity.name))
            values = {key_style(pick, label, style): value for label, value in chosen}
            if self.keys_allowed(list(values)) and len(values) == len(chosen):
                return list(values), values

    def about_entity(self, passage: Passage) -> tuple[str, str]:
        """A request for an object, and the object."""
        pick, entity = self.random, self.random.choice(passage.entities)
        if pick.random() < 0.2:
            own = [fact for fact in passage.facts if fact.entity is entity]
            values = {"name": entity.name, **{key_style(pick, fact.label, "snake"): json_value(fact.value) for fact in own}}
            return capitalise(self.wording(ALL, ALL_HELD).format(E=entity.name)), as_json(values)
        keys, values = self.object(passage, entity)
        return self.fill(self.wording(OBJECT, OBJECT_HELD), keys, E=entity.name), as_json(values)

    def from_passage(self) -> Chat:
        passage = self.world.passage(self.random.choice((1, 2, 3, 4, 5, 6, 8)))
        messages: list[Message] = [("system", READ.format(passage=passage.text))]
        for _ in range(self.random.choice((1, 2, 3))):
            request, answer = self.about_entity(passage)
            messages += [("user", request), ("assistant", answer)]
        return Chat("json", messages, independent=True)

    def from_sentence(self) -> Chat:
        messages: list[Message] = []
        for _ in range(self.random.choice((1, 1, 2))):
            passage = self.world.passage(self.random.choice((1, 2, 2, 3)), entities=1)
            keys, values = self.object(passage, passage.entities[0])
            text = " ".join(passage.text.split("\n"))
            template = self.wording(SENTENCE, SENTENCE_HELD)
            messages += [("user", self.fill(template, keys, text=text)), ("assistant", as_json(values))]
        return Chat("json", messages, independent=True)

    # -- lists -------------------------------------------------------------------------------------------------

    def listing(self) -> Chat:
        """The entities of one type, as names or as objects of their name and one thing about each."""
        pick, world = self.random, self.world
        while True:
            passage, relation = self.shared_passage()
            names = [entity.name for entity in passage.entities]
            nouns = passage.entities[0].type.nouns[0]
            nouns = {"person": "people", "company": "companies"}.get(nouns, nouns + ("" if nouns.endswith("s") else "s"))
            if pick.random() < 0.4:
                request, answer = self.wording(NAMES, NAMES_HELD).format(nouns=nouns), names
                return Chat("json", [("system", READ.format(passage=passage.text)), ("user", request), ("assistant", as_json(answer))])
            key = key_style(pick, relation, pick.choice(("snake", "camel")))
            if self.keys_allowed(["name", key]):
                break
        told = {fact.entity.name: json_value(fact.value) for fact in passage.facts}
        rows: Any = [{"name": name, key: told[name]} for name in names]
        request = self.fill(self.wording(ROWS, ROWS_HELD), ["name", key], nouns=nouns)
        if pick.random() < 0.25:
            rows = {nouns: rows}
            request += f' Put the list under "{nouns}".'
        return Chat("json", [("system", READ.format(passage=passage.text)), ("user", request), ("assistant", as_json(rows))])

    def shared_passage(self) -> tuple[Passage, str]:
        """Two to four entities of one type, each with the same attribute, in the order of the text."""
        pick, world = self.random, self.world
        kind = pick.choice([t for t in world.types if any(not r.held for r in t.relations)])
        relation = pick.choice([r for r in kind.relations if not r.held])
        members: list[Entity] = []
        facts: list[Fact] = []
        for _ in range(pick.randint(2, 4)):
            entity = world.entity(kind)
            if entity.name not in [member.name for member in members]:
                members.append(entity)
                entity.labels.add(relation.label)
                facts.append(Fact(entity, relation.label, world.vocabulary.value(relation.value_kind), relation))
        sentences = [(world.state(fact, fact.entity.name), fact.entity) for fact in facts]
        return Passage(" ".join(text for text, _ in sentences), facts, members, sentences), relation.label

    # -- answers under one key ---------------------------------------------------------------------------------

    def answers(self) -> Chat:
        pick, world = self.random, self.world
        key = pick.choice(ANSWER_KEYS[:-2]) if not self.held_keys else pick.choice(ANSWER_KEYS[-2:])
        order = self.wording(SYSTEMS, SYSTEMS_HELD).format(key=key)
        passage = world.passage(pick.choice((1, 2, 3, 4, 5)))
        text = READ.format(passage=passage.text)
        messages: list[Message] = [("system", f"{order}\n\n{text}" if pick.random() < 0.5 else f"{text}\n\n{order}")]
        for fact in pick.sample(passage.facts, min(len(passage.facts), 3)):
            messages += [("user", world.question(fact)), ("assistant", as_json({key: json_value(fact.value)}))]
        question = world.unanswerable(passage) if pick.random() < 0.4 else None
        if question:
            messages += [("user", question), ("assistant", as_json({key: None}))]
        return Chat("json", messages, independent=True)

    # -- short chats, in which there is little to find --------------------------------------------------------

    def short(self) -> Passage:
        return self.world.passage(self.random.choice((1, 1, 2, 2, 3)), entities=1)

    def short_pairs(self) -> Chat:
        """Keys and values that are given need only be written as JSON."""
        pick = self.random
        messages: list[Message] = []
        while len(messages) < 2 * pick.choice((2, 3, 4)):
            if pick.random() < 0.5:
                messages += self.written_out(*self.invented())
                continue
            passage = self.short()
            if not any(self.keys_allowed([key_style(pick, fact.label, "snake")]) for fact in passage.facts):
                continue  # no choice of keys would be allowed
            keys, values = self.object(passage, passage.entities[0], 3, 0.0)
            messages += self.written_out(keys, values)
        return Chat("json", messages, independent=True)

    def invented(self) -> tuple[list[str], dict[str, Any]]:
        """Keys and values of which none tells the other, so that both must be copied."""
        pick, words = self.random, self.world.vocabulary
        while True:
            labels = [words.listed("thing") if pick.random() < 0.5 else words.attribute_name().removeprefix("the ") for _ in range(pick.randint(1, 4))]
            values = {key_style(pick, label, "snake"): json_value(words.anything()) for label in labels}
            if self.keys_allowed(list(values)):
                return list(values), values

    def written_out(self, keys: list[str], values: dict[str, Any]) -> list[Message]:
        pick = self.random
        link, end = pick.choice((": ", ": ", " = ", " is ", " - ")), pick.choice((", ", ", ", "; ", "\n", " | "))
        text = end.join(f"{key}{link}{values[key]}" for key in keys)
        return [("user", pick.choice(PAIRS).format(text=text)), ("assistant", as_json(values))]

    def short_passage(self) -> Chat:
        """One or two keys of the one thing that the passage is about."""
        passage = self.short()
        entity = passage.entities[0]
        messages: list[Message] = [("system", READ.format(passage=passage.text))]
        for _ in range(3):
            keys, values = self.object(passage, entity, 2, 0.05)
            messages += [("user", self.fill(self.wording(OBJECT, OBJECT_HELD), keys, E=entity.name)), ("assistant", as_json(values))]
        return Chat("json", messages, independent=True)

    def short_sentence(self) -> Chat:
        messages: list[Message] = []
        for _ in range(2):
            passage = self.short()
            keys, values = self.object(passage, passage.entities[0], 2, 0.05)
            text = " ".join(passage.text.split("\n"))
            messages += [("user", self.fill(self.wording(SENTENCE, SENTENCE_HELD), keys, text=text)), ("assistant", as_json(values))]
        return Chat("json", messages, independent=True)

    def chat(self) -> Chat:
        if self.random.random() < self.simple:
            kind = self.random.choices([self.short_pairs, self.short_passage, self.short_sentence], weights=(0.3, 0.45, 0.25))[0]
            return kind()
        kinds = [self.from_passage, self.from_sentence, self.listing, self.answers]
        return self.random.choices(kinds, weights=(0.45, 0.25, 0.1, 0.2))[0]()
