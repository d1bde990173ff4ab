"""The parts that names are made of, and short lists of everyday words."""

from .vocabulary_more import CLOSED_LISTS

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
