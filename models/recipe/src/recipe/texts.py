"""Passages written whole, in natural English, with slots for their names and values.

Each file of ``texts/`` holds texts in this form; the passage flows as its author wrote it, while what can be asked about is
drawn anew each time, so that only matching can answer:

    == folding bike review
    $ bike: {nonce} [Fold|Mini|City]
    $ designer: {woman} {surname}
    $ gears: {2-11} | three | eight
    + The {bike} is a folding bike [for commuters|that fits under a desk].
    + It was designed by {designer}, a former [pilot|nurse], and has {gears} gears.
    ~ A green bell comes with it.
    ? {designer}
      Who designed the {bike}?
      Whose work is the {bike}?
    ! Who sells the {bike}?

``$`` draws a slot from one of the patterns divided by "|"; ``{kind}`` is a value of the vocabulary or an earlier slot,
``{2-11}`` a number, ``{00}`` digits. ``+`` is a sentence, ``~`` one that may be left out, and a blank line ends a paragraph.
``[a|b]`` is one of several words. ``?`` gives an answer as it stands in the passage, and questions that ask for it; a question
whose answer was left out is not stated, like those marked ``!``.
"""

from __future__ import annotations

import random
import re
import zlib
from dataclasses import dataclass, field
from functools import cache, cached_property

from .chat import Chat, Message
from .paths import DATA
from .prompts import ASK, LIST_PAIRS, NOT_STATED, READ, REPHRASE, UNKNOWN
from .vocabulary import Vocabulary
from .vocabulary_words import FIRST_NAMES
from .world import capitalise

FOLDER = DATA / "texts"

WOMEN = set("""
Anna Clara Emma Grace Iris Karen Maria Olive Rosa Tina Wendy Zoe Bianca Dana Elif Gita Ines Lena Nadia Priya Sofia Uma Vera Ximena
Yara Mira Ada Alice Amy Astrid Carla Chloe Cora Daphne Edith Ellen Esther Eva Fatima Fiona Flora Freya Gloria Hanna Hazel Helen Ida
Irene Jana Joan Julia Kate Keiko Kira Lara Laura Leila Lily Linda Lucia Mabel Magda Martha Mary Maya Mei Mona Nell Nina Nora Olga
Petra Rachel Rita Ruth Salma Sara Selma Stella Tara Tilda Ursula Viola Wanda Yuki Zara Agnes Aisha Alma Asha Bela Berta Celia Della
Elena""".split())  # fmt: skip
WOMEN_NAMES, MEN_NAMES = [n for n in FIRST_NAMES if n in WOMEN], [n for n in FIRST_NAMES if n not in WOMEN]

#: Every ninth template has a passage that is learned by heart.
BY_HEART = 9

ALTERNATIVES = re.compile(r"\[([^\[\]]*)\]")
SLOT = re.compile(r"\{([^{}]+)\}")


@dataclass
class Template:
    name: str
    slots: dict[str, list[str]] = field(default_factory=dict)
    sentences: list[tuple[str, bool]] = field(default_factory=list)  # pattern, whether it may be left out; "" ends a paragraph
    questions: list[tuple[str, list[str]]] = field(default_factory=list)  # the answer's pattern, its questions
    absent: list[str] = field(default_factory=list)

    @property
    def held(self) -> bool:
        """Whether the template is kept for evaluation: one in fifteen."""
        return zlib.crc32(self.name.encode()) % 15 == 3


def parse(text: str) -> list[Template]:
    """The templates of a file. ValueError names the line that breaks the form."""
    templates: list[Template] = []
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        mark, _, rest = line.partition(" ")
        rest = rest.strip()
        if not line:
            if templates and templates[-1].sentences and not templates[-1].questions:
                templates[-1].sentences.append(("", False))
        elif mark == "==":
            templates.append(Template(rest))
        elif mark == "$" and ":" in rest:
            name, _, patterns = rest.partition(":")
            templates[-1].slots[name.strip()] = [pattern.strip() for pattern in split(patterns)]
        elif mark in ("+", "~"):
            templates[-1].sentences.append((rest, mark == "~"))
        elif mark == "?":
            templates[-1].questions.append((rest, []))
        elif mark == "!":
            templates[-1].absent.append(rest)
        elif raw.startswith("  ") and templates and templates[-1].questions:
            templates[-1].questions[-1][1].append(line)
        elif not raw.startswith("#"):
            raise ValueError(f"line {number}: {raw!r} begins with none of == $ + ~ ? ! and is no indented question")
    return templates


def split(patterns: str) -> list[str]:
    """Divides at the "|" that stand outside brackets."""
    parts, depth = [""], 0
    for letter in patterns:
        depth += {"[": 1, "]": -1}.get(letter, 0)
        if letter == "|" and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


@cache
def templates(held: bool) -> list[Template]:
    """The templates of all files that are (not) kept for evaluation."""
    listed = [template for path in sorted(FOLDER.glob("*.txt")) for template in parse(path.read_text())]
    return [template for template in listed if template.held == held]


@dataclass
class Passage:
    text: str
    pairs: list[tuple[list[str], str]]  # questions that ask for the same, and the answer
    absent: list[str]  # questions that it does not answer
    names: list[str]  # the names that it draws


class Writer:
    """Fills templates; ``held`` draws names that are kept out of training."""

    def __init__(self, source: random.Random, held: bool = False):
        self.random, self.words = source, Vocabulary(source, held)

    def fill(self, pattern: str, slots: dict[str, str]) -> str:
        pick = self.random

        def value(match: re.Match[str]) -> str:
            kind = match[1]
            if kind in slots:
                return slots[kind]
            if between := re.fullmatch(r"(\d+)-(\d+)", kind):
                return str(pick.randint(int(between[1]), int(between[2])))
            if re.fullmatch("0+", kind):
                return self.words.digits(len(kind))
            if kind in ("woman", "man"):
                return self.words.real(WOMEN_NAMES if kind == "woman" else MEN_NAMES)
            return self.words.value(kind)

        chosen = ALTERNATIVES.sub(lambda match: pick.choice(match[1].split("|")), pattern)
        filled = " ".join(SLOT.sub(value, chosen).split())
        filled = re.sub(r" (?=[,.;:?!])", "", filled)
        return re.sub(r"\b([Aa]) (?=[aeioAEIO]|[uU](?!ni|s))", r"\1n ", filled)

    def sentence(self, pattern: str, slots: dict[str, str]) -> str:
        return capitalise(self.fill(pattern, slots))

    def write(self, template: Template) -> Passage:
        """A passage whose answers all differ and stand in no question that asks for them."""
        for _ in range(50):
            slots: dict[str, str] = {}
            for name, patterns in template.slots.items():
                slots[name] = self.fill(self.random.choice(patterns), slots)
            answers = [self.fill(pattern, slots).lower() for pattern, _ in template.questions]
            told = any(
                answer in self.fill(question, slots).lower()
                for answer, (_, questions) in zip(answers, template.questions) for question in questions
            )  # fmt: skip
            if len(set(answers)) == len(answers) and not told:
                break
        shown = [pattern for pattern, optional in template.sentences if not optional or self.random.random() < 0.75]
        text = " ".join(self.sentence(pattern, slots) if pattern else "\n\n" for pattern in shown)
        text = re.sub(r"\s*\n\n\s*", "\n\n", text).strip()
        pairs: list[tuple[list[str], str]] = []
        absent = [self.sentence(question, slots) for question in template.absent]
        for pattern, questions in template.questions:
            answer = self.fill(pattern, slots)
            filled = [self.sentence(question, slots) for question in questions]
            if answer.lower() in text.lower():
                pairs.append((filled, answer))
            else:
                absent += filled
        return Passage(text, pairs, absent, [value for value in slots.values() if re.match(r"[A-Z]\w*[a-z]{2}", value)])


class TextTasks:
    """Reading, asking, saying in other words, and not knowing, over whole texts."""

    def __init__(self, source: random.Random, held: bool = False):
        self.random, self.writer, self.templates = source, Writer(source, held), templates(held)

    def passage(self) -> Passage:
        """One text, or now and then two, one after the other."""
        chosen = self.random.sample(self.templates, 2 if self.random.random() < 0.15 else 1)
        parts = [self.writer.write(template) for template in chosen]
        joint = self.random.choice((" ", "\n\n")).join(part.text for part in parts)
        return Passage(joint, [pair for part in parts for pair in part.pairs], [q for part in parts for q in part.absent], [])

    def chat(self) -> Chat:
        tasks = {self.read: 0.38, self.ask: 0.22, self.rephrase: 0.11, self.list_pairs: 0.04, self.unknown: 0.09, self.known: 0.07, self.alike: 0.1}
        return self.random.choices(list(tasks), weights=list(tasks.values()))[0]()

    def read(self) -> Chat:
        pick, passage = self.random, self.passage()
        turns = [(pick.choice(questions), answer) for questions, answer in pick.sample(passage.pairs, len(passage.pairs))]
        for question in pick.sample(passage.absent, min(len(passage.absent), pick.choice((0, 1, 1, 2)))):
            turns.insert(pick.randint(0, min(len(turns), 6)), (question, NOT_STATED))
        return Chat("texts", self.asked(passage, turns), independent=True, train_text=True)

    def ask(self) -> Chat:
        pick, passage = self.random, self.passage()
        chosen = pick.sample(passage.pairs, min(len(passage.pairs), 6))
        turns = [(ASK.format(span=answer), pick.choice(questions)) for questions, answer in chosen]
        return Chat("texts ask", self.asked(passage, turns), independent=True, train_text=True)

    def rephrase(self) -> Chat:
        pick, passage = self.random, self.passage()
        turns: list[tuple[str, str]] = []
        for questions, _ in pick.sample(passage.pairs, min(len(passage.pairs), 5)):
            if len(set(questions)) > 1:
                given, wanted = pick.sample(sorted(set(questions)), 2)
                turns.append((REPHRASE.format(question=given), wanted))
        messages = self.asked(passage, turns) if pick.random() < 0.4 else exchanges(turns)
        return Chat("texts rephrase", messages, independent=True)

    def list_pairs(self) -> Chat:
        passage = self.writer.write(self.random.choice(self.templates))
        lines = [f"Q: {self.random.choice(questions)}\nA: {answer}" for questions, answer in passage.pairs[:8]]
        return Chat("texts pairs", self.asked(passage, [(LIST_PAIRS, "\n".join(lines))]))

    def unknown(self) -> Chat:
        passage = self.writer.write(self.random.choice(self.templates))
        asked = self.random.sample(passage.pairs, min(len(passage.pairs), 3))
        turns = [(self.random.choice(questions), UNKNOWN) for questions, _ in asked]
        return Chat("texts unknown", exchanges(turns), independent=True)

    def alike(self) -> Chat:
        """Questions without a passage and without answers: only which of them ask for the same."""
        return alike_chat([self.naming(self.writer.write(template)) for template in self.random.sample(self.templates, 3)], self.random)

    @staticmethod
    def naming(passage: Passage) -> list[tuple[list[str], str]]:
        """The pairs of a passage with those of their questions that name what they ask about."""
        pairs = [([q for q in questions if any(name in q for name in passage.names)], answer) for questions, answer in passage.pairs]
        return [(questions, answer) for questions, answer in pairs if questions]

    def known(self) -> Chat:
        """Facts of fixed passages, asked without them in any wording: practice in recalling from the weights."""
        turns: list[tuple[str, str]] = []
        for _ in range(10):
            questions, answer = self.random.choice(self.random.choice(self.by_heart))
            turns.append((self.random.choice(questions), answer))
        return Chat("texts known", exchanges(turns), independent=True)

    @cached_property
    def by_heart(self) -> list[list[tuple[list[str], str]]]:
        """Of each of some templates, one passage that is always the same: its questions that name what they ask about."""
        result: list[list[tuple[list[str], str]]] = []
        for template in self.templates:
            if zlib.crc32(template.name.encode()) % BY_HEART != 1:
                continue
            passage = Writer(random.Random(zlib.crc32(template.name.encode()))).write(template)
            result.append(self.naming(passage))
        return [pairs for pairs in result if pairs]

    @staticmethod
    def asked(passage: Passage, turns: list[tuple[str, str]]) -> list[Message]:
        return [("system", READ.format(passage=passage.text)), *exchanges(turns)]


def alike_chat(passages: list[list[tuple[list[str], str]]], source: random.Random, longest: int = 18) -> Chat:
    """Up to ``longest`` questions of the passages, a few that ask for the same of each answer."""
    messages: list[Message] = []
    numbers: list[int] = []
    several = [questions for pairs in passages for questions, _ in source.sample(pairs, len(pairs)) if len(set(questions)) > 1]
    for number, questions in enumerate(several):
        if len(messages) >= longest:
            break
        for question in source.sample(sorted(set(questions)), min(len(set(questions)), source.choice((2, 2, 3)))):
            messages.append(("user", question))
            numbers.append(number)
    return Chat("alike", messages, independent=True, alike=numbers)


def exchanges(turns: list[tuple[str, str]]) -> list[Message]:
    """What the user says and the assistant answers, in turn."""
    return [message for said, answer in turns for message in (("user", said), ("assistant", answer))]
