"""Chats with functions: choose one by its description, copy its arguments, say its result.

The functions stand at the end of the system message, a call is a turn of the assistant, and a result is a message of
the role ``tool``.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

from .chat import Chat, Message
from .prompts import NOT_STATED, READ, UNKNOWN
from .small_talk import OTHER_SYSTEMS, SMALL_TALK
from .tool_words import FLAGS, HELD_PREFACES, NO_FUNCTION, PREFACES, RESULTS, ROOMS
from .toolbox import Json, Parameter, Tool, Toolbox, as_json, calls_text, system_with_tools, uncamel, with_article
from .world import World, capitalise

LONGEST_DEFINITIONS = 700  # characters of the functions of one chat


@dataclass
class Request:
    """What a user asks for: the calls it takes, their results, and the answer."""

    text: str
    calls: list[Json] = field(default_factory=list)
    results: list[str] = field(default_factory=list)
    answer: str = ""


def joined(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " and " + parts[-1]


class ToolTasks(Toolbox):
    """Requests and results, with the nouns and the wordings of training or the held-out ones."""

    def __init__(self, source: random.Random, world: World, *, held_nouns: bool = False, held_wordings: bool = False):
        super().__init__(source, world.vocabulary, held_nouns)
        self.world, self.held_wordings = world, held_wordings

    # -- requests ----------------------------------------------------------------------------------------------

    def value(self, parameter: Parameter) -> tuple[Any, str]:
        """A value, and the words with which a user says it."""
        pick, words = self.random, self.words
        if parameter.kind == "flag":
            value = pick.random() < 0.6
            return value, FLAGS[uncamel(parameter.name)][0 if value else 1]
        if parameter.kind == "choice":
            value = pick.choice(parameter.choices)
            phrases = parameter.words.choice_phrases[uncamel(parameter.name)]
            return value, pick.choice(phrases).replace("{V}", value)
        if parameter.kind == "count":
            value = pick.randint(2, 20) if pick.random() < 0.7 else pick.randint(21, 500)
        elif parameter.kind in ("amount", "sum"):
            value = pick.randint(2, 900) if pick.random() < 0.6 else round(pick.randint(1, 99) + pick.randint(1, 9) / 10, 1)
        elif parameter.kind == "text":
            value = self.sentence()
        else:
            value = self.of_kind(pick.choice(parameter.words.values))
        phrase = pick.choice(parameter.words.phrases).replace("{V}", str(value))
        return value, phrase.replace("{name}", uncamel(parameter.name).replace("_", " "))

    def sentence(self) -> str:
        """A short text to send or to note."""
        pick, words = self.random, self.words
        return pick.choice([
            f"The {words.listed('thing')} is {words.listed('colour')}", f"See you on {words.listed('day')}",
            f"Bring the {words.listed('thing')}", f"Meet me in {words.place()}", f"I will be late",
            f"{words.person()} has arrived", f"The code is {words.code()}", f"Call {words.person()}",
            f"Buy {words.listed('food')}", f"We start at {words.time()}", f"Thank you for the {words.listed('food')}",
        ]).rstrip(".")  # fmt: skip

    def arguments(self, tool: Tool) -> tuple[Json, str, str]:
        """The arguments of a request in the function's order, its words within the sentence, and sentences after it."""
        values: Json = {}
        inside: list[tuple[int, str]] = []
        after: list[str] = []
        for parameter in tool.parameters:
            if not parameter.required and self.random.random() < 0.45:
                continue
            values[parameter.name], phrase = self.value(parameter)
            if phrase.endswith(".") and parameter.kind == "flag":
                after.append(phrase)
            else:
                inside.append((parameter.words.order, phrase))
        if self.random.random() < 0.75:
            inside.sort(key=lambda part: part[0])
        return values, " ".join(phrase for _, phrase in inside), " ".join(after)

    def request(self, tool: Tool) -> Request:
        pick = self.random
        values, inside, after = self.arguments(tool)
        wordings = tool.family.held if self.held_wordings else tool.family.requests
        text = pick.choice(wordings)
        if tool.family.acts == "get" and self.kinds(tool.noun) == ["person"]:
            text = text.replace("What is", "Who is").replace("What's", "Who is")
        text = text.replace("{N}", tool.noun).replace("{args}", inside)
        text = with_article(capitalise(" ".join(text.split())))
        for mark in "?.!,":
            text = text.replace(" " + mark, mark).replace(mark + ".", mark)
        if pick.random() < 0.12:
            text = pick.choice(HELD_PREFACES if self.held_wordings else PREFACES) + " " + text
        if after:
            text += " " + after
        if pick.random() < 0.06:
            text = text[:1].lower() + text[1:].rstrip("?.") if not after else text
        result, answer = self.result(tool, values)
        return Request(text, [{"name": tool.name, "arguments": values}], [result], answer)

    def result(self, tool: Tool, values: Json) -> tuple[str, str]:
        """What the function returns, and the sentence that says so; what the user knows already is not told."""
        pick, words = self.random, self.words
        if pick.random() < 0.07:
            reason = pick.choice(RESULTS["errors"])
            return as_json({"error": reason}), f"That did not work: {reason}."
        if tool.family.acts == "search":
            found = [words.title() for _ in range(pick.choice((0, 1, 1, 2, 2, 3)))]
            text = as_json({"results": found} if pick.random() < 0.5 else found)
            return text, f"I found {joined(found)}." if found else "I found nothing."
        if tool.family.acts == "count":
            number = pick.randint(0, 900)
            text = str(number) if pick.random() < 0.4 else as_json({pick.choice(("count", "total", "number")): number})
            return text, f"The number of {tool.noun} is {number}."
        if tool.family.acts == "get":
            value = self.outcome(tool.noun)
            answer = f"The {tool.noun} is {value}."
            if pick.random() < 0.35:
                return str(value), answer
            key = tool.noun.lower().replace(" ", "_") if pick.random() < 0.7 else pick.choice(("value", "result", "answer"))
            if pick.random() < 0.2:
                other = pick.choice(list(RESULTS["fields"]))
                second = self.of_kind(RESULTS["fields"][other])
                return as_json({key: value, other: second}), f"The {tool.noun} is {value} and the {other} is {second}."
            if pick.random() < 0.2:
                return as_json({**values, key: value}), answer
            return as_json({key: value}), answer
        if pick.random() < 0.3:
            return pick.choice(["ok", "done", '{"ok": true}', '{"status": "ok"}', '{"success": true}']), "Done."
        names = pick.sample(list(RESULTS["fields"]), pick.choice((1, 1, 2)))
        fields = {name: self.of_kind(RESULTS["fields"][name]) for name in names}
        told = joined([f"the {name.replace('_', ' ')} is {value}" for name, value in fields.items()])
        return as_json(fields), f"Done. {capitalise(told)}."

    def of_kind(self, kind: str) -> Any:
        if kind == "integer":
            return self.random.randint(2, 900)
        if kind == "room":
            return self.room()
        return self.random.choice(RESULTS[kind]) if kind in RESULTS else self.words.value(kind)

    def room(self) -> str:
        form = self.random.randrange(4)
        if form == 0:
            return f"{self.words.listed('colour')} room"
        if form == 1:
            return f"{self.words.nonce()} hall"
        return self.random.choice(ROOMS)

    @staticmethod
    def kinds(noun: str) -> list[str]:
        return RESULTS["kinds"].get(noun) or RESULTS["kinds"].get(noun.split()[-1]) or []

    def outcome(self, noun: str) -> Any:
        kinds = self.kinds(noun)
        if kinds:
            return self.of_kind(self.random.choice(kinds))
        return self.random.randint(2, 5000) if self.random.random() < 0.3 else self.words.anything()

    # -- chats -------------------------------------------------------------------------------------------------

    def parallel(self, tools: list[Tool]) -> Request:
        """Two calls at once: of two functions, or of one for two things."""
        pick = self.random
        single = [tool for tool in tools if tool.family.acts == "get" and [p.kind for p in tool.parameters] in (["place"], ["person"], ["code"])]
        if single and pick.random() < 0.6:
            tool = pick.choice(single)
            name, values = tool.parameters[0].name, []
            while len(values) < 2:
                value = self.words.value(pick.choice(tool.parameters[0].words.values))
                if value not in values:
                    values.append(value)
            of = {"place": "in", "person": "of", "code": "of"}[tool.parameters[0].kind]
            ask = pick.choice([f"What is the {tool.noun} {of} {values[0]} and {of} {values[1]}?",
                               f"Tell me the {tool.noun} {of} {values[0]} and {values[1]}.",
                               f"I need the {tool.noun} {of} both {values[0]} and {values[1]}."])  # fmt: skip
            outcomes = [self.outcome(tool.noun) for _ in values]
            return Request(
                ask, [{"name": tool.name, "arguments": {name: value}} for value in values],
                [str(outcome) if pick.random() < 0.5 else as_json({tool.noun.replace(" ", "_"): outcome}) for outcome in outcomes],
                " ".join(f"{value}: {outcome}." for value, outcome in zip(values, outcomes)),
            )  # fmt: skip
        first, second = (self.request(tool) for tool in pick.sample(tools, 2))
        link = pick.choice([" ", " Also: ", " And then: ", " Then ", "\n"])
        return Request(
            first.text + link + second.text, first.calls + second.calls, first.results + second.results,
            f"{first.answer} {second.answer}",
        )  # fmt: skip

    def plain(self, tools: list[Tool], unknown: str = UNKNOWN) -> Request:
        """Something that needs no function, or one that is not there."""
        chance = self.random.random()
        if chance < 0.45:
            question, answer = self.random.choice(SMALL_TALK)
            return Request(question, answer=answer)
        if chance < 0.65:
            return Request(self.world.question(self.world.fact(self.world.entity())), answer=unknown)
        while True:
            other = self.tool()
            if all(not set(other.noun.split()) & set(tool.noun.split()) for tool in tools):
                asks = other.family.acts in ("get", "search", "count")
                return Request(self.request(other).text, answer=unknown if asks else NO_FUNCTION)

    def missing(self, tools: list[Tool]) -> Request | None:
        """A request that leaves out what the function needs."""
        for tool in tools:
            if tool.family.acts in ("get", "cancel") and len([p for p in tool.parameters if p.required]) == 1:
                text = self.random.choice(tool.family.requests).replace("{N}", tool.noun).replace(" {args}", "")
                asked = uncamel(tool.parameters[0].name).replace("_", " ")
                return Request(with_article(capitalise(text)), answer=f"Please tell me the {asked}.")
        return None

    def start(self, number: int | None = None, passage: str | None = None) -> tuple[list[Tool], list[Message]]:
        """Functions, and the system message that offers them."""
        pick = self.random
        number = number or pick.choices((1, 2, 3, 4), weights=(38, 44, 13, 5))[0]
        tools = self.tools(number)
        while len(tools) > 1 and sum(len(as_json(tool.definition)) for tool in tools) > LONGEST_DEFINITIONS:
            tools.pop()
        system = pick.choice([None, None, *OTHER_SYSTEMS[:4]]) if passage is None else READ.format(passage=passage)
        return tools, [("system", system_with_tools(system, [tool.definition for tool in tools]))]

    def turn(self, tools: list[Tool], unknown: str = UNKNOWN) -> Request:
        chance = self.random.random()
        if chance < 0.12:
            return self.plain(tools, unknown)
        if chance < 0.16:
            return self.missing(tools) or self.plain(tools, unknown)
        if chance < 0.24 and len(tools) > 1:
            return self.parallel(tools)
        return self.request(self.random.choice(tools))

    def chat(self) -> Chat:
        passage = self.world.passage(self.random.randint(1, 4)) if self.random.random() < 0.1 else None
        tools, messages = self.start(passage=passage.text if passage else None)
        for _ in range(self.random.choice((1, 2, 2, 3))):
            if passage and self.random.random() < 0.6:
                fact = self.random.choice(passage.facts)
                request = Request(self.world.question(fact), answer=fact.value)
            else:
                request = self.turn(tools, NOT_STATED if passage else UNKNOWN)
            messages.append(("user", request.text))
            if request.calls:
                messages.append(("assistant", calls_text(request.calls)))
                messages += [("tool", result) for result in request.results]
            messages.append(("assistant", request.answer))
        return Chat("tools", messages, independent=self.random.random() < 0.6)
