"""The synthetic binding task: facts about meaningless token strings, in the chat format of the real task.

Every content word is one to three tokens drawn from the whole vocabulary, so nothing but matching can answer.
`Curriculum` raises the number of facts, keys and filler words as the model masters each level.
"""

from __future__ import annotations

import random

from .examples import (
    ASSISTANT, FIRST_FREE_ID, FULL_STOP, IM_END, IM_START, NEWLINE, QUESTION_MARK, SYSTEM, USER, Example,
)  # fmt: skip

#: (entities, attributes, share of filler tokens kept). Zero entities: facts have one key only.
LEVELS = [
    (0, 3, 0.0), (0, 6, 0.0), (0, 6, 0.4), (0, 8, 1.0), (1, 3, 0.0), (1, 4, 0.5), (1, 4, 1.0),
    (2, 3, 0.5), (2, 3, 1.0), (3, 3, 1.0), (4, 3, 1.0),
]  # fmt: skip
ANY_ORDER_FROM = 7  # from this level on some sentences name the value before its keys
PROMOTE_AT = 0.78
FUNCTION_WORDS = 400

OPEN_SYSTEM = [IM_START, SYSTEM, NEWLINE]
OPEN_USER = [IM_END, NEWLINE, IM_START, USER, NEWLINE]
OPEN_ASSISTANT = [IM_END, NEWLINE, IM_START, ASSISTANT, NEWLINE]


def is_held_out(word: list[int]) -> bool:
    """A tenth of all token combinations never occurs in training."""
    if len(word) == 1:
        return word[0] % 10 == 3
    return any((first * 31 + second * 17) % 10 == 3 for first, second in zip(word, word[1:]))


class Synthetic:
    def __init__(self, seed: int, vocab_size: int, templates: int = 600):
        self.random = random.Random(seed)
        self.vocab_size = vocab_size
        fixed = random.Random(99)  # templates and function words are the same for every seed
        self.function_words = [fixed.randrange(300, min(1300, vocab_size)) for _ in range(FUNCTION_WORDS)]
        self.any_order: dict[str, list[list]] = {}
        self.value_last: dict[str, list[list]] = {}
        self.questions: dict[str, list[list]] = {}
        for split, count in (("train", templates), ("held", templates // 4)):
            self.any_order[split] = [self._template(fixed, "EAV") for _ in range(count)]
            candidates = [self._template(fixed, "EAV") for _ in range(3 * count)]
            self.value_last[split] = [c for c in candidates if c.index("V") > max(c.index("E"), c.index("A"))]
            self.questions[split] = [self._template(fixed, "EA") for _ in range(count // 2)]

    def _template(self, source: random.Random, slots: str) -> list:
        order = list(slots)
        source.shuffle(order)
        template: list = []
        for slot in order:
            template += [source.choice(self.function_words) for _ in range(source.choice((0, 1, 1, 2, 2, 3)))] + [slot]
        return template + [source.choice(self.function_words) for _ in range(source.choice((0, 0, 0, 1, 2)))]

    def word(self, held: bool) -> list[int]:
        while True:
            chance = self.random.random()
            length = 1 if chance < 0.35 else 3 if chance > 0.9 else 2
            word = [self.random.randrange(FIRST_FREE_ID, self.vocab_size) for _ in range(length)]
            if is_held_out(word) == held:
                return word

    def fill(self, template: list, slots: dict[str, list[int]], filler: float) -> list[int]:
        ids: list[int] = []
        for part in template:
            if part in slots:
                ids += slots[part]
            elif filler >= 1 or self.random.random() < filler:
                ids.append(part)
        return ids

    def repeats(self) -> Example:
        """A random segment, repeated in parts: dense practice for the induction heads."""
        pick = self.random
        length = pick.randint(6, 30)
        segment = [pick.randrange(FIRST_FREE_ID, self.vocab_size) for _ in range(length)]
        ids, spans = list(segment), []
        for _ in range(pick.randint(1, 3)):
            ids += [pick.randrange(FIRST_FREE_ID, self.vocab_size) for _ in range(pick.randint(0, 4))]
            first = pick.randrange(0, length - 3)
            last = pick.randint(first + 4, length)
            ids += segment[first:last]
            spans.append((len(ids) - (last - first) + 1, len(ids)))
        return Example("repeat", ids, spans)

    def binding(
        self, entities: int, attributes: int, filler: float, *, questions: int = 12, held: bool = False,
        held_templates: bool = False, cloze: float = 0.0, any_order: float = 0.0,
    ) -> Example:  # fmt: skip
        """Facts, then questions about them; ``cloze`` is the share of questions that repeat the sentence itself."""
        pick = self.random
        split = "held" if held_templates else "train"
        names = [self.word(held) for _ in range(entities)] or [[]]
        labels = [self.word(held) for _ in range(attributes)]
        facts = [(name, label, self.word(held)) for name in names for label in labels]
        pick.shuffle(facts)
        ids, spans, sentences = list(OPEN_SYSTEM), [], []
        for name, label, value in facts:
            templates = self.any_order if pick.random() < any_order else self.value_last
            template = pick.choice(templates[split])
            slots = {"E": name, "A": label, "V": value}
            before_value = self.fill(template[: template.index("V")], slots, filler)
            sentences.append(before_value)
            ids += before_value + value + self.fill(template[template.index("V") + 1 :], slots, filler) + [FULL_STOP]
        for number in pick.sample(range(len(facts)), min(questions, len(facts))):
            name, label, value = facts[number]
            ids += OPEN_USER
            style = pick.random() if pick.random() < cloze else -1.0
            if style > 0.66:
                ids += (name + label if pick.random() < 0.5 else label + name) + [QUESTION_MARK]
            elif style >= 0:
                ids += sentences[number] + ([QUESTION_MARK] if style > 0.33 else [])
            else:
                ids += self.fill(pick.choice(self.questions[split]), {"E": name, "A": label}, filler) + [QUESTION_MARK]
            ids += OPEN_ASSISTANT
            spans.append((len(ids), len(ids) + len(value) + 1))
            ids += value + [IM_END]
        return Example("synthetic", ids + [NEWLINE], spans)


class Curriculum:
    """Chooses the next synthetic example; ``record`` reports how well the current level is answered."""

    def __init__(self, synthetic: Synthetic):
        self.synthetic = synthetic
        self.level = 0
        self.accuracy = [0.0] * len(LEVELS)

    @property
    def mastered(self) -> bool:
        last = len(LEVELS) - 1
        return self.level == last and self.accuracy[last] > PROMOTE_AT

    def next(self) -> Example:
        pick = self.synthetic.random
        easier_from = 3 if self.level >= 7 else 0
        level = self.level if pick.random() < 0.65 else pick.randrange(min(easier_from, self.level), self.level + 1)
        # Repeats and cloze questions start the copying heads; later they only keep them alive.
        repeats, cloze = (0.2, 0.3) if self.level < 7 else (0.05, 0.1)
        fade = 1.0 if self.accuracy[self.level] < 0.5 or self.level < 2 else 0.3
        if pick.random() < repeats * fade:
            return self.synthetic.repeats()
        entities, attributes, filler = LEVELS[level]
        any_order = 0.3 if self.level >= ANY_ORDER_FROM else 0.0
        example = self.synthetic.binding(entities, attributes, filler, cloze=cloze * fade, any_order=any_order)
        example.kind = f"level {level}"
        return example

    def record(self, level: int, accuracy: float, weight: float) -> None:
        self.accuracy[level] += weight * (accuracy - self.accuracy[level])
        if level == self.level and self.accuracy[level] > PROMOTE_AT and self.level < len(LEVELS) - 1:
            self.level += 1

    def state(self) -> dict:
        return {"level": self.level, "accuracy": self.accuracy, "random": self.synthetic.random.getstate()}

    def restore(self, state: dict) -> None:
        self.level, self.accuracy = state["level"], list(state["accuracy"])
        self.synthetic.random.setstate(state["random"])
