"""Optional training material: SQuAD, given as gzipped JSON lines of {context, qas: [{q, a: [answers]}]}.

Not used for the shipped weights. SQuAD is licensed CC BY-SA 4.0; a model trained on it must name it.
"""

from __future__ import annotations

import gzip
import json
import random

from .chat import Chat, Message
from .tasks import ASK, READ


class SquadTasks:
    """Reading and asking over paragraphs of at most ``longest`` characters."""

    def __init__(self, path: str, source: random.Random, longest: int = 700):
        self.random = source
        with gzip.open(path, "rt") as file:
            rows = [json.loads(line) for line in file]
        self.rows = [row for row in rows if len(row["context"]) <= longest and row["qas"]]

    def chat(self) -> Chat:
        pick = self.random
        row = pick.choice(self.rows)
        pairs = pick.sample(row["qas"], min(6, len(row["qas"])))
        messages: list[Message] = [("system", READ.format(passage=row["context"]))]
        asks = pick.random() < 0.25
        for pair in pairs:
            question, answer = pair["q"].strip(), pair["a"][0]
            if asks:
                messages += [("user", ASK.format(span=answer)), ("assistant", question)]
            else:
                messages += [("user", question), ("assistant", answer)]
        return Chat("squad", messages)
