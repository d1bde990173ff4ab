"""What the chats of every kind promise, and how they are scored."""

from __future__ import annotations

import json
import random
import re
import unittest
from typing import Any, Iterator

from recipe import json_tasks
from recipe.chat import Chat
from recipe.chat_tasks import ChatTasks
from recipe.evaluate_tasks import items, same_calls, same_json
from recipe.instruction_tasks import WORDINGS, InstructionTasks
from recipe.intents import HELD, INTENTS
from recipe.json_tasks import JsonTasks
from recipe.long_tasks import LongTasks
from recipe.prompts import NOT_STATED
from recipe.small_talk import SMALL_TALK
from recipe.tasks import SHARES, Tasks
from recipe.tool_tasks import ToolTasks
from recipe.tool_words import FAMILIES, HELD_NOUNS
from recipe.wordings import plain
from recipe.world import World


def leaves(value: Any) -> Iterator[str]:
    if isinstance(value, (dict, list)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from leaves(part)
    elif value is not None:
        yield str(value)


class ChatsOfEveryKind(unittest.TestCase):
    def test_the_state_of_the_random_source_determines_the_chats(self):
        tasks = Tasks(random.Random(4))
        for kind in SHARES:
            getattr(tasks, kind)()
        state = tasks.random.getstate()
        expected = [tasks.chat().messages for _ in range(30)]
        other = Tasks(random.Random(5))
        other.random.setstate(state)
        self.assertEqual([other.chat().messages for _ in range(30)], expected)

    def test_json_answers_are_valid_and_copied(self):
        source = random.Random(2)
        tasks = JsonTasks(source, World(source), simple=0.5)
        for _ in range(300):
            for item in items(tasks.chat()):
                text = "\n".join(text for _, text in item.messages).lower()
                for leaf in leaves(json.loads(item.wanted)):
                    self.assertIn(leaf.lower(), text)

    def test_json_keys_stand_in_the_order_of_the_request(self):
        source = random.Random(3)
        tasks = JsonTasks(source, World(source))
        listed = 0
        for _ in range(300):
            for item in items(tasks.from_sentence()):
                keys = list(json.loads(item.wanted))
                asked = re.search(r"[kK]eys? (.+?)[:.]|\(([^()]*)\): ", item.messages[-1][1])
                if asked and not item.messages[-1][1].endswith("}"):
                    words = (asked[1] or asked[2]).replace('"', "").replace(" and ", ", ").split(", ")
                    if sorted(words) == sorted(keys):
                        listed += 1
                        self.assertEqual(words, keys)
        self.assertGreater(listed, 50)

    def test_arguments_are_words_of_the_request(self):
        source = random.Random(6)
        tasks = ToolTasks(source, World(source))
        for _ in range(100):
            request = tasks.request(tasks.tool())
            for call in request.calls:
                for value in call["arguments"].values():
                    if not isinstance(value, bool):
                        self.assertIn(str(value).lower(), request.text.lower())

    def test_long_answers_stand_in_the_passage(self):
        source = random.Random(7)
        tasks = LongTasks(source, World(source))
        for _ in range(150):
            chat = tasks.chat()
            text = chat.messages[0][1].lower()
            for role, answer in chat.messages:
                if role == "assistant" and answer != NOT_STATED:
                    self.assertIn(answer.lower(), text)

    def test_a_corrected_fact_is_answered_with_the_correction(self):
        source = random.Random(8)
        tasks = ChatTasks(source, World(source))
        corrected = 0
        for _ in range(300):
            messages = tasks.memory().messages
            for index, (_, text) in enumerate(messages):
                if text == "Thank you, I will remember that.":
                    corrected += 1
                    said = messages[index - 1][1].rstrip(".").lower()
                    later = [answer.lower() for role, answer in messages[index + 1 :] if role == "assistant"]
                    asked = len([1 for role, _ in messages[index + 1 :] if role == "user"])
                    # At most four questions are asked, so the corrected fact may be left out.
                    self.assertTrue(asked >= 4 or any(said.endswith(answer.rstrip(".")) for answer in later), messages)
        self.assertGreater(corrected, 30)


class HeldOut(unittest.TestCase):
    def test_wordings_for_evaluation_are_not_trained(self):
        trained = {said for intent in INTENTS for said in intent.wordings} | {said for said, _ in SMALL_TALK}
        self.assertFalse(trained & {said for intent in INTENTS for said in intent.held})
        self.assertFalse({plain(said) for said in trained} & HELD)
        source = random.Random(10)
        tasks = ChatTasks(source, World(source))
        said = {plain(text) for _ in range(1000) for role, text in tasks.small_talk().messages if role == "user"}
        self.assertFalse(said & HELD)
        for usual, held in WORDINGS.values():
            self.assertFalse(set(map(plain, usual)) & set(map(plain, held)))
        for name in ("OBJECT", "ALL", "SENTENCE", "NAMES", "ROWS", "SYSTEMS"):
            usual, held = getattr(json_tasks, name), getattr(json_tasks, f"{name}_HELD")
            self.assertFalse(set(map(plain, usual)) & set(map(plain, held)))
        for family in FAMILIES:
            self.assertFalse(set(map(plain, family.requests)) & set(map(plain, family.held)))
            self.assertFalse(set(family.requests) & set(family.held))
            self.assertGreater(len(set(family.nouns) - HELD_NOUNS), 4)

    def test_small_talk_has_one_reply_to_each_wording(self):
        replies = {said: intent.reply for intent in INTENTS for said in intent.wordings + intent.held}
        self.assertEqual(len(replies), sum(len(intent.wordings + intent.held) for intent in INTENTS))
        for said, reply in SMALL_TALK:
            self.assertEqual(replies.get(said, reply), reply)

    def test_every_instruction_has_both_kinds_of_wordings(self):
        source = random.Random(9)
        for held in (False, True):
            tasks = InstructionTasks(source, World(source, held_names=held), held=held)
            for kind in WORDINGS:
                if kind != "employer":
                    self.assertTrue(tasks.chat(kind).messages)


class Scores(unittest.TestCase):
    def test_calls_are_compared_as_values(self):
        def call(body: str) -> str:
            return f"<tool_call>\n{body}\n</tool_call>"

        wanted = call('{"name": "a", "arguments": {"x": 1, "y": "b"}}')
        self.assertTrue(same_calls(call('{"name":"a","arguments":{"y":"b","x":1}}'), wanted))
        for other in ('{"name": "b", "arguments": {"x": 1, "y": "b"}}', '{"name": "a", "arguments": {"x": 2, "y": "b"}}', '{"name": "a"'):
            self.assertFalse(same_calls(call(other), wanted))
        self.assertFalse(same_calls("Done.", wanted))
        self.assertFalse(same_calls(wanted + "\n" + wanted, wanted))

    def test_json_is_compared_with_the_order_of_its_keys(self):
        self.assertTrue(same_json('{"a":1, "b": null}', '{"a": 1, "b": null}'))
        for other in ('{"b": null, "a": 1}', '{"a": "1", "b": null}', '{"a": 1', "1"):
            self.assertFalse(same_json(other, '{"a": 1, "b": null}'))

    def test_independent_questions_are_asked_alone(self):
        messages = [("system", "s"), ("user", "1"), ("assistant", "a"), ("user", "2"), ("assistant", "b"), ("tool", "t"), ("assistant", "c")]
        alone = [[text for _, text in item.messages] for item in items(Chat("x", messages, independent=True))]
        self.assertEqual(alone, [["s", "1"], ["s", "2"], ["s", "2", "b", "t"]])
        self.assertEqual(len(items(Chat("x", messages))[2].messages), 6)


if __name__ == "__main__":
    unittest.main()
