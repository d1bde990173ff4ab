"""Rehearsal rows: chats that an adapter should still answer as before while it learns a passage.

    python -m models.recipe.replay [--count 300] [--squad FILE --squad-count 500] [--folder models/base]

writes ``replay.jsonl`` beside the weights, one ``{"messages": [...]}`` a line, for learners that do not have this generator.
Rows of real English matter most for reading passages that are unlike the generator's; only questions that the model itself
answers right are kept, since there is nothing to rehearse in the others.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path

from .chat import Chat, Message
from .grow import exported
from .measures import Reader, same
from .prompts import READ
from .squad import SquadTasks, windows
from .tasks import Tasks
from .tokenizer import FOLDER

WEIGHTS = {
    "read": 0.34, "long": 0.06, "unknown": 0.16, "closed_book": 0.07, "talk": 0.06, "small_talk": 0.1, "rephrase": 0.05,
    "json": 0.06, "memory": 0.04, "instructions": 0.03,
}  # fmt: skip
LONGEST = 900  # characters of one chat
LONGEST_WINDOW = 380  # characters of a passage of real English, and of an answer to a question about it
LONGEST_ANSWER = 40


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


def squad_chats(reader: Reader, path: str, count: int, seed: int = 78) -> list[Chat]:
    """Short windows of SQuAD's training paragraphs, each with one question that the model answers right."""
    tasks = SquadTasks(path, random.Random(seed), LONGEST_WINDOW)
    chats: list[Chat] = []
    while len(chats) < count:
        asked: list[tuple[str, str, str]] = []
        while len(asked) < 256:
            window = windows(tasks.random.choice(tasks.paragraphs), LONGEST_WINDOW, tasks.random)
            if window.pairs and len(window.text) <= LONGEST_WINDOW:
                pair = tasks.random.choice(window.pairs)
                asked.append((window.text, pair.question, pair.answers[0]))
        answers = reader.read([(text, question) for text, question, _ in asked])
        for (text, question, wanted), answer in zip(asked, answers):
            if len(wanted) <= LONGEST_ANSWER and same(answer, wanted):
                messages: list[Message] = [("system", READ.format(passage=text)), ("user", question), ("assistant", wanted)]
                chats.append(Chat("squad", messages))
    return chats[:count]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=300, help="rows of the generator's chats")
    parser.add_argument("--squad", help="SQuAD as gzipped JSON lines; empty: not used")
    parser.add_argument("--squad-count", type=int, default=500, help="rows of real English")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="the exported model that the rows are for")
    options = parser.parse_args()
    chats = replay_chats(options.count)
    if options.squad:
        chats += squad_chats(Reader(exported(options.folder)), options.squad, options.squad_count)
    rows = [{"messages": chat.as_json()["messages"]} for chat in chats]
    path = options.folder / "replay.jsonl"
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    print(f"{len(rows)} rows, {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
