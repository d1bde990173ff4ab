"""Chats whose system message is a simple instruction about how, or about what, to answer."""

from __future__ import annotations

import random
from typing import Callable

from .chat import Chat, Message
from .chat_tasks import ChatTasks, Told
from .prompts import READ, UNKNOWN
from .small_talk import SMALL_TALK
from .vocabulary import is_held_out
from .wordings import read_sections
from .world import Passage, World, american, capitalise

Pairs = list[tuple[str, str]]  # what the user says, what the assistant answers

#: Wordings of the instructions; those after "||" are for evaluation only. More for training are in `instruction_wordings.txt`.
TABLE = {
    "upper": "Answer in capital letters.|Write every answer in capitals.|Use only capital letters.|Always answer in upper case."
             "|ANSWER IN CAPITALS.|Your answers are in capital letters.|Please shout: use capital letters only.||Reply in block capitals."
             "|Every answer must be in upper case.",
    "lower": "Answer in small letters.|Use no capital letters.|Always answer in lower case.|Write every answer in lower case."
             "|Your answers have no capitals.|Only use lower case letters.||Reply in lower case.|Never write a capital letter.",
    "prefix": 'Start every answer with "{X}".|Begin each answer with "{X}".|Always begin with "{X}".|Put "{X}" before every answer.'
              '|Your answers start with {X}|Every reply begins with the words "{X}".||Open each reply with "{X}".|Say "{X}" first, then answer.',
    "suffix": 'End every answer with "{X}".|Always say "{X}" at the end.|Put "{X}" after every answer.|Finish each answer with "{X}".'
              '|Your answers end with "{X}".|Every reply ends with the words "{X}".||Close each reply with "{X}".|Answer, then say "{X}".',
    "sentence": "Answer in a full sentence.|Always answer with a whole sentence.|Use full sentences.|Give every answer as a sentence."
                "|Write complete sentences.|Your answers are full sentences.||Reply in complete sentences.|Make every answer a sentence.",
    "word": "Answer in one word.|Always answer with a single word.|Use one word only.|Your answers are one word long.|Give one-word answers."
            "|Every answer is a single word.||Reply with just one word.|Say no more than one word.",
    "name": "Your name is {X}.|You are {X}.|You are {X}, an assistant.|You are called {X}.|You are an assistant named {X}.|Act as {X}."
            "|You are {X}, a helpful assistant.||Go by the name of {X}.|Play an assistant who is called {X}.",
    "employer": "You are {X}, the assistant of {Y}.|Your name is {X} and you work for {Y}.|You are {X}, an assistant at {Y}."
                "|{X} is your name. {Y} is your employer.|You are {X} and you help the customers of {Y}.||You answer for {Y} as {X}.",
    "user": "The user is called {X}. Greet the user by name.|The user's name is {X}. Use it when you greet.|You talk to {X}. Greet with the name."
            "|Greet the user, who is called {X}, by name.||Use the name {X} when you greet the user.",
    "only": "Only talk about {X}.|Answer only questions about {X}.|Your only topic is {X}.|Do not talk about anything but {X}."
            "|You only answer questions about {X}.|Speak only of {X}.||Stay with the topic of {X}.|Refuse everything that is not about {X}.",
    "noted": 'Reply with "{X}" to every statement.|When the user tells you something, answer "{X}".|Answer statements with "{X}".'
             '|Say "{X}" when you are told a fact.|If the user states something, just say "{X}".||Confirm every statement with "{X}".',
    "always": 'Always answer "{X}".|Answer every question with "{X}".|Whatever the user says, answer "{X}".|Say nothing but "{X}".'
              '|Your only answer is "{X}".||Reply to anything with "{X}".|No matter what is asked, say "{X}".',
    "unknown": 'If you do not know, say "{X}".|When the passage does not say, answer "{X}".|If the answer is not there, reply "{X}".'
               '|Say "{X}" when you cannot find the answer.|Without an answer, say "{X}".||Should the answer be missing, say "{X}".',
}  # fmt: skip
PHRASES = {
    "prefix": "Answer:|Sure:|Of course:|Dear friend,|Ahoy!|Certainly.|My answer is:|Well,|Hello!|Indeed,|Reply:|Yes:|Madam,|Sir,|Listen:",
    "suffix": "Over.|Have a nice day!|Thank you.|Anything else?|Goodbye!|That is all.|Amen.|Cheers!|The end.|Is that clear?|Ahoy!|At your service.",
    "noted": "Noted.|Understood.|Copy.|Thank you.|OK.|I see.|Got it.|Roger.|Recorded.|Very well.",
    "always": "No comment.|Yes.|No.|I am closed today.|Please call us.|Come back later.|Moo.|Ask my lawyer.|Beep.|Maybe.",
    "unknown": "No idea.|I cannot say.|Not found.|Unknown.|Sorry, no answer.|Ask somebody else.|n/a|That is not known.|None.|Please call us.",
}  # fmt: skip
TOPICS = "cooking|gardening|history|music|trains|cats|the weather|football|the sea|books|our products|your order|chess|bees|cheese".split("|")
WHO = ["Who are you?", "What is your name?", "What are you called?", "Tell me your name.", "What should I call you?", "Do you have a name?"]
WHO_WORKS = ["Who do you work for?", "Which company do you work for?", "Who is your employer?", "For whom do you work?"]
GREETINGS = [(said, reply) for said, reply in SMALL_TALK if "! " in reply and "help" in reply + said.lower()]


def read_wordings() -> dict[str, tuple[list[str], list[str]]]:
    """The wordings of training, and those held out."""
    more = read_sections("instruction_wordings.txt")
    result = {}
    for kind, text in TABLE.items():
        usual, _, held = text.partition("||")
        result[kind] = (list(dict.fromkeys(usual.split("|") + more[kind])), held.split("|"))
    return result


WORDINGS = read_wordings()
#: What stands before some instructions of training.
OPENINGS = ["From now on: ", "Important: ", "Rule: ", "Your task: ", "In this chat: ", "Please: ", "Note: ", "- ", "Remember: "]


def ended(answer: str) -> str:
    return answer if answer[-1:] in ".!?" else answer + "."


class InstructionTasks:
    """``held`` takes the wordings kept out of training, and phrases with invented words."""

    def __init__(self, source: random.Random, world: World, *, held: bool = False):
        self.random, self.world, self.words, self.held = source, world, world.vocabulary, held
        self.chats = ChatTasks(source, world)

    def wording(self, kind: str, **values: str) -> str:
        pick, text = self.random, self.random.choice(WORDINGS[kind][self.held])
        if not self.held:
            # Marks of quotation and what stands before matter little, so they vary.
            chance = pick.random()
            text = text.replace('"', "'") if chance < 0.1 else text.replace('"', "") if chance < 0.15 and text.endswith('{X}".') else text
            text = pick.choice(OPENINGS) + text if pick.random() < 0.1 else text
        for name, value in values.items():
            text = text.replace(f"{{{name}}}", value)
        return text if text[-1:] in '.!?:,"' else text + "."

    def phrase(self, kind: str) -> str:
        """A fixed phrase, or one with an invented word."""
        pick = self.random
        if not self.held and pick.random() < 0.5:
            return pick.choice(PHRASES[kind].split("|"))
        word = self.words.nonce()
        forms = {"prefix": [f"{word}:", f"Hail {word}!", f"{word} says:", f"Dear {word},"]}
        return pick.choice(forms.get(kind, [f"{word}.", f"{word}!", f"Hail {word}!", f"Ask {word}.", f"{word} {self.words.listed('colour')}."]))

    # -- what is asked -----------------------------------------------------------------------------------------

    def questions(self, passage: Passage | None, number: int) -> Pairs:
        pick = self.random
        if passage:
            return [(self.world.question(fact), fact.value) for fact in pick.sample(passage.facts, min(number, len(passage.facts)))]
        if pick.random() < 0.3:
            return [(self.world.question(self.world.fact(self.world.entity())), UNKNOWN) for _ in range(number)]
        return [self.chats.exchange() for _ in range(number)]

    def changed(self, kind: str, change: Callable[[str], str], **values: str) -> Chat:
        """Answers to anything, each changed in the same way."""
        pick = self.random
        while True:
            passage = self.world.passage(pick.randint(1, 5)) if pick.random() < 0.6 else None
            pairs = [(said, change(answer)) for said, answer in self.questions(passage, pick.randint(1, 4))]
            # The two spellings of English must not differ between the passage and an answer in capitals.
            if kind not in ("upper", "lower") or not passage or american(passage.text) == passage.text:
                return self.instructed(self.wording(kind, **values), passage, pairs)

    def instructed(self, order: str, passage: Passage | None, pairs: Pairs, independent: bool = True) -> Chat:
        text = READ.format(passage=passage.text) if passage else None
        if text:
            order = f"{order}\n\n{text}" if self.random.random() < 0.6 else f"{text}\n\n{order}"
        elif self.random.random() < 0.2:
            order = f"You are a helpful assistant. {order}"
        messages: list[Message] = [("system", order)]
        for said, answer in pairs:
            messages += [("user", said), ("assistant", answer)]
        return Chat("instructions", messages, independent=independent)

    # -- the kinds ---------------------------------------------------------------------------------------------

    def upper(self) -> Chat:
        return self.changed("upper", str.upper)

    def lower(self) -> Chat:
        return self.changed("lower", str.lower)

    def prefix(self) -> Chat:
        phrase = self.phrase("prefix")
        return self.changed("prefix", lambda answer: f"{phrase} {answer}", X=phrase)

    def suffix(self) -> Chat:
        phrase = self.phrase("suffix")
        return self.changed("suffix", lambda answer: f"{ended(answer)} {phrase}", X=phrase)

    def sentence(self) -> Chat:
        """ "The founder of Varlo is Ada Lund." """
        passage = self.world.passage(self.random.randint(1, 5))
        chosen = self.random.sample(passage.facts, min(len(passage.facts), 4))
        pairs: Pairs = []
        for fact in chosen:
            noun = fact.label.split(" of ")[0]
            verb = "are" if noun.endswith("s") and not noun.endswith("ss") else "is"
            answer = ended(capitalise(f"the {fact.label} of {fact.entity.name} {verb} {fact.value}"))
            pairs.append((self.world.question(fact), answer))
        return self.instructed(self.wording("sentence"), passage, pairs)

    def word(self) -> Chat:
        """About facts whose value is one word."""
        while True:
            passage = self.world.passage(self.random.randint(1, 6))
            short = [fact for fact in passage.facts if " " not in fact.value]
            if short:
                pairs = [(self.world.question(fact), fact.value) for fact in short[:4]]
                return self.instructed(self.wording("word"), passage, pairs)

    def name(self) -> Chat:
        pick, name = self.random, self.words.nonce()
        pairs = [(pick.choice(WHO), f"I am {name}.") for _ in range(pick.randint(1, 2))]
        if pick.random() < 0.5:
            firm = self.words.organisation()
            order = self.wording("employer", X=name, Y=firm)
            pairs.append((pick.choice(WHO_WORKS), f"I work for {firm}."))
        else:
            order = self.wording("name", X=name)
        pairs += [(said, reply) for said, reply in (self.chats.exchange() for _ in range(2)) if "small assistant" not in reply]
        pick.shuffle(pairs)
        return self.instructed(order, None, pairs)

    def user(self) -> Chat:
        name = self.words.value(self.random.choice(("person", "nonce")))
        pairs = [(said, reply.replace("!", f", {name}!", 1)) for said, reply in self.random.sample(GREETINGS, 2)]
        pairs += [exchange for exchange in (self.chats.exchange(),) if "!" not in exchange[1]]
        return self.instructed(self.wording("user", X=name), None, pairs)

    def only(self) -> Chat:
        """About one thing of the passage; or about a topic of which nothing is known."""
        pick = self.random
        if pick.random() < 0.4:
            topic = pick.choice([topic for topic in TOPICS if is_held_out(topic) == self.held] or TOPICS)
            pairs = [(self.world.question(self.world.fact(self.world.entity())), f"I can only talk about {topic}.") for _ in range(2)]
            return self.instructed(self.wording("only", X=topic), None, pairs)
        passage = self.world.passage(pick.randint(3, 6), entities=pick.randint(2, 3))
        entity = pick.choice(passage.entities)
        pairs = [
            (self.world.question(fact), fact.value if fact.entity is entity else f"I can only talk about {entity.name}.")
            for fact in pick.sample(passage.facts, min(4, len(passage.facts)))
        ]
        return self.instructed(self.wording("only", X=entity.name), passage, pairs)

    def noted(self) -> Chat:
        pick, phrase = self.random, self.phrase("noted")
        taken: set[str] = set()
        told: list[Told] = [self.chats.personal(taken) if pick.random() < 0.6 else self.chats.other(taken) for _ in range(pick.randint(1, 3))]
        pairs = [(item.statement, phrase) for item in told]
        pairs += [(pick.choice(item.questions), item.value) for item in pick.sample(told, pick.randint(0, len(told)))]
        return self.instructed(self.wording("noted", X=phrase), None, pairs, independent=False)

    def always(self) -> Chat:
        phrase = self.phrase("always")
        return self.changed("always", lambda _: phrase, X=phrase)

    def unknown(self) -> Chat:
        pick, phrase = self.random, self.phrase("unknown")
        passage = self.world.passage(pick.randint(1, 5))
        pairs = self.questions(passage, 2)
        for _ in range(pick.randint(1, 2)):
            question = self.world.unanswerable(passage)
            if question:
                pairs.insert(pick.randint(0, len(pairs)), (question, phrase))
        return self.instructed(self.wording("unknown", X=phrase), passage, pairs)

    def chat(self, kind: str | None = None) -> Chat:
        return getattr(self, kind or self.random.choice(KINDS))()


KINDS = ["upper", "lower", "prefix", "prefix", "suffix", "suffix", "sentence", "word", "name", "name", "user", "only", "noted", "always",
         "unknown"]  # fmt: skip
