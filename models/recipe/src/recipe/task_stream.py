"""An endless stream of encoded chats of all tasks, for pretraining."""

from __future__ import annotations

import random

from .chat import encode
from .examples import Example
from .squad import SquadTasks
from .tasks import Tasks
from .texts import TextTasks
from .tokenizer import load_tokenizer

LONGEST = 1024  # tokens of one chat
USUAL = 256  # most generated chats are cut to this length, which trains faster
ENGLISH_USUAL = 512  # the same for SQuAD and for texts written whole


class TaskStream:
    def __init__(self, seed: int, squad: str | None = None, squad_share: float = 0.0, texts_share: float = 0.0):
        self.random = random.Random(seed)
        self.tokenizer = load_tokenizer()
        self.tasks = Tasks(self.random)
        self.squad = SquadTasks(squad, self.random) if squad and squad_share else None
        self.squad_share, self.texts_share = squad_share if self.squad else 0.0, texts_share
        self.texts = TextTasks(self.random)

    def next(self) -> Example:
        while True:
            chance = self.random.random()
            if self.squad and chance < self.squad_share:
                chat = self.squad.chat()
            elif chance < self.squad_share + self.texts_share:
                chat = self.texts.chat()
            else:
                chat = self.tasks.chat()
            example = encode(self.tokenizer, chat)
            usual = ENGLISH_USUAL if chance < self.squad_share + self.texts_share else USUAL
            if len(example.ids) > usual and (usual != USUAL or self.random.random() < 0.93):
                example = example.shortened(usual)
            if len(example.ids) <= LONGEST:
                return example

    def state(self):
        return self.random.getstate()

    def restore(self, state) -> None:
        self.random.setstate(state)
