"""Chats as token ids, exactly as the chat template and the service's tokenizer write them.

A turn of the assistant is a trained span. Tokens of the model's markup (`<tool_call>`) in turns of the system and the
assistant are single ids; what a user or a tool wrote is always plain text, and no text makes a control token.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Iterator

from tokenizers import Tokenizer

from .examples import ASSISTANT, IM_END, IM_START, NEWLINE, SPECIAL_TOKENS, Example

Message = tuple[str, str]  # role (system, user, assistant, tool), content
Piece = str | int  # plain text, or the id of a special token

MARKUP = {token: index for index, token in enumerate(SPECIAL_TOKENS) if not token.startswith("<|")}
MARKUP_PATTERN = re.compile("(" + "|".join(re.escape(token) for token in MARKUP) + ")")
RESPONSE, RESPONSE_END = MARKUP["<tool_response>"], MARKUP["</tool_response>"]


@dataclass
class Chat:
    kind: str
    messages: list[Message]
    #: Each question of the chat stands alone after the messages before the first one.
    independent: bool = False
    #: The first message is also trained on as text.
    train_text: bool = False
    #: Of a chat of questions that nobody answers: questions with the same number ask for the same.
    alike: list[int] = field(default_factory=list)

    def as_json(self) -> dict:
        return {"kind": self.kind, "messages": [{"role": role, "content": text} for role, text in self.messages]}


def with_markup(text: str) -> list[Piece]:
    return [MARKUP.get(piece, piece) for piece in MARKUP_PATTERN.split(text) if piece]


def turns(messages: list[Message]) -> Iterator[tuple[str, list[Piece]]]:
    """The role of every turn, and its pieces with the role (the assistant's without).

    Results of tools that follow each other share one turn.
    """
    results: list[Piece] = []
    for index, (role, text) in enumerate(messages):
        if role == "tool":
            results += ["\n", RESPONSE, f"\n{text}\n", RESPONSE_END]
            if index + 1 == len(messages) or messages[index + 1][0] != "tool":
                yield role, ["user", *results]
                results = []
        elif role == "assistant":
            yield role, with_markup(text)
        else:
            yield role, with_markup(f"{role}\n{text}") if role == "system" else [f"{role}\n{text}"]


def encode(tokenizer: Tokenizer, chat: Chat) -> Example:
    tokenizer.encode_special_tokens = True  # a special token that is spelt out in a text is text
    listed = list(turns(chat.messages))
    texts = [piece for _, pieces in listed for piece in pieces if isinstance(piece, str)]
    encodings = iter(tokenizer.encode_batch(texts, add_special_tokens=False))
    example = Example(chat.kind, [])
    for number, (role, pieces) in enumerate(listed):
        ids = [index for piece in pieces for index in ([piece] if isinstance(piece, int) else next(encodings).ids)]
        if chat.independent and role == "user":
            example.branches.append(len(example.ids))
        example.ids.append(IM_START)
        if role == "assistant":
            example.ids += [ASSISTANT, NEWLINE]
            example.spans.append((len(example.ids), len(example.ids) + len(ids) + 1))
        example.ids += [*ids, IM_END, NEWLINE]
        if chat.alike:
            example.ids += [IM_START, ASSISTANT, NEWLINE]
            example.alike.append((len(example.ids) - 1, chat.alike[number]))
        if chat.train_text and number == 0:
            example.text = (2, len(ids) + 2)
    return example


def prompt_ids(tokenizer: Tokenizer, messages: list[Message]) -> list[int]:
    """The chat up to where the assistant speaks next."""
    return encode(tokenizer, Chat("prompt", messages)).ids + [IM_START, ASSISTANT, NEWLINE]
