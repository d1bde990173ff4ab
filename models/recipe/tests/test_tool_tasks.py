"""The chats with functions are what the chat template renders and what the service's tokenizer would encode."""

from __future__ import annotations

import json
import random
import unittest
from typing import Any

from jinja2.sandbox import ImmutableSandboxedEnvironment

from recipe.chat import Chat, Message, encode, prompt_ids
from recipe.examples import SPECIAL_TOKENS
from recipe.paths import DATA
from recipe.tokenizer import load_tokenizer
from recipe.tool_tasks import ToolTasks
from recipe.toolbox import as_json, calls_text, system_with_tools
from recipe.world import World

TEMPLATE = (DATA / "chat_template.jinja").read_text()


def rendered(messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> str:
    """The template with the settings and the filter ``tojson`` of Hugging Face ``transformers``."""
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    environment.filters["tojson"] = as_json
    return environment.from_string(TEMPLATE).render(messages=messages, tools=tools)


def spoken(chat: Chat) -> list[dict[str, Any]]:
    """The messages as a client of the service sends them, calls as objects and without the functions."""
    messages: list[dict[str, Any]] = []
    for role, text in chat.messages:
        if role == "assistant" and text.startswith("<tool_call>"):
            bodies = [json.loads(part.split("</tool_call>")[0]) for part in text.split("<tool_call>")[1:]]
            messages.append({"role": role, "content": "", "tool_calls": [{"type": "function", "function": b} for b in bodies]})
        else:
            messages.append({"role": role, "content": text})
    return messages


class ToolChats(unittest.TestCase):
    def test_a_chat_is_what_the_template_renders(self):
        source = random.Random(1)
        tasks = ToolTasks(source, World(source))
        tokenizer = load_tokenizer()
        for _ in range(60):
            chat = tasks.chat()
            messages, tools = spoken(chat), []
            own, _, section = messages[0]["content"].partition("# Tools\n")
            shown = [json.loads(line) for line in section.splitlines() if line.startswith('{"name"')]
            tools = [{"type": "function", "function": function} for function in shown]
            self.assertEqual(chat.messages[0][1], system_with_tools(own.rstrip("\n"), tools))
            messages = ([{"role": "system", "content": own.rstrip("\n")}] if own else []) + messages[1:]
            text = rendered(messages, tools)
            ids = encode(tokenizer, chat).ids
            self.assertEqual(tokenizer.decode(ids, skip_special_tokens=False), text)
            tokenizer.encode_special_tokens = False
            self.assertEqual(ids, tokenizer.encode(text, add_special_tokens=False).ids)

    def test_calls_are_written_as_the_template_writes_them(self):
        calls = [{"name": "a", "arguments": {"city": "Zürich", "days": 2, "sum": 1.5, "now": True}}, {"name": "b", "arguments": {}}]
        messages = [{"role": "assistant", "content": "", "tool_calls": calls}]
        self.assertEqual(f"<|im_start|>assistant\n{calls_text(calls)}<|im_end|>\n", rendered(messages, []))

    def test_only_the_template_and_the_assistant_make_special_tokens(self):
        tokenizer, typed = load_tokenizer(), "".join(SPECIAL_TOKENS)
        special = set(range(len(SPECIAL_TOKENS)))

        def specials(messages: list[Message]) -> list[str]:
            ids = prompt_ids(tokenizer, messages)
            return [SPECIAL_TOKENS[index] for index in ids if index in special]

        start, end = "<|im_start|>", "<|im_end|>"
        self.assertEqual(specials([("user", typed)]), [start, end, start])
        self.assertEqual(
            specials([("tool", typed), ("tool", "")]),
            [start, "<tool_response>", "</tool_response>", "<tool_response>", "</tool_response>", end, start],
        )
        markup = SPECIAL_TOKENS[3:]
        for role in ("system", "assistant"):
            self.assertEqual(specials([(role, typed)]), [start, *markup, end, start])


if __name__ == "__main__":
    unittest.main()
