"""Everyday functions and records: the files keep their form, and what is asked for stands in what is said."""

from __future__ import annotations

import json
import random
import unittest

from recipe.everyday import Everyday, faults, forms, parse
from recipe.world import World


class EverydayChats(unittest.TestCase):
    def setUp(self):
        self.source = random.Random(1)

    def everyday(self, held: bool = False) -> Everyday:
        return Everyday(self.source, World(self.source, held_names=held), held)

    def test_the_files_have_no_faults(self):
        for kind in ("functions", "records"):
            listed = [*forms(kind, False), *forms(kind, True)]
            self.assertGreater(len(listed), 100)
            self.assertEqual([], [f"{form.names[0]}: {fault}" for form in listed for fault in faults(form)])
            self.assertEqual(len(listed), len({form.names[0] for form in listed}))

    def test_a_line_of_no_known_form_is_named(self):
        with self.assertRaisesRegex(ValueError, "line 2: .* begins with none of"):
            parse("== a\nb: c\n")

    def test_calls_name_an_offered_function_and_copy_their_arguments(self):
        everyday = self.everyday()
        made = 0
        for _ in range(60):
            chat = everyday.calls()
            offered = {f["name"]: f["parameters"] for f in (json.loads(line) for line in chat.messages[0][1].splitlines() if line.startswith("{"))}
            for (_, said), (_, answer) in zip(chat.messages[1::2], chat.messages[2::2], strict=True):
                if not answer.startswith("<tool_call>"):
                    continue
                made += 1
                call = json.loads(answer.removeprefix("<tool_call>").removesuffix("</tool_call>"))
                schema = offered[call["name"]]
                self.assertLessEqual(set(schema.get("required", [])), set(call["arguments"]))
                for name, value in call["arguments"].items():
                    self.assertEqual(schema["properties"][name]["type"], "integer" if isinstance(value, int) else "string")
                    self.assertIn(str(value).lower(), said.lower())
        self.assertGreater(made, 60)

    def test_objects_hold_values_of_the_statement(self):
        everyday = self.everyday()
        for _ in range(60):
            chat = everyday.objects()
            for (_, said), (_, answer) in zip(chat.messages[0::2], chat.messages[1::2], strict=True):
                for key, value in json.loads(answer).items():
                    self.assertIn(key, said)
                    self.assertIn(str(value).lower(), said.lower())

    def test_what_is_kept_for_evaluation_is_never_trained(self):
        trained, held = self.everyday(), self.everyday(held=True)
        self.assertFalse({form.names[0] for form in trained.functions} & {form.names[0] for form in held.functions})
        self.assertFalse({form.names[0] for form in trained.records} & {form.names[0] for form in held.records})
        self.assertTrue(held.functions)


if __name__ == "__main__":
    unittest.main()
