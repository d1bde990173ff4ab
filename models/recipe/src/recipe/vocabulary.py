"""Names and values in unlimited supply, so that only the passage can tell an answer.

Every word of a name is either a real-looking name or built from syllables. A tenth of all words (chosen by a hash of
the word) is held out: it never occurs in training and makes up the evaluation's names.
"""

from __future__ import annotations

import random
import re
import zlib
from functools import cache

from .vocabulary_more import CLOSED_LISTS, OPEN_LISTS, PHRASES

ONSETS = (
    "b c d f g h j k l m n p r s t v w z br cl cr dr fl fr gl gr kl kr pl pr qu sc sh sk sl sm sn sp st str sw th tr tw ch"
).split()
VOWELS = "a e i o u a e i o u ai ea ee ie oa oo ou ei y".split()
CODAS = ["", "", "", "", "n", "r", "l", "s", "m", "k", "t", "d", "th", "x", "nd", "rk", "ss", "ll", "rn", "st", "ng"]
FIRST_NAMES = """
Anna Ben Clara David Emma Felix Grace Henry Iris Jack Karen Leo Maria Noah Olive Paul Rosa Sam Tina Victor Wendy Yusuf
Zoe Amir Bianca Carlos Dana Elif Farid Gita Hugo Ines Jonas Kofi Lena Mateo Nadia Omar Priya Ravi Sofia Tomas Uma Vera
Walt Ximena Yara Zane Mira Ada Alan Alice Amy Andre Arthur Astrid Boris Bruno Carla Cedric Chloe Cora Daniel Daphne
Dmitri Edith Eli Ellen Emil Erik Esther Eva Ewan Fatima Fiona Flora Frank Freya George Gloria Hanna Harold Hassan Hazel
Helen Hiro Ian Ida Igor Irene Isaac Ivan Jacob James Jana Jasper Joan John Jorge Julia Kai Kamal Karl Kate Keiko Kira
Klaus Lara Laura Lars Leila Liam Lily Linda Lou Lucia Luis Lukas Mabel Magda Marco Marek Martha Martin Mary Max Maya
Mei Milan Mona Nell Nils Nina Nora Oleg Olga Oscar Otto Pablo Petra Peter Philip Rachel Ralph Ramon Rita Robert Robin
Ruth Salma Sara Saul Selma Silas Simon Stella Sven Tariq Tara Theo Thomas Tilda Tom Ursula Viola Wanda Wei William Yan
Yuki Zara Abdul Agnes Aisha Alma Anton Aron Asha Basil Bela Berta Callum Celia Colin Darius Della Edgar Elena Enzo
""".split()
LAST_NAMES = """
Voss Miller Stone Hart Lund Okafor Tanaka Silva Novak Weber Brandt Moreno Costa Petrov Ivanova Haddad Khan Patel Singh
Chen Wong Kim Park Sato Mori Larsen Berg Holm Dahl Nygaard Fischer Keller Vogel Braun Wolf Baker Carter Cole Cooper
Dawson Ellis Fletcher Ford Foster Grant Gray Green Hale Harper Hill Holt Hughes Hunt Jensen Knox Lane Lowe Marsh Mason
Moss Nash Nolan Page Payne Porter Quinn Reed Rhodes Rossi Ruiz Ryan Shaw Sharp Slater Snow Stark Swift Tate Thorne Todd
Torres Tucker Vance Wade Walsh Ward Webb West Wilde Winter Wright York Young Adeyemi Mensah Diallo Abebe Otieno Bauer
Bianchi Bloom Burke Byrne Castillo Cruz Delgado Dubois Duran Farrow Ferro Garcia Gomez Hoffman Ito Kaya Kovacs Kowalski
Laurent Leclerc Lopez Marin Meyer Muller Nakamura Olsen Ortega Ozturk Popov Ramos Reyes Romano Santos Schmidt Sokolov
Strand Suzuki Svensson Takeda Toth Varga Vega Villa Wagner Watanabe Yilmaz Zhang Zimmer Ashby Barlow Calder Denby Eastman
""".split()
TITLES = ["Dr.", "Professor", "Captain", "Mrs.", "Mr.", "Ms.", "Judge", "Sister", "Count", "Lady", "Sir"]
MONTHS = "January February March April May June July August September October November December".split()
LISTS: dict[str, list[str]] = {
    name: [word.replace("_", " ") for word in words.split()]
    for name, words in {
        "day": "Monday Tuesday Wednesday Thursday Friday Saturday Sunday",
        "colour": """red blue green yellow black white purple orange silver gold brown grey pink teal crimson violet amber
            beige scarlet turquoise maroon navy olive ivory dark_red light_blue pale_green dark_green bright_yellow cream
            bronze copper lilac indigo""",
        "material": """oak steel glass copper bronze marble granite leather bamboo iron cotton wool clay paper silk wax brick
            titanium linen cedar plastic slate zinc rubber red_brick grey_stone white_marble pine concrete sandstone
            aluminium limestone ash_wood black_steel carbon_fibre birch porcelain walnut tin""",
        "food": """rice bread cheese apples honey beans fish mushrooms berries nuts onions pasta carrots figs olives salmon
            lentils ginger garlic pepper butter cabbage plums lemons potatoes smoked_trout goat_cheese pears tomatoes
            barley oats walnuts dates spinach chickpeas pumpkin cherries wild_garlic black_beans crab eggs""",
        "animal": """wolf eagle otter fox bear owl lynx crane salmon tiger rabbit raven turtle badger hawk deer bee seal moth
            swan horse goat lizard dolphin cat dog parrot hedgehog donkey snake heron beaver llama frog pony sheep goose
            falcon ferret camel""",
        "job": """painter doctor teacher sailor engineer baker lawyer farmer pilot nurse chemist architect singer writer
            carpenter judge plumber botanist tailor gardener miner librarian welder dentist cook clockmaker potter actor
            journalist programmer banker photographer mechanic surgeon shepherd translator dancer blacksmith geologist
            fisherman postman weaver detective biologist""",
        "instrument": """violin piano flute drum harp guitar trumpet cello organ banjo oboe lute clarinet horn viola tuba
            accordion saxophone mandolin trombone double_bass bagpipes""",
        "language": """French Spanish Arabic Hindi Polish Dutch Korean Turkish Swahili Greek Italian Welsh Finnish Thai Latin
            Danish German Russian Japanese Czech Irish Norwegian Hebrew Persian Urdu Basque Hungarian""",
        "thing": """lantern map compass ladder bridge tower mirror kettle bell anchor wheel basket hammer candle ribbon key
            drum statue rope shield clock coin saddle pump lamp chair bicycle bottle helmet crown radio kite vase table
            knife carpet boat wagon camera telescope""",
        "mineral": """salt copper coal quartz silver tin sulfur gypsum nickel jade lead cobalt mica lithium graphite chalk
            gold iron_ore timber grain sand oil tea coffee sugar wool wheat marble cement bananas""",
        "energy": """solar_power wind diesel batteries steam hydrogen nuclear_power gas electricity petrol methane coal
            tidal_power wood alcohol compressed_air sunlight biogas""",
        "sport": """tennis chess rowing archery cycling hockey judo soccer fencing swimming golf rugby boxing skiing running
            curling climbing sailing basketball volleyball wrestling diving""",
        "subject": """history music physics chemistry geography algebra biology Latin law medicine astronomy drawing economics
            geology poetry logic botany navigation architecture philosophy statistics dance""",
        "topic": """a_lost_city a_young_sailor two_sisters the_sea a_long_winter a_stolen_crown an_old_lighthouse a_talking_fox
            the_first_railway a_blind_painter a_war a_secret_garden a_missing_ship a_journey_to_the_moon friendship
            a_poor_baker bees a_famous_trial a_mountain_rescue the_plague a_clever_thief life_on_a_farm""",
        "cause": """a_fire a_flood an_earthquake a_storm a_war a_landslide a_lightning_strike an_explosion a_leak
            a_broken_pump bad_weather high_costs heavy_snow a_strike a_power_cut a_virus a_missing_part""",
        "activity": """painting fishing gardening singing cooking hiking knitting chess dancing reading cycling skating
            photography baking sailing pottery woodwork birdwatching astronomy swimming""",
        "adjective": """primary secondary hidden daily outer inner upper lower final early late heavy light fast slow cold
            warm silent public private central minor major double basic deep broad sharp local lunar solar rapid stable
            mean peak rare royal old new total smooth dense weekly annual spare default backup official northern
            southern first second third last safe main""",
        "attribute": """index grade code level rate signal channel label symbol motto mascot badge limit quota ratio phase
            output score tier anthem emblem supplier format sequence marker theme warranty section zone shelf port
            frequency route target address theme_song nickname slogan category version status flag crest gate keyword
            size model partner region class group rule prize lock fee tax handle""",
    }.items()
} | CLOSED_LISTS
PLACE_ENDINGS = ["", "", "", "", "", "ville", "port", "ton", "ford", "burg", " City", " Falls", " Bay", " Harbor", " Hill",
                 " Island", " Valley", " Street", " Square", " Creek", " Bridge", " Park"]  # fmt: skip
PLACE_STARTS = ["North ", "South ", "Old ", "New ", "Upper ", "Port ", "Lake ", "Fort ", "Saint "]
ORGANISATION_ENDINGS = [" Labs", " Corp", " Group", " Works", "", "", "", " and Sons", " Institute", " Guild", " Foundation",
                        " Bank", " Motors", " Systems", " Press", " Brothers", " Trust", " University", " Foods"]  # fmt: skip
TITLE_WORDS = """Sea River Night Winter Summer House Garden Star Moon Road Forest Storm Glass Iron Stone Shadow Light Dream
Song Bird Fire Snow Island Crown King Queen Mountain Clock Letter Silence Rain Lion Wolf Harbor Door Mirror Ghost Rose
Salt Ocean Valley Tower Bridge Wind Echo Harvest Lantern Key Map Journey Secret City Bell Orchard Kingdom Tide""".split()


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
