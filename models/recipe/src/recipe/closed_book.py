"""Questions that nothing answers, in natural variety: the model says that it does not know."""

from __future__ import annotations

import random

from .chat import Chat, Message
from .chat_tasks import ChatTasks
from .prompts import UNKNOWN
from .small_talk import OTHER_SYSTEMS
from .world import World, capitalise

ABOUT = """Tell me about {E}.|Who is {E}?|What is {E}?|What do you know about {E}?|Have you heard of {E}?|Do you know {E}?|Describe {E}.
|Explain {E}.|What can you say about {E}?|Tell me everything about {E}.|Tell me more about {E}.|I want to know about {E}.|Where is {E}?
|Give me some facts about {E}.|What is the story of {E}?|Is there anything to say about {E}?|How is {E}?|What about {E}?|Write about {E}.
|Where can I find {E}?|What does {E} mean?|Why is {E} famous?|Is {E} well known?""".replace("\n", "").split("|")  # fmt: skip
ABOUT_HELD = """Please share what you know about {E}.|Can you tell me something about {E}?|What is known about {E}?|Inform me about {E}.
|Does the name {E} say anything to you?""".replace("\n", "").split("|")
WORLD = """What is the capital of {P}?|Who was the first king of {P}?|How far is it from {P} to {Q}?|How do I get to {P}?|Is {P} bigger than {Q}?
|Why did {N} leave {P}?|When did {N} die?|What is the best hotel in {P}?|How many people live in {P}?|What happened in {P} in {Y}?
|Who won the race in {P}?|What did {N} say about {M}?|How much does a {T} cost in {P}?|What is the weather in {P}?|Which language do they speak in {P}?
|Who invented the {T}?|How old is {N}?|Is {N} married to {M}?|What is the recipe for {N} soup?|What is the phone number of {N}?|Who lives next to {N}?
|When does the train to {P} leave?|What will happen in {Y}?|How is the {T} made?|Where did {N} buy the {T}?|Did {N} meet {M}?|Why is the {T} {C}?
|What is the name of the river in {P}?|Who wrote to {N}?|What is the password?|What time is it in {P}?|What did I say yesterday?|Where did I put it?
|Which team won?|Who is the mayor of {P}?|What is {N}'s plan?|How tall is {N}?|Who called me?|When will {N} come back?""".replace("\n", "").split("|")
WORLD_HELD = """What is the flag of {P}?|For how long did {N} stay in {P}?|Whom did {N} marry?|Is it far to {P}?|What does a {T} weigh?
|Who is older, {N} or {M}?|What was built in {P} in {Y}?""".replace("\n", "").split("|")


class ClosedBook:
    def __init__(self, source: random.Random, world: World, *, held: bool = False):
        self.random, self.world, self.words, self.held = source, world, world.vocabulary, held
        self.chats = ChatTasks(source, world, held=held)

    def question(self) -> str:
        pick, words = self.random, self.words
        chance = pick.random()
        if chance < 0.35:
            return capitalise(pick.choice(ABOUT_HELD if self.held else ABOUT).replace("{E}", self.world.entity().name))
        if chance < 0.7:
            text = pick.choice(WORLD_HELD if self.held else WORLD)
            values = {"P": words.place, "Q": words.place, "N": words.person, "M": words.person, "Y": words.year,
                      "T": lambda: words.listed("thing"), "C": lambda: words.listed("colour")}  # fmt: skip
            for name, value in values.items():
                text = text.replace(f"{{{name}}}", value())
            return text
        if chance < 0.8:
            return pick.choice(self.chats.personal(set()).questions)
        return self.world.question(self.world.fact(self.world.entity()))

    def chat(self) -> Chat:
        pick = self.random
        messages: list[Message] = [("system", pick.choice(OTHER_SYSTEMS))] if pick.random() < 0.4 else []
        for _ in range(pick.choice((1, 2, 3))):
            if pick.random() < 0.15:
                self.chats.chatter(messages)
            messages += [("user", self.chats.varied(self.question())), ("assistant", UNKNOWN)]
        return Chat("closed book", messages, independent=True)
