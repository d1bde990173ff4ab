"""Functions and short records as people write them, beside the invented ones.

``functions*.txt`` and ``records*.txt`` hold them in this form; names and values are drawn anew each time (`texts.Writer`):

    == get_weather | weather_in
    : The weather in a city. | Tells what the weather is like.
    - city, town, place: {place}
    - day, date: today | tomorrow | on {day}
    ? What is the weather [like] in {city}?
    ? Will it rain in {city} {day}?

    == a person's age and home
    - name, person, who: {woman} {surname} | {man} {surname}
    - age, years: {18-90}
    + {name} is {age} years old.

``-`` names a parameter of the function or a key of the record, with other names for it, and its values. A parameter that stands in
every request (``?``) is required. Digits alone are a number. One function and one record in fifteen is kept for evaluation.
"""

from __future__ import annotations

import random
import re
import zlib
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from .chat import Chat, Message
from .json_tasks import SENTENCE, JsonTasks, json_value
from .paths import DATA
from .prompts import UNKNOWN
from .small_talk import OTHER_SYSTEMS, SMALL_TALK
from .texts import Writer, split
from .toolbox import Json, as_json, calls_text, camel, system_with_tools
from .world import World



@dataclass
class Form:
    names: list[str]
    descriptions: list[str] = field(default_factory=list)
    slots: dict[str, tuple[list[str], list[str]]] = field(default_factory=dict)  # by the first name: all names, and patterns
    wordings: list[str] = field(default_factory=list)

    @property
    def held(self) -> bool:
        return zlib.crc32(self.names[0].encode()) % 15 == 3

    def used(self, wording: str) -> list[str]:
        """The slots of a wording, in the form's order."""
        return [name for name in self.slots if f"{{{name}}}" in wording]

    @property
    def required(self) -> list[str]:
        return [name for name in self.slots if all(name in self.used(wording) for wording in self.wordings)]


def parse(text: str) -> list[Form]:
    """ValueError names the line that breaks the form."""
    forms: list[Form] = []
    for number, line in enumerate(text.splitlines(), 1):
        mark, _, rest = line.strip().partition(" ")
        if mark == "==":
            forms.append(Form([name.strip() for name in rest.split("|")]))
        elif mark == ":":
            forms[-1].descriptions += [part.strip() for part in rest.split("|")]
        elif mark == "-" and ":" in rest:
            names, _, patterns = rest.partition(":")
            listed = [name.strip() for name in names.split(",")]
            forms[-1].slots[listed[0]] = (listed, [pattern.strip() for pattern in split(patterns)])
        elif mark in ("?", "+"):
            forms[-1].wordings.append(rest.strip())
        elif mark and not mark.startswith("#"):
            raise ValueError(f"line {number}: {line!r} begins with none of == : - ? +")
    return forms


@cache
def forms(kind: str, held: bool) -> list[Form]:
    """The functions or the records that are (not) kept for evaluation."""
    read = [form for file in (f"{kind}.txt", f"{kind}_more.txt") for form in parse((DATA / file).read_text())]
    return [form for form in read if form.held == held]


def faults(form: Form, seed: int = 1) -> list[str]:
    """What is wrong with a function or a record."""
    found = [f"unknown slot {name} in: {w}" for w in form.wordings for name in re.findall(r"\{([a-z_]{3,})\}", w) if name not in form.slots]
    if len(form.wordings) < 3:
        found.append("fewer than 3 wordings")
    if not form.slots:
        found.append("no slots")
    try:
        for number in range(8):
            writer = Writer(random.Random(seed + number))
            for wording in form.wordings:
                text, values = write(writer, form, wording)
                found += [f"brackets left in: {text}"] if re.search(r"[\[\]{}|]", text) else []
                found += [f"the value {value!r} does not stand in: {text}" for value in values.values() if value not in text]
    except (AttributeError, KeyError, ValueError, TypeError, IndexError) as error:
        found.append(f"cannot be filled: {error}")
    return list(dict.fromkeys(found))[:5]


def write(writer: Writer, form: Form, wording: str) -> tuple[str, dict[str, str]]:
    """A wording with values, and the values by slot."""
    values = {name: writer.fill(writer.random.choice(form.slots[name][1]), {}) for name in form.used(wording)}
    return writer.sentence(wording, values), values


class Everyday:
    """Chats with functions, and requests for JSON, about everyday things; ``held`` takes what is kept for evaluation."""

    def __init__(self, source: random.Random, world: World, held: bool = False):
        self.random, self.world, self.writer = source, world, Writer(source, held)
        self.functions, self.records = forms("functions", held), forms("records", held)
        self.json = JsonTasks(source, world)

    def name(self, words: str) -> str:
        style = self.random.random()
        parts = words.split("_")
        return camel(parts) if style < 0.2 else "-".join(parts) if style < 0.25 else words

    def offered(self, form: Form) -> tuple[Json, dict[str, str]]:
        """A function's definition, and its parameters' names by slot."""
        pick = self.random
        parameters = {slot: self.name(pick.choice(names)) for slot, (names, _) in form.slots.items()}
        if len(set(parameters.values())) < len(parameters):
            parameters = {slot: slot for slot in form.slots}
        properties = {parameters[slot]: {"type": self.kind(patterns)} for slot, (_, patterns) in form.slots.items()}
        schema: Json = {"type": "object", "properties": properties}
        if form.required and pick.random() < 0.9:
            schema["required"] = [parameters[slot] for slot in form.required]
        function: Json = {"name": self.name(pick.choice(form.names))}
        if pick.random() < 0.93:
            function["description"] = pick.choice(form.descriptions)
        return {"type": "function", "function": {**function, "parameters": schema}}, parameters

    @staticmethod
    def kind(patterns: list[str]) -> str:
        """Of the values: those of digits alone are integers."""
        return "integer" if all(re.fullmatch(r"\d+|\{\d+-\d+\}", pattern) for pattern in patterns) else "string"

    def calls(self) -> Chat:
        """One function or a few, each turn as if it were asked alone."""
        pick = self.random
        chosen = pick.sample(self.functions, min(len(self.functions), pick.choices((1, 2, 3, 4), weights=(20, 30, 40, 10))[0]))
        offers = [(form, *self.offered(form)) for form in chosen]
        system = pick.choice([None, None, None, *OTHER_SYSTEMS[:4]])
        messages: list[Message] = [("system", system_with_tools(system, [definition for _, definition, _ in offers]))]
        for _ in range(pick.choice((3, 4, 5, 6))):
            if pick.random() < 0.12:
                small = pick.random() < 0.6
                said, answer = pick.choice(SMALL_TALK) if small else (self.world.question(self.world.fact(self.world.entity())), UNKNOWN)
            else:
                form, definition, parameters = pick.choice(offers)
                said, values = write(self.writer, form, pick.choice(form.wordings))
                arguments: dict[str, Any] = {
                    parameters[slot]: int(value) if self.kind(form.slots[slot][1]) == "integer" else value for slot, value in values.items()
                }
                answer = calls_text([{"name": definition["function"]["name"], "arguments": arguments}])
            messages += [("user", said), ("assistant", answer)]
        return Chat("everyday tools", messages, independent=True)

    def objects(self) -> Chat:
        """Short statements, of which some values are wanted as JSON."""
        pick = self.random
        messages: list[Message] = []
        for _ in range(pick.choice((3, 4, 5, 6))):
            form = pick.choice(self.records)
            text, values = write(self.writer, form, pick.choice(form.wordings))
            slots = pick.sample(list(values), pick.randint(1, len(values)))
            keys = [pick.choice(form.slots[slot][0]) for slot in slots]
            if len(set(keys)) < len(keys):
                keys = slots
            wording = pick.choice(SENTENCE)
            if pick.random() < 0.3:
                wording = wording.replace("\n", " ")  # the request follows in the same line
            said = self.json.fill(wording, keys, text=text)
            messages += [("user", said), ("assistant", as_json({key: json_value(values[slot]) for key, slot in zip(keys, slots)}))]
        return Chat("everyday json", messages, independent=True)


def main() -> None:
    for file in ("functions.txt", "records.txt"):
        listed = [*forms(file, False), *forms(file, True)]
        for form in listed:
            for fault in faults(form):
                print(f"{file}: {form.names[0]}: {fault}")
        print(f"{file}: {len(listed)}")


if __name__ == "__main__":
    main()
