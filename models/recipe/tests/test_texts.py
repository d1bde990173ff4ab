"""The texts written whole: their form, and what is kept apart."""

from __future__ import annotations

import random
import unittest

from recipe.check_texts import faults
from recipe.prompts import NOT_STATED
from recipe.texts import TextTasks, Writer, parse, templates

SMALL = """
== a mill
$ owner: {woman} {surname}
$ year: {1800-1899}
+ The mill was bought by {owner}.
~ She rebuilt it in {year}.
? {owner}
  Who bought the mill?
? {year}
  When was the mill rebuilt?
! Who sold the mill?
"""


class Texts(unittest.TestCase):
    def test_every_template_is_without_faults(self):
        listed = templates(False) + templates(True)
        self.assertEqual({template.name: found for template in listed if (found := faults(template))}, {})
        self.assertEqual(len({template.name for template in listed}), len(listed), "titles decide what is held out")

    def test_a_line_of_no_known_form_is_named(self):
        with self.assertRaisesRegex(ValueError, "line 2"):
            parse("== a mill\nThe mill burned down.")

    def test_a_question_whose_answer_was_left_out_is_not_stated(self):
        (template,) = parse(SMALL)
        left_out = 0
        for seed in range(30):
            passage = Writer(random.Random(seed)).write(template)
            stated = [question for questions, _ in passage.pairs for question in questions]
            left_out += "When was the mill rebuilt?" in passage.absent
            self.assertNotEqual("When was the mill rebuilt?" in stated, "When was the mill rebuilt?" in passage.absent)
        self.assertTrue(0 < left_out < 30)

    def test_answers_stand_in_their_passage(self):
        tasks = TextTasks(random.Random(3))
        asked = 0
        for _ in range(60):
            messages = tasks.read().messages
            for role, text in messages[1:]:
                if role == "assistant" and text != NOT_STATED:
                    asked += 1
                    self.assertIn(text.lower(), messages[0][1].lower())
        self.assertGreater(asked, 300)

    def test_nothing_of_a_held_template_is_trained(self):
        held = {template.name for template in templates(True)}
        self.assertTrue(held)
        self.assertFalse(held & {template.name for template in TextTasks(random.Random(1)).templates})
        again = [TextTasks(random.Random(2)).chat().messages for _ in range(2)]
        self.assertEqual(again[0], again[1], "one seed, one stream")


if __name__ == "__main__":
    unittest.main()
