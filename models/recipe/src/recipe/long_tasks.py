"""Reading long passages: many things with the same attributes, and texts in the manner of notices, lists and letters.

A passage has up to about 40 statements; the shapes are paragraphs, headings, bullets, numbers, records and tables, and
release notes, minutes, price lists and letters.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from .chat import Chat, Message
from .prompts import NOT_STATED, READ
from .world import Entity, Fact, Passage, World, capitalise

Pairs = list[tuple[str, str]]

LONGEST = 2600  # characters of a passage

FIXES = """the login page|the search|the export|the print view|the date picker|the upload of large files|the dark theme|the start screen
|the backup|the undo button|the map|the sound|the memory leak|the time zone|the spelling check|the sync|the settings page|the help page
|the password reset|the calendar|the video player|the address book|the report of sales|the update check""".replace("\n", "").split("|")
TASKS = """order the new chairs|write the report|call the printer|book the hall|check the budget|paint the fence|send the invitations
|repair the roof|update the website|count the votes|clean the cellar|ask for an offer|hire a cook|buy a new pump|plan the summer party
|close the old account|translate the manual|train the new staff|review the contract|move the archive|test the alarm|plant the trees""".replace("\n", "").split("|")
LETTER_NEWS = """the garden is in flower|the roof has been repaired|the children are well|the harvest was good|the road is closed
|we have a new neighbour|the shop is open again|the river was frozen|the choir sang on Sunday|the old oak fell""".replace("\n", "").split("|")
ACTS = {"Fixed": "fix", "Added": "add", "Removed": "remove"}


@dataclass
class Text:
    text: str
    pairs: Pairs
    absent: Pairs  # questions that the text does not answer


def numbered(lines: list[str]) -> list[str]:
    return [f"{number}. {line}" for number, line in enumerate(lines, 1)]


def bulleted(lines: list[str]) -> list[str]:
    return [f"- {line}" for line in lines]


class LongTasks:
    def __init__(self, source: random.Random, world: World):
        self.random, self.world, self.words = source, world, world.vocabulary

    # -- things and their facts --------------------------------------------------------------------------------

    def narrated(self) -> Text:
        """Up to ten things told in sentences, in one of several shapes."""
        pick, world = self.random, self.world
        passage = world.passage(pick.randint(13, 34), entities=pick.randint(4, 10))
        while len(passage.text) > LONGEST:
            passage = world.passage(pick.randint(10, 20), entities=pick.randint(3, 8))
        sentences = passage.sentences
        shape = pick.choice(("plain", "paragraphs", "paragraphs", "headings", "bullets", "numbers"))
        if shape == "plain":
            text = passage.text
        elif shape in ("bullets", "numbers"):
            lines = [sentence for sentence, _ in sentences]
            head = pick.choice(["Notes:", "What we know:", "Summary", "Facts:", "List of notes", "Overview:"])
            text = "\n".join([head, *(bulleted(lines) if shape == "bullets" else numbered(lines))])
        else:
            blocks: list[tuple[str, list[str]]] = []
            last: Entity | None = None
            for sentence, entity in sentences:
                if not blocks or (entity is not None and entity is not last):
                    blocks.append((entity.name if entity else "Notes", []))
                blocks[-1][1].append(sentence)
                last = entity or last
            mark = pick.choice(("## {}", "{}", "{}:", "# {}")) if shape == "headings" else ""
            parts = [(mark.format(capitalise(name)) + "\n" if mark else "") + " ".join(block) for name, block in blocks]
            text = "\n\n".join(parts)
        return self.asked(passage, text)

    def records(self) -> Text:
        """Things with the same attributes as lines "key: value", or as the rows of a table."""
        pick, world = self.random, self.world
        kind = pick.choice(world.types)
        usable = [relation for relation in kind.relations if relation.held == world.held_relations]
        relations = pick.sample(usable, min(len(usable), pick.randint(2, 4)))
        members: list[Entity] = []
        facts: list[Fact] = []
        labels = [relation.label for relation in relations]
        extra = world.vocabulary.attribute_name() if pick.random() < 0.5 else None
        for _ in range(pick.randint(3, 8)):
            entity = world.entity(kind)
            if any(entity.name.lower() in other.name.lower() or other.name.lower() in entity.name.lower() for other in members):
                continue
            members.append(entity)
            entity.labels.update([*labels, *([extra] if extra else [])])
            facts += [Fact(entity, r.label, self.words.value(r.value_kind), r) for r in relations if pick.random() < 0.92]
            if extra:
                facts.append(Fact(entity, extra, self.words.anything(), None))
        shown = [*labels, *([extra] if extra else [])]
        told = {(fact.entity.name, fact.label): fact.value for fact in facts}
        if pick.random() < 0.4:
            rows = ["| " + " | ".join([kind.nouns[0], *shown]) + " |", "|" + " --- |" * (len(shown) + 1)]
            for entity in members:
                rows.append("| " + " | ".join([entity.name, *(told.get((entity.name, label), "-") for label in shown)]) + " |")
            text = "\n".join(rows)
        else:
            blocks = []
            name, bullets = pick.choice(("Name: {}", "{}")), pick.random() < 0.3
            for entity in members:
                lines = [f"{capitalise(label)}: {told[entity.name, label]}" for label in shown if (entity.name, label) in told]
                first = capitalise(name.format(entity.name))
                blocks.append("\n".join([first, *(bulleted(lines) if bullets else lines)]))
            text = "\n\n".join(blocks)
        passage = Passage(text, facts, members, [])
        gaps = [(e, r) for e in members for r in relations if (e.name, r.label) not in told]
        result = self.asked(passage, text)
        result.absent += [(world.question(Fact(e, r.label, "", r)), NOT_STATED) for e, r in gaps[:1]]
        return result

    def asked(self, passage: Passage, text: str) -> Text:
        pick = self.random
        facts = pick.sample(passage.facts, min(len(passage.facts), pick.randint(4, 8)))
        pairs = [(self.world.question(fact), fact.value) for fact in facts]
        absent = [question for _ in range(2) if (question := self.world.unanswerable(passage))]
        return Text(text, pairs, [(question, NOT_STATED) for question in absent])

    # -- texts of everyday work --------------------------------------------------------------------------------

    def release_notes(self) -> Text:
        pick, words = self.random, self.words
        product = words.nonce()
        fixes = pick.sample(FIXES, pick.randint(6, 14))
        pairs: Pairs = []
        lines = [f"{product} release notes"] if pick.random() < 0.5 else [f"# Changes in {product}"]
        heading = pick.choice(("Version {} ({})", "{}, {}", "## {} - {}", "Version {}, {}"))
        major, minor = pick.randint(1, 9), pick.randint(3, 12)
        while fixes and minor >= 0:
            version, date = f"{major}.{minor}", words.date()
            minor -= 1
            lines += ["", heading.format(version, date)]
            pairs.append((pick.choice([f"When was version {version} released?", f"When did version {version} come out?",
                                       f"What is the date of version {version}?"]), date))  # fmt: skip
            entries, fixes = fixes[:3], fixes[3:]
            for number, what in enumerate(entries):
                act = ("Fixed", "Added", "Removed")[number] if pick.random() < 0.9 else "Changed"
                lines.append(f"- {act} {what}")
                pairs.append((pick.choice([f"In which version was {what} {act.lower()}?", f"Which version {act.lower()} {what}?"]), version))
                if [line for line in lines[-3:] if line.startswith(f"- {act} ")] == [lines[-1]] and act != "Changed":
                    pairs.append((pick.choice([f"What was {act.lower()} in version {version}?", f"What did version {version} {ACTS[act]}?"]), what))
        absent = [(f"When was version {major + 1}.{pick.randint(0, 9)} released?", NOT_STATED)]
        if fixes:
            absent.append((f"Which version fixed {fixes[0]}?", NOT_STATED))
        return Text("\n".join(lines), pairs, absent)

    def minutes(self) -> Text:
        pick, words = self.random, self.words
        people: list[str] = []
        while len(people) < 6:
            person = words.person()
            if not any(person in other or other in person for other in people):
                people.append(person)
        chosen = pick.sample(TASKS, pick.randint(4, 8))
        topic, date, place, next_date = words.listed("thing"), words.date(), words.place(), words.date()
        chair, clerk = people[0], people[1]
        lines = [pick.choice((f"Minutes of the meeting on {date}", f"Meeting, {date}")), f"Place: {place}", f"Chair: {chair}",
                 f"Minutes taken by: {clerk}", f"Present: {', '.join(people[:5])}", "",
                 pick.choice(("Decisions:", "Tasks:", "We decided:", "Actions:"))]  # fmt: skip
        pairs: Pairs = [
            (pick.choice(["Who chaired the meeting?", "Who was in the chair?", "Who led the meeting?"]), chair),
            (pick.choice(["Who took the minutes?", "Who wrote the minutes?"]), clerk),
            (pick.choice(["Where was the meeting?", "Where did they meet?"]), place),
            (pick.choice(["When was the meeting?", "On what date did they meet?"]), date),
            (pick.choice(["When is the next meeting?", "On what date will they meet again?"]), next_date),
        ]
        entries: list[str] = []
        for task in chosen:
            who, day = pick.choice(people[:5]), words.listed("day")
            form = pick.randrange(3)
            entries.append([f"{who} will {task} by {day}.", f"{capitalise(task)}: {who}, by {day}", f"{who} is to {task} before {day}."][form])
            pairs.append((pick.choice([f"Who will {task}?", f"Who is to {task}?", f"Who has to {task}?"]), who))
            pairs.append((pick.choice([f"By when will somebody {task}?", f"By what day is somebody to {task}?"]), day))
        budget = words.money()
        entries.insert(pick.randint(0, len(entries)), f"The budget for the {topic} is {budget}.")
        pairs.append((pick.choice([f"What is the budget for the {topic}?", f"How much is planned for the {topic}?"]), budget))
        lines += bulleted(entries) if pick.random() < 0.6 else numbered(entries)
        lines += ["", f"Next meeting: {next_date}"]
        other = pick.choice([task for task in TASKS if task not in chosen])
        return Text("\n".join(lines), pairs, [(f"Who will {other}?", NOT_STATED)])

    def price_list(self) -> Text:
        pick, words = self.random, self.words
        shop = words.organisation()
        items: dict[str, str] = {}
        count = pick.randint(8, 20)
        while len(items) < count:
            item = pick.choice((words.coloured_thing, words.coloured_thing, lambda: words.listed("food"), lambda: words.listed("instrument")))()
            items.setdefault(item, pick.choice((f"{pick.randint(1, 99)}.{words.digits(2)} euros", f"{pick.randint(2, 900)} euros")))
        opening, closing, phone = words.time(), words.time(), words.digits(6)
        mark = pick.choice(("- {}: {}", "{}: {}", "* {} - {}", "{} ... {}", "{}, {}"))
        lines = [pick.choice((f"Price list of {shop}", f"{capitalise(shop)}: our prices", f"Prices at {shop}")), ""]
        lines += [mark.format(item, price) for item, price in items.items()]
        lines += ["", f"Open from {opening} to {closing}. Telephone: {phone}"]
        asked = ["How much is the {}?", "What does the {} cost?", "What is the price of the {}?", "What do I pay for the {}?", "Price of the {}?"]
        pairs = [(pick.choice(asked).format(item), price) for item, price in items.items()]
        prices = list(items.values())
        pairs += [(f"What costs {price}?", item) for item, price in items.items() if prices.count(price) == 1][:2]
        pairs += [("When does the shop open?", opening), ("When does the shop close?", closing), ("What is the telephone number?", phone),
                  ("Whose price list is it?", shop)]  # fmt: skip
        while (other := words.coloured_thing()) in items:
            pass
        return Text("\n".join(lines), pairs, [(pick.choice(asked).format(other), NOT_STATED)])

    def letter(self) -> Text:
        pick, words = self.random, self.words
        while True:
            writer, reader, friend = words.person(), words.person(), words.person()
            if len({writer, reader, friend}) == 3:
                break
        place, date, town, day, time = words.place(), words.date(), words.place(), words.listed("day"), words.time()
        gift, thing, sum_ = words.coloured_thing(), words.listed("thing"), words.money()
        news = pick.sample(LETTER_NEWS, 3)
        body = [
            (f"Thank you for the {gift}.", ["For what does the writer say thank you?", "What did the writer receive?"], gift),
            (f"I will come to {town} on {day}.", ["Where will the writer come?", "To which town will the writer come?"], town),
            (f"My train arrives at {time}.", ["When does the train arrive?", "At what time does the train arrive?"], time),
            (f"{friend} will come with me.", ["Who will come with the writer?", "Who comes along?"], friend),
            (f"Please bring the {thing}.", ["What should the reader bring?", "What is the reader asked to bring?"], thing),
            (f"The repair cost {sum_}.", ["What did the repair cost?", "How much was the repair?"], sum_),
        ]
        pick.shuffle(body)
        body = body[: pick.randint(4, 6)]
        sentences = [sentence for sentence, _, _ in body]
        for item in news:
            sentences.insert(pick.randint(0, len(sentences)), pick.choice(("{}.", "Here {}.", "You may have heard that {}.")).format(item))
        cut = len(sentences) // 2
        paragraphs = [" ".join(capitalise(text) for text in part) for part in (sentences[:cut], sentences[cut:])]
        close = pick.choice(("Yours,", "Best wishes,", "Kind regards,", "With love,", "Sincerely,"))
        text = f"{place}, {date}\n\nDear {reader},\n\n" + "\n\n".join(paragraphs) + f"\n\n{close}\n{writer}"
        pairs = [(pick.choice(questions), answer) for _, questions, answer in body]
        pairs += [
            (pick.choice(["Who wrote the letter?", "Who is the letter from?", "Who signed the letter?"]), writer),
            (pick.choice(["Who is the letter to?", "To whom is the letter written?", "Who receives the letter?"]), reader),
            (pick.choice(["Where was the letter written?", "From which place does the letter come?"]), place),
            (pick.choice(["When was the letter written?", "What is the date of the letter?"]), date),
        ]
        return Text(text, pairs, [("What is the writer's address?", NOT_STATED)] if pick.random() < 0.5 else [])

    # -- chats -------------------------------------------------------------------------------------------------

    def text(self) -> Text:
        kinds = [self.narrated, self.records, self.release_notes, self.minutes, self.price_list, self.letter]
        return self.random.choices(kinds, weights=(0.45, 0.2, 0.09, 0.09, 0.09, 0.08))[0]()

    def chat(self) -> Chat:
        pick, text = self.random, self.text()
        pairs = pick.sample(text.pairs, min(len(text.pairs), pick.randint(4, 8)))
        for pair in text.absent[: pick.choice((0, 1, 1, 2))]:
            pairs.insert(pick.randint(0, len(pairs)), pair)
        messages: list[Message] = [("system", READ.format(passage=text.text))]
        for question, answer in pairs:
            messages += [("user", question), ("assistant", answer)]
        return Chat("long", messages, independent=True)
