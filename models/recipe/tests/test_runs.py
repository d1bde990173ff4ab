"""The runs on record, and the command that repeats them."""

from __future__ import annotations

import tomllib
import unittest

from recipe.options import parser
from recipe.paths import RUNS
from recipe.runs import all_runs, flags, runs_through


class Runs(unittest.TestCase):
    def test_pretrain_takes_the_options_of_every_part(self):
        for run in all_runs():
            for part in run.parts:
                options = vars(parser().parse_args(flags(part)))
                self.assertEqual({key: options[key] for key in part}, part, run.name)

    def test_the_tokens_of_the_parts_are_those_of_the_run(self):
        for file in RUNS.glob("*.toml"):
            told = tomllib.loads(file.read_text())
            self.assertEqual(sum(part["tokens"] for part in told["parts"]), told["tokens"], file.name)
            for change in told["changes"]:
                self.assertLess(change["at"], told["tokens"], file.name)

    def test_nine_runs_lead_to_the_shipped_model(self):
        names = [run.name for run in runs_through(None)]
        self.assertEqual(names, [run.name for run in all_runs()][:9])
        self.assertEqual(names[0][:2], "01")
        self.assertEqual([run.name for run in runs_through("03-third")], names[:3])

    def test_a_share_of_the_tokens_changes_nothing_else(self):
        part = runs_through(None)[-1].parts[0]
        options = parser().parse_args(flags(part, 0.5))
        self.assertEqual(options.tokens, part["tokens"] / 2)
        self.assertEqual(options.rate, part["rate"])


if __name__ == "__main__":
    unittest.main()
