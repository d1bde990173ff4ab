"""Chats as token ids: ChatML, with the assistant's turns as trained spans."""

from __future__ import annotations

from dataclasses import dataclass

from tokenizers import Tokenizer

from .examples import ASSISTANT, IM_END, IM_START, NEWLINE, Example

Message = tuple[str, str]  # role, content


@dataclass
class Chat:
    kind: str
    messages: list[Message]
    #: Each question of the chat stands alone after the messages before the first one.
    independent: bool = False
    #: The first message is also trained on as text.
    train_text: bool = False

    def as_json(self) -> dict:
        return {"kind": self.kind, "messages": [{"role": role, "content": text} for role, text in self.messages]}


def prompt_ids(tokenizer: Tokenizer, messages: list[Message]) -> list[int]:
    """The chat up to where the assistant speaks next."""
    ids: list[int] = []
    for role, text in messages:
        ids += [IM_START, *tokenizer.encode(f"{role}\n{text}").ids, IM_END, NEWLINE]
    return ids + [IM_START, ASSISTANT, NEWLINE]


def encode(tokenizer: Tokenizer, chat: Chat) -> Example:
    encodings = tokenizer.encode_batch(
        [text if role == "assistant" else f"{role}\n{text}" for role, text in chat.messages]
    )
    ids: list[int] = []
    spans: list[tuple[int, int]] = []
    branches: list[int] = []
    for (role, _), encoding in zip(chat.messages, encodings):
        if chat.independent and role == "user":
            branches.append(len(ids))
        ids.append(IM_START)
        if role == "assistant":
            ids += [ASSISTANT, NEWLINE]
            spans.append((len(ids), len(ids) + len(encoding.ids) + 1))
        ids += encoding.ids
        ids += [IM_END, NEWLINE]
    text = (2, len(encodings[0].ids) + 2) if chat.train_text else None
    return Example(chat.kind, ids, spans, branches, text)
