"""Rehearsal rows: chats that an adapter should still answer as before while it learns a passage.

    python -m recipe.replay [--count 600] [--texts-count 250] [--calls-count 90] [--squad FILE] [--folder models/base]

writes ``replay.jsonl`` beside the weights, one ``{"messages": [...], "tools"?: [...]}`` a line, for learners that do not have this generator.
Rows of real English matter most for reading passages that are unlike the generator's; only questions that the model itself
answers right are kept, since there is nothing to rehearse in the others.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path
from typing import Any, Callable

from .chat import Chat, Message, encode
from .everyday import Everyday
from .grow import exported
from .measures import Reader, same
from .paths import BASE
from .prompts import READ
from .squad import Pair, Paragraph, SquadTasks, windows
from .tasks import Tasks
from .texts import TextTasks
from .tokenizer import load_tokenizer
from .world import World

Row = dict[str, Any]  # a line of the file

WEIGHTS = {
    "read": 0.3, "long": 0.05, "unknown": 0.12, "closed_book": 0.06, "talk": 0.08, "small_talk": 0.26, "rephrase": 0.04,
    "json": 0.34, "memory": 0.04, "instructions": 0.05,
}  # fmt: skip
LONGEST = 900  # characters of one chat
LONGEST_WINDOW = 380  # characters of a passage of real English, and of an answer to a question about it
LONGEST_ANSWER = 40
LONGEST_CALL = 170  # tokens of a row with functions: learners leave out longer ones (`maxReplayTokens`)


def replay_chats(count: int, seed: int = 77) -> list[Chat]:
    """Reading other passages (some questions not answered there), not knowing, small talk and a little of everything short."""
    tasks = Tasks(random.Random(seed))
    chats: list[Chat] = []
    while len(chats) < count:
        kind = tasks.random.choices(list(WEIGHTS), weights=list(WEIGHTS.values()))[0]
        chat = one_exchange(getattr(tasks, kind)(), tasks.random)
        if sum(len(text) for _, text in chat.messages) < LONGEST:
            chats.append(chat)
    return chats


def one_exchange(chat: Chat, source: random.Random) -> Chat:
    """Of exchanges that were trained as if each were asked alone, one; together they would be long, and a kind of chat never seen."""
    if not chat.independent:
        return chat
    start = next(index for index, (role, _) in enumerate(chat.messages) if role == "user")
    user = source.randrange(start, len(chat.messages), 2)
    return Chat(chat.kind, chat.messages[:start] + chat.messages[user : user + 2], independent=True)


def call_rows(count: int, seed: int = 79) -> list[Row]:
    """A function or two, a request, and the call that it wants, or what is said instead; short enough for learners to rehearse them."""
    source = random.Random(seed)
    tokenizer, everyday = load_tokenizer(), Everyday(source, World(source))
    rows: list[Row] = []
    while len(rows) < count:
        (_, system), said, answer = everyday.calls().messages[:3]
        if "<tool_call>" not in answer[1] and source.random() < 0.75:
            continue  # they are short, so that there would be as many as calls
        definitions = [json.loads(line) for line in system.splitlines() if line.startswith("{")]
        if len(encode(tokenizer, Chat("calls", [("system", system), said, answer])).ids) <= LONGEST_CALL:
            rows.append({"messages": [message(*said), message(*answer)], "tools": definitions})
    return rows


def message(role: str, content: str) -> dict[str, str]:
    return {"role": role, "content": content}


def squad_paragraphs(path: str, source: random.Random) -> Callable[[], Paragraph]:
    paragraphs = SquadTasks(path, source).paragraphs
    return lambda: source.choice(paragraphs)


def text_paragraphs(source: random.Random) -> Callable[[], Paragraph]:
    tasks = TextTasks(source)

    def paragraph() -> Paragraph:
        passage = tasks.writer.write(source.choice(tasks.templates))
        return Paragraph("", passage.text, [Pair(source.choice(questions), [answer]) for questions, answer in passage.pairs])

    return paragraph


def english_chats(reader: Reader, kind: str, paragraph: Callable[[], Paragraph], count: int, source: random.Random) -> list[Chat]:
    """Short windows of real English, each with one question that the model answers right."""
    chats: list[Chat] = []
    while len(chats) < count:
        asked: list[tuple[str, str, str]] = []
        while len(asked) < 256:
            window = windows(paragraph(), LONGEST_WINDOW, source)
            if window.pairs and len(window.text) <= LONGEST_WINDOW:
                pair = source.choice(window.pairs)
                asked.append((window.text, pair.question, pair.answers[0]))
        answers = reader.read([(text, question) for text, question, _ in asked])
        for (text, question, wanted), answer in zip(asked, answers):
            if len(wanted) <= LONGEST_ANSWER and same(answer, wanted):
                messages: list[Message] = [("system", READ.format(passage=text)), ("user", question), ("assistant", wanted)]
                chats.append(Chat(kind, messages))
    return chats[:count]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=600, help="rows of the generator's chats")
    parser.add_argument("--calls-count", type=int, default=90, help="rows of calls of functions")
    parser.add_argument("--squad", help="SQuAD as gzipped JSON lines; empty: not used")
    parser.add_argument("--texts-count", type=int, default=250, help="rows of texts written whole")
    parser.add_argument("--squad-count", type=int, default=250, help="rows of SQuAD")
    parser.add_argument("--folder", type=Path, default=BASE, help="the exported model that the rows are for")
    options = parser.parse_args()
    chats = replay_chats(options.count)
    reader, source = Reader(exported(options.folder)), random.Random(78)
    chats += english_chats(reader, "texts", text_paragraphs(source), options.texts_count, source)
    if options.squad:
        chats += english_chats(reader, "squad", squad_paragraphs(options.squad, source), options.squad_count, source)
    rows: list[Row] = [{"messages": chat.as_json()["messages"]} for chat in chats]
    rows += call_rows(options.calls_count)
    path = options.folder / "replay.jsonl"
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    print(f"{len(rows)} rows, {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
