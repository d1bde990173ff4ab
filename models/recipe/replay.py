"""Rehearsal rows: chats that an adapter should still answer as before while it learns a passage.

    python -m models.recipe.replay [--count 200]

writes ``models/base/replay.jsonl``, one ``{"messages": [...]}`` a line, for learners that do not have this generator.
"""

from __future__ import annotations

import argparse
import json
import random

from .chat import Chat
from .tasks import Tasks
from .tokenizer import FOLDER

WEIGHTS = {
    "read": 0.42, "unknown": 0.16, "closed_book": 0.07, "talk": 0.06, "small_talk": 0.1, "rephrase": 0.07, "json": 0.05,
    "memory": 0.04, "instructions": 0.03,
}  # fmt: skip
LONGEST = 900  # characters of one chat


def replay_chats(count: int, seed: int = 77) -> list[Chat]:
    """Reading other passages (some questions not answered there), not knowing, small talk and a little of everything short."""
    tasks = Tasks(random.Random(seed))
    chats: list[Chat] = []
    while len(chats) < count:
        kind = tasks.random.choices(list(WEIGHTS), weights=list(WEIGHTS.values()))[0]
        chat = getattr(tasks, kind)()
        if sum(len(text) for _, text in chat.messages) < LONGEST:
            chats.append(chat)
    return chats


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200)
    chats = replay_chats(parser.parse_args().count)
    path = FOLDER / "replay.jsonl"
    rows = [{"messages": chat.as_json()["messages"]} for chat in chats]
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    print(f"{path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
