"""Turns passages into chats."""

from __future__ import annotations

import json
import random

from .chat import Chat, Message
from .chat_tasks import ChatTasks
from .closed_book import ClosedBook
from .everyday import Everyday
from .instruction_tasks import InstructionTasks
from .json_tasks import JsonTasks
from .long_tasks import LongTasks
from .paths import DATA
from .prompts import ASK, LIST_PAIRS, NOT_STATED, READ, REPHRASE, TELL, UNKNOWN
from .relations import entity_types
from .small_talk import OTHER_SYSTEMS, SMALL_TALK
from .texts import alike_chat
from .tool_tasks import ToolTasks
from .world import Entity, Fact, World, american, capitalise, fill

#: Shares of the tasks.
SHARES = {
    "read": 0.6, "ask": 0.4, "pairs": 0.12, "rephrase": 0.14, "unknown": 0.08, "almanac": 0.03, "talk": 0.03, "tell": 0.02,
    "tool_calls": 0.7, "json": 1.0, "small_talk": 0.1, "memory": 0.05, "instructions": 0.08, "long": 0.08,
    "closed_book": 0.06, "alike": 0.04,
}  # fmt: skip


class Tasks:
    """Random chats of every kind."""

    def __init__(self, source: random.Random, **world_options):
        self.random = source
        self.world = World(source, **{"one_type": 0.6, **world_options})
        self.known = almanac()
        self.tools = ToolTasks(source, self.world)
        self.objects = JsonTasks(source, self.world, simple=0.5)
        self.chats = ChatTasks(source, self.world)
        self.ordered = InstructionTasks(source, self.world)
        self.texts = LongTasks(source, self.world)
        self.closed = ClosedBook(source, self.world)
        self.everyday = Everyday(source, self.world)

    def chat(self) -> Chat:
        kind = self.random.choices(list(SHARES), weights=list(SHARES.values()))[0]
        chat = getattr(self, kind)()
        if self.random.random() < 0.5:
            chat.messages = [(role, american(text)) for role, text in chat.messages]
        return chat

    def count(self) -> int:
        return self.random.choice((1, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 6, 6, 7, 8, 9, 10, 12))

    def casual(self, question: str) -> str:
        """Now and then a question comes with a preface, or without capitals or question mark."""
        chance = self.random.random()
        if chance < 0.03:
            return question[:1].lower() + question[1:].rstrip("?")
        if chance < 0.06:
            return self.random.choice(["Tell me: ", "Please answer: ", "Question: ", "I want to know: "]) + question[:1].lower() + question[1:]
        if chance < 0.1 and question.startswith("Who ") and question.split()[1] not in ("did", "does", "is", "was", "has"):
            return self.random.choice(["Do you know w", "Can you tell me w"]) + question[1:]
        return question

    # -- with a passage ----------------------------------------------------------------------------------------

    def read(self) -> Chat:
        pick, passage = self.random, self.world.passage(self.count())
        pairs: list[tuple[str, str]] = []
        facts = pick.sample(passage.facts, min(len(passage.facts), 9))
        for fact in facts:
            reverse = fact.relation.reversed_questions if fact.relation else []
            if reverse and pick.random() < 0.2:
                question = capitalise(fill(pick.choice(reverse), "", fact.value))
                pairs.append((self.casual(question), fact.entity.name))
            else:
                pairs.append((self.casual(self.world.question(fact)), fact.value))
        if len(pairs) < 4 and pick.random() < 0.5:
            pairs += [(self.world.question(fact), fact.value) for fact in facts]
        for _ in range(pick.choice((0, 1, 1, 1, 2))):
            question = self.world.unanswerable(passage)
            if question:
                pairs.insert(pick.randint(0, len(pairs)), (self.casual(question), NOT_STATED))
        messages: list[Message] = [("system", READ.format(passage=passage.text))]
        for question, answer in pairs:
            messages += [("user", question), ("assistant", answer)]
        return Chat("read", messages, independent=pick.random() < 0.7)

    def ask(self) -> Chat:
        pick, passage = self.random, self.world.passage(self.count())
        messages: list[Message] = [("system", READ.format(passage=passage.text))]
        for fact in pick.sample(passage.facts, min(len(passage.facts), 5)):
            reverse = fact.relation.reversed_questions if fact.relation else []
            if reverse and pick.random() < 0.1:
                span, question = fact.entity.name, capitalise(fill(pick.choice(reverse), "", fact.value))
            else:
                span, question = fact.value, self.plain_question(fact)
            messages += [("user", ASK.format(span=span)), ("assistant", question)]
        return Chat("ask", messages, independent=pick.random() < 0.7)

    def plain_question(self, fact: Fact) -> str:
        """A question that ends in a question mark."""
        while True:
            question = self.world.question(fact)
            if question.endswith("?"):
                return question

    def pairs(self) -> Chat:
        passage = self.world.passage(min(self.count(), 8))
        lines = [f"Q: {self.plain_question(fact)}\nA: {fact.value}" for fact in passage.facts]
        system = ("system", READ.format(passage=passage.text))
        return Chat("pairs", [system, ("user", LIST_PAIRS), ("assistant", "\n".join(lines))])

    def tell(self) -> Chat:
        passage = self.world.passage(self.count())
        messages: list[Message] = [("system", READ.format(passage=passage.text))]
        entity = self.random.choice(passage.entities)
        own = [text for text, about in passage.sentences if about is entity][:4]
        return Chat("tell", messages + [("user", TELL.format(entity=entity.name)), ("assistant", " ".join(own))])

    def rephrase(self) -> Chat:
        pick, passage = self.random, self.world.passage(self.random.randint(1, 5))
        messages: list[Message] = []
        if pick.random() < 0.5:
            messages.append(("system", READ.format(passage=passage.text)))
        for fact in pick.sample(passage.facts, min(len(passage.facts), 4)):
            given, wanted = pick.sample(self.forms(fact), 2)
            messages += [("user", REPHRASE.format(question=given)), ("assistant", wanted)]
        return Chat("rephrase", messages)

    def alike(self) -> Chat:
        """Questions about several facts of things of one kind, a few that ask for the same of each fact."""
        passages: list[list[tuple[list[str], str]]] = []
        for _ in range(3):
            facts = self.world.passage(self.random.randint(3, 6)).facts
            passages.append([(self.forms(fact), fact.value) for fact in facts])
        return alike_chat(passages, self.random)

    def forms(self, fact: Fact) -> list[str]:
        """The questions for a fact."""
        templates = [t for t in self.world.question_templates(fact.relation, fact.label) if t.endswith("?")]
        name = self.world.mention(fact.entity)
        return sorted({capitalise(fill(t, name, fact.value, fact.label)) for t in templates})

    # -- without a passage -------------------------------------------------------------------------------------

    def system(self) -> list[Message]:
        return [("system", self.random.choice(OTHER_SYSTEMS))] if self.random.random() < 0.4 else []

    def unknown(self) -> Chat:
        messages = self.system()
        for _ in range(self.random.choice((1, 1, 2, 3))):
            fact = self.world.fact(self.world.entity())
            messages += [("user", self.casual(self.world.question(fact))), ("assistant", UNKNOWN)]
        return Chat("unknown", messages)

    def almanac(self) -> Chat:
        """A few fixed facts are asked without a passage, so that recalling from the weights is practised too."""
        messages = self.system()
        for fact in self.random.sample(self.known, self.random.choice((1, 2, 4, 6))):
            messages += [("user", self.casual(self.world.question(fact))), ("assistant", fact.value)]
        return Chat("almanac", messages)

    def talk(self) -> Chat:
        messages = self.system()
        for question, answer in self.random.sample(SMALL_TALK, self.random.randint(1, 3)):
            messages += [("user", question), ("assistant", answer)]
        return Chat("talk", messages)

    # -- written elsewhere -------------------------------------------------------------------------------------

    def tool_calls(self) -> Chat:
        return self.everyday.calls() if self.random.random() < 0.75 else self.tools.chat()

    def json(self) -> Chat:
        return self.everyday.objects() if self.random.random() < 0.7 else self.objects.chat()

    def small_talk(self) -> Chat:
        return self.chats.small_talk()

    def memory(self) -> Chat:
        return self.chats.memory()

    def instructions(self) -> Chat:
        return self.ordered.chat()

    def long(self) -> Chat:
        return self.texts.chat()

    def closed_book(self) -> Chat:
        return self.closed.chat()


def almanac() -> list[Fact]:
    """The fixed facts that the model may learn by heart."""
    types = {kind.name: kind for kind in entity_types()}
    facts: list[Fact] = []
    for line in (DATA / "almanac.jsonl").read_text().splitlines():
        row = json.loads(line)
        kind = types[row["type"]]
        entity = Entity(kind, row["name"], row["noun"], row["pronoun"])
        relation = None if row["generic"] else next(r for r in kind.relations if r.label == row["label"])
        facts.append(Fact(entity, row["label"], row["value"], relation))
    return facts
