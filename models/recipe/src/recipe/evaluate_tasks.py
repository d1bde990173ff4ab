"""Measure functions, JSON, chats, instructions and long passages, on names and wordings that were never trained."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from typing import Any, Callable, Iterable, Protocol

from tokenizers import Tokenizer

from .chat import MARKUP, Chat, Message, prompt_ids
from .chat_tasks import ACKNOWLEDGED, CORRECTED, REMEMBERED, ChatTasks
from .closed_book import ClosedBook
from .everyday import Everyday
from .examples import SPECIAL_TOKENS
from .generate import generate
from .instruction_tasks import InstructionTasks
from .intents import INTENTS
from .json_tasks import JsonTasks
from .long_tasks import LongTasks
from .model import Decoder
from .prompts import NOT_STATED, UNKNOWN
from .tool_tasks import ToolTasks
from .world import World

CONTROL = set(range(len(SPECIAL_TOKENS))) - set(MARKUP.values())


class Reader(Protocol):
    """A model and its tokenizer (`measures.Reader`)."""

    model: Decoder
    tokenizer: Tokenizer


@dataclass
class Item:
    """The messages before a turn of the assistant, and that turn."""

    messages: list[Message]
    wanted: str


def items(chat: Chat) -> list[Item]:
    """Every turn of the assistant, each as it would be asked alone where the chat's questions are independent."""
    result: list[Item] = []
    first = next(index for index, (role, _) in enumerate(chat.messages) if role == "user")
    branch = first
    for index, (role, text) in enumerate(chat.messages):
        if role == "user":
            branch = index
        if role == "assistant":
            start = chat.messages[:first] + chat.messages[branch:index] if chat.independent else chat.messages[:index]
            result.append(Item(start, text))
    return result


def sample(chats: Callable[[], Chat], wanted: Callable[[Item], bool], number: int, source: random.Random) -> list[Item]:
    """Items of fresh chats, at most two of each."""
    found: list[Item] = []
    while len(found) < number:
        suitable = [item for item in items(chats()) if wanted(item)]
        found += source.sample(suitable, min(2, len(suitable)))
    return found[:number]


def replies(reader: Reader, asked: list[Item], longest: int) -> list[str]:
    """Greedy replies, with the model's markup as text."""
    prompts = [prompt_ids(reader.tokenizer, item.messages) for item in asked]
    outputs = generate(reader.model, prompts, longest=longest)
    plain = [[index for index in ids if index not in CONTROL] for ids in outputs]
    return [reader.tokenizer.decode(ids, skip_special_tokens=False) for ids in plain]


def share(results: Iterable[bool]) -> float:
    listed = list(results)
    return round(sum(listed) / max(1, len(listed)), 3)


# -- scores ----------------------------------------------------------------------------------------------------


def calls(text: str) -> list[Any] | None:
    """The calls of a reply as the service reads them; none when one of them is not valid."""
    try:
        return [json.loads(part.partition("</tool_call>")[0]) for part in text.split("<tool_call>")[1:]]
    except ValueError:
        return None


def same_calls(reply: str, wanted: str) -> bool:
    return calls(reply) == calls(wanted)


def parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def same_json(reply: str, wanted: str) -> bool:
    """Equal values, with the keys in the order in which they were asked for."""
    return json.dumps(parsed(reply)) == json.dumps(json.loads(wanted))


def same_text(reply: str, wanted: str) -> bool:
    return reply.strip() == wanted


# -- items -----------------------------------------------------------------------------------------------------


def held_world(seed: int) -> tuple[random.Random, World]:
    source = random.Random(seed)
    return source, World(source, held_names=True)


def is_call(item: Item) -> bool:
    return item.wanted.count("<tool_call>") == 1


def tool_items(seed: int, number: int, wanted: Callable[[Item], bool] = is_call, *, held_wordings: bool = False) -> list[Item]:
    source, world = held_world(seed)
    return sample(ToolTasks(source, world, held_nouns=True, held_wordings=held_wordings).chat, wanted, number, source)


def json_items(seed: int, number: int, *, held_wordings: bool = False) -> list[Item]:
    source, world = held_world(seed)
    return sample(JsonTasks(source, world, held_keys=True, held_wordings=held_wordings).chat, lambda item: True, number, source)


def memory_items(seed: int, number: int, *, told: bool = True, held: bool = False) -> list[Item]:
    """Questions about what the user told before, or (not ``told``) about what nobody told."""
    source, world = held_world(seed)
    other = {ACKNOWLEDGED, REMEMBERED, CORRECTED, *(intent.reply for intent in INTENTS)}
    asked = (lambda item: item.wanted not in other | {UNKNOWN}) if told else (lambda item: item.wanted == UNKNOWN)
    return sample(ChatTasks(source, world, held=held).memory, asked, number, source)


def instruction_items(seed: int, number: int, *, held: bool = False) -> list[Item]:
    source, world = held_world(seed)
    return sample(InstructionTasks(source, world, held=held).chat, lambda item: True, number, source)


def long_items(seed: int, number: int) -> list[Item]:
    source, world = held_world(seed)
    return sample(LongTasks(source, world).chat, lambda item: item.wanted != NOT_STATED, number, source)


def closed_book_items(seed: int, number: int) -> list[Item]:
    source, world = held_world(seed)
    return sample(ClosedBook(source, world, held=True).chat, lambda item: item.wanted == UNKNOWN, number, source)


def everyday_items(seed: int, number: int, kind: str) -> list[Item]:
    """Calls of functions, or objects, that are kept for evaluation."""
    source, world = held_world(seed)
    everyday = Everyday(source, world, held=True)
    chats, wanted = (everyday.calls, is_call) if kind == "calls" else (everyday.objects, lambda item: True)
    return sample(chats, wanted, number, source)


def small_talk_items() -> list[Item]:
    return [Item([("user", said)], intent.reply) for intent in INTENTS for said in intent.held]


def rows(reader: Reader, questions: int) -> dict[str, float]:
    """Shares of right replies; the names, function nouns and sets of keys were never trained."""
    few = max(1, questions // 4)

    def score(asked: list[Item], same: Callable[[str, str], bool] = same_text, longest: int = 48) -> float:
        return share(same(reply, item.wanted) for reply, item in zip(replies(reader, asked, longest), asked))

    def results(item: Item) -> bool:
        return item.messages[-1][0] == "tool"

    def plain(item: Item) -> bool:
        return item.messages[-1][0] == "user" and "<tool_call>" not in item.wanted

    objects = json_items(204, questions)
    written = replies(reader, objects, 240)
    no_calls = tool_items(203, few, plain)
    return {
        "tool calls": score(tool_items(201, questions), same_calls, 160),
        "tool calls, unseen wordings": score(tool_items(202, few, held_wordings=True), same_calls, 160),
        "tool calls, everyday functions": score(everyday_items(215, questions, "calls"), same_calls, 160),
        "two tool calls": score(tool_items(206, few, lambda item: item.wanted.count("<tool_call>") == 2), same_calls, 240),
        "tool results told": score(tool_items(207, few, results), longest=80),
        "no tool called": share("<tool_call>" not in reply for reply in replies(reader, no_calls, 48)),
        "json valid": share(parsed(reply) is not None for reply in written),
        "json right": share(same_json(reply, item.wanted) for reply, item in zip(written, objects)),
        "json right, unseen wordings": score(json_items(205, few, held_wordings=True), same_json, 240),
        "json right, everyday statements": score(everyday_items(216, questions, "objects"), same_json, 160),
        "chat facts": score(memory_items(208, questions)),
        "chat facts, unseen wordings": score(memory_items(209, few, held=True)),
        "chat facts not told": score(memory_items(210, few, told=False)),
        "system prompts": score(instruction_items(211, questions)),
        "system prompts, unseen wordings": score(instruction_items(212, questions, held=True)),
        "small talk": score(small_talk_items()),
        "unknown, unseen wordings": score(closed_book_items(214, few)),
        "long passages": score(long_items(213, questions)),
    }
