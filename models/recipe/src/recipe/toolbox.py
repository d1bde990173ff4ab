"""Invented functions, and the texts in which the chat template shows them and their calls."""

from __future__ import annotations

import json
import random
import re
from dataclasses import dataclass, field
from typing import Any

from .tool_words import FAMILIES, FLAGS, HELD_NOUNS, PARAMETERS, Family, ParameterWords
from .vocabulary import Vocabulary, is_held_out
from .world import capitalise

Json = dict[str, Any]

# Shorter than what larger models are told: this one knows from training how to call, and every token of it costs a learner.
TOOLS_HEAD, TOOLS_TAIL = "# Tools\n\n<tools>", "\n</tools>"


def as_json(value: Any) -> str:
    """JSON as the template's filter ``tojson`` writes it."""
    return json.dumps(value, ensure_ascii=False)


def system_with_tools(system: str | None, tools: list[Json]) -> str:
    """The system message that the template makes of an own one and the functions."""
    listed = "".join("\n" + as_json(tool["function"]) for tool in tools)
    return (f"{system}\n\n" if system else "") + TOOLS_HEAD + listed + TOOLS_TAIL


def calls_text(calls: list[Json]) -> str:
    """The assistant's turn that makes these calls of {name, arguments}."""
    return "\n".join(
        f'<tool_call>\n{{"name": "{call["name"]}", "arguments": {as_json(call["arguments"])}}}\n</tool_call>' for call in calls
    )


@dataclass
class Parameter:
    name: str
    kind: str
    words: ParameterWords
    choices: list[str] = field(default_factory=list)  # of an enumeration
    required: bool = True


@dataclass
class Tool:
    name: str
    family: Family
    noun: str
    parameters: list[Parameter]
    definition: Json


def uncamel(name: str) -> str:
    return "".join("_" + letter.lower() if letter.isupper() else letter for letter in name)


def camel(words: list[str]) -> str:
    return words[0] + "".join(word.capitalize() for word in words[1:])


def with_article(text: str) -> str:
    return re.sub(r"\b([Aa]) (?=[aeio]|u(?!ni|s))", r"\1n ", text)


class Toolbox:
    """Invents functions about the nouns of training, or about those held out."""

    def __init__(self, source: random.Random, words: Vocabulary, held_nouns: bool):
        self.random, self.words, self.held_nouns = source, words, held_nouns

    def noun(self, family: Family) -> str:
        """What a function is about: an everyday noun, or "backup quota"."""
        while True:
            generic = family.generic and self.random.random() < 0.35
            noun = self.words.attribute_name().removeprefix("the ") if generic else self.random.choice(family.nouns)
            if (is_held_out(noun) if generic else noun in HELD_NOUNS) == self.held_nouns:
                return noun

    def parameter(self, kind: str, required: bool, taken: set[str], noun: str) -> Parameter:
        pick, words = self.random, PARAMETERS[kind]
        names = [name for name in words.names if name not in taken] or [f"{kind}_{len(taken)}"]
        name = pick.choice(names)
        if kind == "code" and name in ("id", "number", "code") and pick.random() < 0.5:
            name = noun.split()[-1] + "_" + name
        if kind == "flag":
            name = pick.choice([flag for flag in FLAGS if flag not in taken] or ["urgent"])
        choices: list[str] = []
        if kind == "choice":
            name = pick.choice([name for name in words.choices if name not in taken])
            choices = list(words.choices[name])
        taken.add(name)
        return Parameter(name, kind, words, choices, required)

    def tool(self, family: Family | None = None) -> Tool:
        pick = self.random
        family = family or pick.choice(FAMILIES)
        noun = self.noun(family)
        taken: set[str] = set()
        required = [self.parameter(kind, True, taken, noun) for kind in pick.choice(family.required)]
        optional = [kind for kind in family.optional if pick.random() < 0.3][: 3 - len(required)]
        parameters = required + [self.parameter(kind, False, taken, noun) for kind in optional]
        style = pick.random()
        verb, about = pick.choice(family.verbs).split(), noun.lower().replace("'", "").split()
        if family.acts == "get" and pick.random() < 0.15:
            about = [pick.choice(("current", "latest", "my", "the")), *about]
        words = [*about, *verb] if style < 0.1 else [*verb, *about]
        name = camel(words) if 0.55 < style < 0.8 else ("-" if style >= 0.95 else "_").join(words)
        spelling = pick.choice((str, str, camel)) if style < 0.8 else str
        for parameter in parameters:
            if spelling is camel:
                parameter.name = camel(parameter.name.split("_"))
        return Tool(name, family, noun, parameters, self.definition(name, family, noun, parameters))

    def definition(self, name: str, family: Family, noun: str, parameters: list[Parameter]) -> Json:
        pick = self.random
        described = pick.random()
        properties: Json = {}
        for parameter in parameters:
            schema: Json = {"type": {"count": "integer", "amount": "number", "sum": "number", "flag": "boolean"}.get(parameter.kind, "string")}
            if parameter.choices:
                schema["enum"] = parameter.choices
            if described < 0.3 and parameter.words.descriptions:
                schema["description"] = pick.choice(parameter.words.descriptions)
            properties[parameter.name] = schema
        needed = [parameter.name for parameter in parameters if parameter.required]
        schema = {"type": "object", "properties": properties}
        if needed and pick.random() < 0.9:
            schema["required"] = needed
        if pick.random() < 0.05:
            schema["additionalProperties"] = False
        function: Json = {"name": name}
        if pick.random() < 0.93:
            of = pick.choice(parameters[0].words.of) if parameters else ""
            text = pick.choice(family.descriptions).replace("{N}", noun).replace("{of}", of)
            function["description"] = with_article(capitalise(" ".join(text.split()).replace(" .", ".")))
        return {"type": "function", "function": {**function, "parameters": schema}}

    def tools(self, number: int) -> list[Tool]:
        """Functions that differ in what they are about, or clearly in what they do."""
        tools: list[Tool] = []
        while len(tools) < number:
            like = self.random.choice(tools) if tools and self.random.random() < 0.5 else None
            tool = self.tool(like.family if like else None)
            if all(self.distinct(tool, other) for other in tools):
                tools.append(tool)
        return tools

    @staticmethod
    def distinct(one: Tool, other: Tool) -> bool:
        if one.name == other.name:
            return False
        overlap = set(one.noun.lower().split()) & set(other.noun.lower().split())
        return not overlap or one.family.acts != other.family.acts
