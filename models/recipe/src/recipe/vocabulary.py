"""Names and values in unlimited supply, so that only the passage can tell an answer.

Every word of a name is either a real-looking name or built from syllables. A tenth of all words (chosen by a hash of
the word) is held out: it never occurs in training and makes up the evaluation's names.
"""

from __future__ import annotations

import random
import re
import zlib
from functools import cache

from .vocabulary_more import OPEN_LISTS, PHRASES
from .vocabulary_words import (
    CODAS,
    FIRST_NAMES,
    LAST_NAMES,
    LISTS,
    MONTHS,
    ONSETS,
    ORGANISATION_ENDINGS,
    PLACE_ENDINGS,
    PLACE_STARTS,
    TITLES,
    TITLE_WORDS,
    VOWELS,
)


def is_held_out(word: str) -> bool:
    return zlib.crc32(word.lower().encode()) % 10 == 3


@cache
def open_list(name: str, held: bool) -> list[str]:
    """The part of a large list that belongs to training or, if ``held``, to evaluation.

    The held part has at least seven words, the next by hash, because a passage asks for up to six different values.
    """
    words = sorted(OPEN_LISTS[name], key=lambda word: ((zlib.crc32(word.lower().encode()) - 3) % 10, word))
    cut = max(7, sum(map(is_held_out, words)))
    return words[:cut] if held else words[cut:]


class Vocabulary:
    """Random names and values; ``held`` chooses the words kept out of training."""

    def __init__(self, source: random.Random, held: bool = False):
        self.random, self.held = source, held

    def choice(self, items):
        return self.random.choice(items)

    def listed(self, name: str) -> str:
        # Short everyday lists have no held-out part: the value of a fact is drawn anew each time anyway.
        return self.choice(LISTS[name])

    def nonce(self) -> str:
        """An invented capitalised word."""
        pick = self.random
        while True:
            if pick.random() < 0.07:
                word = "".join(pick.choice("aeioubcdfghklmnprstvwz") for _ in range(pick.randint(3, 7)))
            else:
                parts = pick.choice((1, 2, 2, 2, 2, 3))
                word = "".join(
                    pick.choice(ONSETS if index or pick.random() < 0.85 else [""]) + pick.choice(VOWELS)
                    + (pick.choice(CODAS) if index == parts - 1 or pick.random() < 0.3 else "")
                    for index in range(parts)
                )  # fmt: skip
            if 3 <= len(word) <= 11 and is_held_out(word) == self.held:
                return word.capitalize()

    def real(self, names: list[str]) -> str:
        while True:
            name = self.choice(names)
            if is_held_out(name) == self.held:
                return name

    def surname(self) -> str:
        return self.real(LAST_NAMES)

    def word(self) -> str:
        """An invented word in small letters, as in an address."""
        return self.nonce().lower()

    def person(self) -> str:
        chance = self.random.random()
        if chance < 0.45:
            return f"{self.real(FIRST_NAMES)} {self.real(LAST_NAMES)}"
        if chance < 0.65:
            return f"{self.real(FIRST_NAMES)} {self.nonce()}"
        if chance < 0.75:
            return f"{self.nonce()} {self.nonce()}"
        if chance < 0.85:
            return f"{self.choice(TITLES)} {self.choice([self.nonce, lambda: self.real(LAST_NAMES)])()}"
        return self.real(FIRST_NAMES) if chance < 0.94 else self.nonce()

    def place(self) -> str:
        if self.random.random() < 0.12:
            return self.choice(PLACE_STARTS) + self.nonce()
        return self.nonce() + self.choice(PLACE_ENDINGS)

    def organisation(self) -> str:
        base = self.nonce() if self.random.random() < 0.75 else self.real(LAST_NAMES)
        name = base + self.choice(ORGANISATION_ENDINGS)
        return f"the {name}" if name != base and self.random.random() < 0.12 else name

    def title(self) -> str:
        """A title as of a book, a ship or a festival."""
        pick = self.random
        form = pick.randrange(7)
        words = [pick.choice(TITLE_WORDS) for _ in range(2)]
        if form == 0:
            return f"The {words[0]} of {self.nonce()}"
        if form == 1:
            return f"{self.nonce()}"
        if form == 2:
            return f"The {self.listed('colour').title()} {words[1]}"
        if form == 3:
            return f"{words[0]} and {words[1]}"
        if form == 4:
            return f"{self.nonce()} {words[0]}"
        if form == 5:
            return f"The {words[0]} {words[1]}"
        return f"The Last {words[0]} of {self.nonce()}" if pick.random() < 0.3 else f"{words[0]} {self.nonce()}"

    def letters(self, count: int) -> str:
        return "".join(self.choice("ABCDEFGHIJKLMNOPQRSTUVWXYZ") for _ in range(count))

    def digits(self, count: int) -> str:
        return "".join(self.choice("0123456789") for _ in range(count))

    def code(self) -> str:
        form = self.random.randrange(8)
        if form == 0:
            return f"{self.letters(2)}-{self.digits(3)}"
        if form == 1:
            return f"{self.letters(1)}{self.digits(2)}"
        if form == 2:
            return f"{self.letters(3)}{self.digits(2)}"
        if form == 3:
            return f"{self.digits(4)}-{self.letters(1)}"
        if form == 4:
            return f"{self.letters(2)}{self.digits(4)}"
        if form == 5:
            return self.digits(self.random.randint(3, 6))
        if form == 6:
            return f"{self.nonce().lower()}{self.digits(2)}"
        return f"{self.letters(1)}-{self.digits(1)}-{self.letters(1)}"

    def model_name(self) -> str:
        form = self.random.randrange(4)
        if form == 0:
            return f"{self.nonce()} {self.digits(self.random.randint(1, 3))}"
        if form == 1:
            return f"{self.letters(self.random.randint(1, 2))}-{self.digits(self.random.randint(1, 3))}"
        if form == 2:
            return f"{self.nonce()} {self.letters(1)}{self.digits(1)}"
        return self.nonce()

    def year(self) -> str:
        pick = self.random
        return str(pick.randint(1800, 2040) if pick.random() < 0.7 else pick.randint(1100, 2100))

    def date(self) -> str:
        day, month = self.random.randint(1, 31), self.choice(MONTHS)
        form = self.random.randrange(4)
        if form == 0:
            return f"{day} {month}"
        if form == 1:
            return f"{month} {day}"
        if form == 2:
            return f"{month} {day}, {self.year()}"
        return f"{day} {month} {self.year()}"

    def when(self) -> str:
        chance = self.random.random()
        if chance < 0.6:
            return self.year()
        return self.date() if chance < 0.88 else f"{self.choice(MONTHS)} {self.year()}"

    def number(self) -> str:
        pick, chance = self.random, self.random.random()
        if chance < 0.3:
            return str(pick.randint(2, 99))
        if chance < 0.55:
            return str(pick.randint(100, 999))
        if chance < 0.78:
            return f"{pick.randint(1, 999)},{pick.randint(0, 999):03d}"
        if chance < 0.82:
            return f"{pick.randint(2, 90)} million"
        if chance < 0.86:
            return self.choice("two three four five six seven eight nine ten eleven twelve twenty thirty fifty".split())
        return str(pick.randint(1000, 9999))

    def quantity(self) -> str:
        """A measure's number, which unlike a count may have decimals."""
        if self.random.random() < 0.2:
            return f"{self.random.randint(0, 99)}.{self.random.randint(1, 9)}"
        return self.number()

    def money(self) -> str:
        form = self.random.randrange(6)
        if form < 2:
            return f"${self.number()}" if self.random.random() < 0.8 else f"${self.random.randint(1, 99)}.{self.digits(2)}"
        return f"{self.number()} {self.choice(['dollars', 'euros', 'pounds', 'crowns', 'francs', 'coins', 'marks'])}"

    def time(self) -> str:
        hour, minute = self.random.randint(0, 23), self.random.choice([0, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55])
        form = self.random.randrange(6)
        if form == 0:
            return f"{hour % 12 + 1} a.m." if hour < 12 else f"{hour % 12 + 1} p.m."
        if form == 1:
            return self.choice(["noon", "midnight", "six o'clock", "nine o'clock", "ten o'clock", "half past eight"])
        return f"{hour:02d}:{minute:02d}" if form < 5 else f"{hour}:{minute:02d}"

    def percent(self) -> str:
        return f"{self.random.randint(1, 99)}{self.choice(['%', '%', ' percent'])}"

    def coloured_thing(self) -> str:
        return f"{self.listed('colour')} {self.listed('thing')}"

    def attribute_name(self) -> str:
        """The label of a generic fact: "backup frequency"."""
        chance = self.random.random()
        if chance < 0.55:
            return f"{self.listed('adjective')} {self.listed('attribute')}"
        if chance < 0.9:
            return self.listed("attribute")
        return f"{self.nonce().lower()} {self.listed('attribute')}"

    def anything(self) -> str:
        kind = self.choice(["nonce", "nonce", "person", "place", "code", "number", "year", "date", "colour", "material",
                            "animal", "thing", "day", "money", "time", "coloured_thing", "organisation", "title",
                            "#metres,litres,volts,points"])  # fmt: skip
        return self.value(kind)

    def phrase(self, name: str) -> str:
        """A phrase of `PHRASES`: {kind} stands for a value, {2-99} for a number between these, {00} for two digits."""
        text = self.choice(PHRASES[name])
        text = re.sub(r"\{(\d+)-(\d+)\}", lambda m: str(self.random.randint(int(m[1]), int(m[2]))), text)
        text = re.sub(r"\{(0+)\}", lambda m: self.digits(len(m[1])), text)
        text = re.sub(r"\{(\w+)\}", lambda m: self.value(m[1]), text)
        return re.sub(r"\b([Aa]) (?=[aeio]|u(?!ni|s))", r"\1n ", text)

    def value(self, kind: str) -> str:
        """A value of a kind: a method's, a list's or a phrase's name, or "#unit,unit" for a measure."""
        if kind.startswith("#"):
            return f"{self.quantity()} {self.choice(kind[1:].split(','))}"
        if kind in PHRASES:
            return self.phrase(kind)
        if kind in OPEN_LISTS:
            return self.choice(open_list(kind, self.held))
        return self.listed(kind) if kind in LISTS else getattr(self, kind)()
