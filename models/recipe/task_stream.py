"""An endless stream of encoded chats of all tasks, for pretraining."""

from __future__ import annotations

import random

from .chat import encode
from .examples import Example
from .squad import SquadTasks
from .tasks import Tasks
from .tokenizer import load_tokenizer

LONGEST = 1024  # tokens of one chat
USUAL = 256  # most generated chats are cut to this length, which trains faster
SQUAD_USUAL = 512


class TaskStream:
    def __init__(self, seed: int, squad: str | None = None, squad_share: float = 0.0):
        self.random = random.Random(seed)
        self.tokenizer = load_tokenizer()
        self.tasks = Tasks(self.random)
        self.squad = SquadTasks(squad, self.random) if squad and squad_share else None
        self.squad_share = squad_share

    def next(self) -> Example:
        while True:
            use_squad = self.squad and self.random.random() < self.squad_share
            chat = self.squad.chat() if self.squad and use_squad else self.tasks.chat()
            example = encode(self.tokenizer, chat)
            usual = SQUAD_USUAL if use_squad else USUAL
            if len(example.ids) > usual and (use_squad or self.random.random() < 0.93):
                example = example.shortened(usual)
            if len(example.ids) <= LONGEST:
                return example

    def state(self):
        return self.random.getstate()

    def restore(self, state) -> None:
        self.random.setstate(state)
