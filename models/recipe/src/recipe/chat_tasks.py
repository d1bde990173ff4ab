"""Chats without a passage of their own: small talk, and things that the user tells now and asks later."""

from __future__ import annotations

import random
from dataclasses import dataclass

from .chat import Chat, Message
from .intents import HELD, INTENTS
from .prompts import UNKNOWN
from .small_talk import OTHER_SYSTEMS
from .vocabulary_words import MONTHS
from .wordings import plain
from .world import World, capitalise, fill

ACKNOWLEDGED = "Good to know."
REMEMBERED = "I will remember that."
CORRECTED = "Thank you, I will remember that."
#: What people put before a longer sentence of small talk.
OPENINGS = ["So, ", "Um, ", "Oh, ", "By the way, ", "And ", "OK, ", "Now, ", "Listen, ", "You know, ", "Just one thing: "]


@dataclass(frozen=True)
class Personal:
    """Something about the user: {K} is one of the kinds, {V} the value."""

    kinds: list[str]
    value: str
    statements: list[str]
    questions: list[str]
    corrections: list[str]
    held: list[str]


def personal(value: str, kinds: str, statements: str, questions: str, corrections: str, held: str) -> Personal:
    return Personal(kinds.split("|"), value, *(part.split("|") for part in (statements, questions, corrections, held)))


PERSONAL = [
    personal("name", "dog|cat|horse|parrot|rabbit|goat|hamster|pony|cow|tortoise",
             "My {K} is called {V}.|The name of my {K} is {V}.|I have a {K} called {V}.|I have a {K} named {V}.|We call our {K} {V}.|My {K}'s name is {V}.",
             "What is my {K} called?|What is the name of my {K}?|What is my {K}'s name?|How is my {K} called?|Do you remember the name of my {K}?",
             "my {K} is called {V}|the {K} is called {V}|its name is {V}", "What did I name my {K}?|Which name does my {K} have?"),
    personal("person", "sister|brother|mother|father|wife|husband|son|daughter|boss|neighbour|teacher|doctor|uncle|aunt|friend|cousin",
             "My {K} is called {V}.|The name of my {K} is {V}.|{V} is my {K}.|My {K} is {V}.|I have a {K} called {V}.",
             "What is my {K} called?|What is the name of my {K}?|Who is my {K}?|What is my {K}'s name?",
             "my {K} is called {V}|my {K}'s name is {V}|my {K} is {V}", "Do you recall who my {K} is?|Which name does my {K} have?"),
    personal("person", "name", "My {K} is {V}.|I am called {V}.|I am {V}.|Call me {V}.|People call me {V}.|You can call me {V}.",
             "What is my name?|Who am I?|Do you remember my name?|What am I called?|Do you know my name?|Tell me my name.",
             "my name is {V}|I am {V}|call me {V}", "Can you say my name?|How did I tell you to call me?"),
    personal("place", "town", "I live in {V}.|My home is in {V}.|I moved to {V}.|I have a flat in {V}.|I come home to {V} every day.",
             "Where do I live?|In which town do I live?|Where is my home?|What town do I live in?",
             "I live in {V}|my home is in {V}|it is {V}", "In what place is my home?|Do you recall where I live?"),
    personal("place", "birthplace", "I was born in {V}.|I grew up in {V}.|I come from {V}.|I am from {V}.",
             "Where was I born?|Where do I come from?|Where am I from?|Where did I grow up?",
             "I was born in {V}|I come from {V}", "In what town was I born?"),
    personal("job", "job", "I work as a {V}.|I am a {V}.|My job is {V}.|I earn my living as a {V}.|I have worked as a {V} for years.",
             "What is my job?|What do I do for a living?|What do I work as?|What is my profession?",
             "I work as a {V}|I am a {V}", "How do I earn my living?"),
    personal("organisation", "company", "I work for {V}.|My company is {V}.|{V} is where I work.|I have a job at {V}.|My employer is {V}.",
             "Which company do I work for?|Who do I work for?|Where do I work?|Who is my employer?",
             "I work for {V}|my employer is {V}", "At what firm am I employed?"),
    personal("colour|food|animal|sport|instrument|language|subject", "favourite {W}",
             "My {K} is {V}.|{V} is my {K}.|I have a {K}: {V}.", "What is my {K}?|Which is my {K}?|Tell me my {K}.|Do you remember my {K}?",
             "my {K} is {V}|it is {V}", "Can you name my {K}?"),
    personal("time", "appointment|train|bus|flight|meeting|lesson|dinner|shift|class",
             "My {K} is at {V}.|My {K} starts at {V}.|I have a {K} at {V}.|The {K} is at {V}.",
             "When is my {K}?|At what time is my {K}?|What time does my {K} start?", "my {K} is at {V}|the {K} starts at {V}|it is at {V}",
             "When does my {K} begin?"),
    personal("date", "birthday|wedding|holiday|exam|trip|party|move",
             "My {K} is on {V}.|The date of my {K} is {V}.|My {K} will be on {V}.", "When is my {K}?|On what date is my {K}?|What is the date of my {K}?",
             "my {K} is on {V}|the {K} is on {V}|it is on {V}", "Which day is my {K}?"),
    personal("code", "flight number|room number|ticket number|customer number|car number|order number|phone code|door code|locker number|seat",
             "My {K} is {V}.|The {K} is {V}.|{V} is my {K}.|I have the {K} {V}.", "What is my {K}?|Which {K} do I have?|Tell me my {K}.|What {K} did I tell you?",
             "my {K} is {V}|the {K} is {V}|it is {V}", "Do you recall my {K}?"),
    personal("colour", "car|house|bicycle|coat|door|umbrella|bag|boat|hat|sofa",
             "My {K} is {V}.|I have a {V} {K}.|I painted my {K} {V}.|The colour of my {K} is {V}.",
             "What colour is my {K}?|What is the colour of my {K}?|Which colour does my {K} have?", "my {K} is {V}|the {K} is {V}|it is {V}",
             "In what colour is my {K}?"),
    personal("room", "key|phone|wallet|book|notebook|passport|umbrella|laptop|charger|hat",
             "My {K} is in the {V}.|I left my {K} in the {V}.|I put my {K} in the {V}.|The {K} is in the {V}.",
             "Where is my {K}?|Where did I put my {K}?|Where did I leave my {K}?|In which place is my {K}?",
             "my {K} is in the {V}|the {K} is in the {V}|it is in the {V}", "Where can I find my {K}?"),
    personal("anything", "{G}", "My {K} is {V}.|The {K} is {V}.|I have {V} as my {K}.|{V} is my {K}.",
             "What is my {K}?|What {K} do I have?|Tell me my {K}.|Which {K} do I have?", "my {K} is {V}|the {K} is {V}|it is {V}",
             "Can you say what my {K} is?"),
]  # fmt: skip
ROOMS = "kitchen|bedroom|car|garden|office|hall|garage|drawer|cellar|bathroom|blue bag|desk|cupboard|attic|wardrobe|train".split("|")
REMEMBER = ["Please remember: {S}", "Remember this: {S}", "Please note: {S}", "Keep in mind: {S}", "Remember that {s}", "Note that {s}"]
CORRECT = ["Actually, {s}", "Sorry, {s}", "I was wrong: {s}", "No, {s}", "Correction: {s}", "I meant that {s}", "Wait, {s}", "Not right: {s}"]
CORRECT_HELD = ["I made a mistake, {s}", "To be exact, {s}"]

EARLIER = ["The user told you before:", "What the user said:", "The user's own words:", "From earlier chats with the user:", "Notes of the user:"]


@dataclass
class Told:
    statement: str
    questions: list[str]
    value: str
    fact: Personal | None = None
    kind: str = ""


class ChatTasks:
    """``held`` takes the wordings kept out of training."""

    def __init__(self, source: random.Random, world: World, *, held: bool = False):
        self.random, self.world, self.words, self.held = source, world, world.vocabulary, held

    def system(self) -> list[Message]:
        return [("system", self.random.choice(OTHER_SYSTEMS))] if self.random.random() < 0.4 else []

    # -- small talk --------------------------------------------------------------------------------------------

    def exchange(self) -> tuple[str, str]:
        intent = self.random.choice(INTENTS)
        return self.random.choice(intent.held if self.held else intent.wordings), intent.reply

    def varied(self, text: str) -> str:
        """Words before it, small or large letters, no stop, or other stops; never what evaluation asks."""
        pick, said = self.random, text
        if pick.random() < 0.12 and len(text.split()) > 2:
            said = pick.choice(OPENINGS) + (text if text.startswith(("I ", "I'", "Monday", "English")) else text[:1].lower() + text[1:])
        chance = pick.random()
        if chance < 0.08:
            said = said[:1].lower() + said[1:]
        elif chance < 0.14:
            said = said.lower().rstrip(".?!")
        elif chance < 0.16:
            said = said.upper()
        elif chance < 0.22:
            said = said.rstrip(".?!") or said
        elif chance < 0.3 and said[-1:] not in ".?!,":
            said += pick.choice(".!")
        elif chance < 0.34:
            said += said[-1] if said[-1:] in "?!" else pick.choice(("...", "!!", " :)"))
        return text if plain(said) in HELD else said

    def small_talk(self) -> Chat:
        messages = self.system()
        for _ in range(self.random.choice((2, 3, 4, 5, 6))):
            said, reply = self.exchange()
            messages += [("user", self.varied(said)), ("assistant", reply)]
        return Chat("small talk", messages, independent=self.random.random() < 0.5)

    # -- told and asked ----------------------------------------------------------------------------------------

    def value(self, kind: str) -> str:
        pick = self.random
        if kind == "name":
            return self.words.nonce()
        return pick.choice(ROOMS) if kind == "room" else self.words.value(kind)

    def personal(self, taken: set[str]) -> Told:
        """Something about the user that is not taken yet."""
        pick = self.random
        while True:
            fact = pick.choice(PERSONAL)
            value_kind = pick.choice(fact.value.split("|"))
            kind = pick.choice(fact.kinds).replace("{W}", value_kind).replace("{G}", self.words.attribute_name())
            if kind not in taken:
                break
        taken.add(kind)
        value = self.value(value_kind)
        questions = fact.held if self.held else fact.questions
        return Told(
            self.put(pick.choice(fact.statements), kind, value),
            [self.put(question, kind, "") for question in questions], value, fact, kind,
        )  # fmt: skip

    def put(self, template: str, kind: str, value: str) -> str:
        if not any(month in value for month in MONTHS):
            template = template.replace(" on {V}", " {@V}") if value[:1].isdigit() else template
        return capitalise(fill(template.replace("{K}", kind), "", value))

    def other(self, taken: set[str]) -> Told:
        """Something about an invented thing or person."""
        while True:
            entity = self.world.entity()
            if entity.name not in taken:
                break
        taken.add(entity.name)
        fact = self.world.fact(entity)
        return Told(self.world.state(fact, entity.name), [self.world.question(fact)], fact.value)

    def acknowledged(self, statement: str) -> tuple[str, str]:
        """The statement as it is said, and the reply."""
        if self.random.random() < 0.15:
            plain = statement[:1].lower() + statement[1:] if statement.startswith(("My ", "The ", "We ")) else statement
            return self.random.choice(REMEMBER).format(S=statement, s=plain), REMEMBERED
        return statement, ACKNOWLEDGED

    def memory(self) -> Chat:
        pick = self.random
        messages, taken = self.system(), set[str]()
        told = [self.personal(taken) if pick.random() < 0.7 else self.other(taken) for _ in range(pick.choice((1, 2, 2, 3, 3, 4, 5)))]
        chance = pick.random()
        if chance < 0.1:  # in an earlier chat
            notes = [item.statement for item in told]
            text = "\n".join([pick.choice(EARLIER), *(f"- {note}" for note in notes)]) if pick.random() < 0.5 else " ".join([pick.choice(EARLIER), *notes])
            messages = [("system", text)]
        elif chance < 0.25:  # all at once
            said, reply = self.acknowledged(" ".join(item.statement for item in told))
            messages += [("user", said), ("assistant", reply)]
        else:
            for item in told:
                said, reply = self.acknowledged(item.statement)
                messages += [("user", said), ("assistant", reply)]
                if pick.random() < 0.1:
                    self.chatter(messages)
        changeable = [item for item in told if item.fact]
        if changeable and pick.random() < 0.3:
            self.correct(messages, pick.choice(changeable))
        asked = [(pick.choice(item.questions), item.value) for item in told]
        pick.shuffle(asked)
        for _ in range(pick.choice((0, 0, 1))):
            strange = self.personal(taken) if pick.random() < 0.7 else self.other(taken)
            asked.insert(pick.randint(0, len(asked)), (pick.choice(strange.questions), UNKNOWN))
        for question, value in asked[:4]:
            messages += [("user", question), ("assistant", value)]
            if pick.random() < 0.05:
                self.chatter(messages)
        return Chat("memory", messages)

    def chatter(self, messages: list[Message]) -> None:
        said, reply = self.exchange()
        messages += [("user", said), ("assistant", reply)]

    def correct(self, messages: list[Message], item: Told) -> None:
        assert item.fact
        value_kind = self.random.choice(item.fact.value.split("|"))
        if item.kind.startswith("favourite "):
            value_kind = item.kind.removeprefix("favourite ")
        item.value = self.value(value_kind)
        # "It is ..." would not say which of several things is meant.
        corrections = [text for text in item.fact.corrections if "{K}" in text or text.startswith(("I ", "my ", "call"))]
        text = self.put(self.random.choice(corrections), item.kind, item.value)
        text = text if text.startswith("I ") else text[:1].lower() + text[1:]
        wording = self.random.choice(CORRECT_HELD if self.held else CORRECT)
        messages += [("user", wording.format(s=text + ".")), ("assistant", CORRECTED)]

    def chat(self) -> Chat:
        return self.memory() if self.random.random() < 0.65 else self.small_talk()
