"""Check the files of ``texts/``, by writing each of their templates several times.

    python -m recipe.check_texts [FILE…] [--show]

prints what is wrong, and with ``--show`` a passage of each template.
"""

from __future__ import annotations

import random
import re
import sys
from collections import Counter
from pathlib import Path

from .texts import FOLDER, Template, Writer, parse


def faults(template: Template, seed: int = 1) -> list[str]:
    """What is wrong with a template, found by writing it several times."""
    found: list[str] = []
    if len(template.sentences) < 4 or len(template.questions) < 5:
        found.append("fewer than 4 sentences or 5 answers")
    for pattern, questions in template.questions:
        if len(set(questions)) < 3:
            found.append(f"answer {pattern} has fewer than 3 questions")
        found += [f"no question mark: {question}" for question in questions if not question.endswith("?")]
    used = " ".join([pattern for pattern, _ in template.sentences] + [pattern for pattern, _ in template.questions])
    optional = {pattern for pattern, may in template.sentences if may}
    for number in range(12):
        try:
            passage = Writer(random.Random(seed + number)).write(template)
        except (AttributeError, KeyError, ValueError, TypeError, IndexError) as error:
            return [*found, f"cannot be filled: {error}"]
        answers = Counter(answer.lower() for _, answer in passage.pairs)
        found += [f"two answers are {answer!r}" for answer, times in answers.items() if times > 1]
        if not optional and len(passage.pairs) < len(template.questions):
            stated = {answer for _, answer in passage.pairs}
            found.append(f"an answer does not stand in the passage as it is: only {sorted(stated)} do, in: {passage.text}")
        if len(passage.text) > 1400:
            found.append(f"{len(passage.text)} characters; at most 1,400")
        if re.search(r"[\[\]{}|]", passage.text):
            found.append(f"brackets left in: {passage.text}")
        for questions, answer in passage.pairs:
            found += [f"the question gives its answer {answer!r} away: {q}" for q in questions if answer.lower() in q.lower() and len(answer) > 3]
        if len(passage.pairs) < 4:
            found.append(f"only {len(passage.pairs)} questions can be answered; the fixed sentences should answer more")
    answered = [pattern for pattern, _ in template.questions]
    for name in template.slots:
        if f"{{{name}}}" not in used and not any(f"{{{name}}}" in p for patterns in template.slots.values() for p in patterns):
            found.append(f"slot {name} is never used")
    constant = [pattern for pattern in answered if "{" not in pattern]
    if len(constant) > 1:
        found.append(f"answers without a slot are learnt by heart: {constant}; at most one")
    return list(dict.fromkeys(found))[:6]


def main() -> None:
    files = [Path(name) for name in sys.argv[1:] if not name.startswith("-")] or sorted(FOLDER.glob("*.txt"))
    bad = total = 0
    for path in files:
        for template in parse(path.read_text()):
            total += 1
            problems = faults(template)
            bad += bool(problems)
            for problem in problems:
                print(f"{path.name}: {template.name}: {problem}")
            if "--show" in sys.argv:
                passage = Writer(random.Random(5)).write(template)
                print(f"\n== {template.name}\n{passage.text}\n" + "\n".join(f"  {q[0]} → {a}" for q, a in passage.pairs))
    print(f"{total} texts, {bad} with faults")


if __name__ == "__main__":
    main()
