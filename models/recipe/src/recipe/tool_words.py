"""The words of invented functions: what they are about, what they take, how people ask for them, what they return.

The last two nouns of every family and the wordings named *held* are used in evaluation only.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class ParameterWords:
    names: list[str]
    phrases: list[str]  # how a request says the value {V}
    of: list[str]  # "in a town": how a description says what the function needs
    values: list[str] = field(default_factory=list)  # kinds of `Vocabulary.value`
    descriptions: list[str] = field(default_factory=list)
    order: int = 2  # place within a sentence
    choices: dict[str, list[str]] = field(default_factory=dict)
    choice_phrases: dict[str, list[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Family:
    """Functions that do the same to different things."""

    acts: str
    nouns: list[str]
    verbs: list[str]
    descriptions: list[str]
    requests: list[str]
    held: list[str]
    required: list[list[str]]
    optional: list[str] = field(default_factory=list)
    generic: bool = False


def listed(text: str) -> list[str]:
    return [" ".join(part.split()) for part in text.split("|")]


PARAMETERS = {
    "place": ParameterWords(
        ["city", "town", "place", "location", "destination", "area"], ["in {V}", "in {V}", "for {V}", "at {V}"],
        ["in a town", "in a city", "for a place", "of a place"], ["place"],
        ["Name of the town", "The city", "Where", "Place to look at", "Town or city", "City name, e.g. Paris"], 1,
    ),
    "person": ParameterWords(
        ["person", "name", "customer", "user", "guest", "employee", "full_name", "member"],
        ["for {V}", "of {V}", "of {V}"], ["of a person", "for a customer", "of a member", "for somebody"],
        ["person"], ["Full name", "Name of the person", "Who", "The person's name"], 0,
    ),
    "recipient": ParameterWords(
        ["recipient", "to", "receiver", "addressee", "contact"], ["to {V}"], ["to a person", "to somebody", "to a contact"],
        ["person"], ["Who receives it", "Name of the receiver", "The person to write to"], 0,
    ),
    "code": ParameterWords(
        ["id", "code", "reference", "number", "order_id", "key", "ticket_id", "serial_number"],
        ["{V}", "{V}", "with the number {V}", "with the code {V}", "number {V}", "for {V}", "of {V}", "with reference {V}"],
        ["by its code", "with this number", "for a reference", "by id"], ["code"],
        ["The code", "Identifier", "Reference number", "Its number, such as AB-123"], 0,
    ),
    "thing": ParameterWords(
        ["item", "product", "article", "object", "device", "machine"], ["of the {V}", "for the {V}", "of the {V}"],
        ["of a device", "for a product", "of an item", "of a thing"], ["coloured_thing", "thing", "thing"],
        ["Which thing", "Name of the product", "The item", "What it is about"], 0,
    ),
    "company": ParameterWords(
        ["company", "organisation", "firm", "supplier", "brand"], ["of {V}", "for {V}", "at {V}"],
        ["of a company", "for a firm", "of a supplier"], ["organisation"], ["Name of the company", "The firm", "Which company"], 0,
    ),
    "title": ParameterWords(
        ["title", "book", "film", "song", "work"], ['of "{V}"', "of {V}", "for {V}"], ["of a book", "of a film", "by title"],
        ["title"], ["The title", "Full title", "Which title"], 0,
    ),
    "date": ParameterWords(
        ["date", "day", "on", "start_date", "when"], ["on {V}", "on {V}", "for {V}"], ["for a date", "on a day"],
        ["date", "day"], ["The date", "Day", "Which day", "When it takes place"], 4,
    ),
    "time": ParameterWords(
        ["time", "at", "hour", "start_time"], ["at {V}", "at {V}", "for {V}"], ["at a time", "for a time"], ["time"],
        ["The time", "Time of day", "When"], 5,
    ),
    "count": ParameterWords(
        ["count", "people", "quantity", "guests", "days", "seats", "copies", "nights", "limit"],
        ["for {V} {name}", "with {V} {name}", "({name}: {V})", "and {V} {name}"], ["for a number"], [],
        ["How many", "Number of them", "A whole number"], 3,
    ),
    "amount": ParameterWords(
        ["amount", "value", "level", "target", "new_value", "number"], ["to {V}"], ["to a value", "by an amount"], [],
        ["The amount", "New value", "A number"], 3,
    ),
    "sum": ParameterWords(
        ["amount", "sum", "value", "euros", "total"], ["of {V}", "of {V} euros", "({V} euros)"], ["of an amount"], [],
        ["The amount", "How much", "Euros to pay"], 3,
    ),
    "text": ParameterWords(
        ["text", "message", "content", "note", "body"], ['"{V}"', 'saying "{V}"', 'with the text "{V}"', 'that says "{V}"', ": {V}"],
        ["with a text"], [], ["What to say", "The text", "Content of the message"], 9,
    ),
    "topic": ParameterWords(
        ["query", "topic", "keyword", "subject", "search_term"], ["about {V}", "about {V}", "on {V}", "with {V}"],
        ["about a topic", "by keyword", "for a query"], ["topic", "subject", "food", "animal", "nonce"],
        ["What to look for", "Search words", "Topic of interest"], 0,
    ),
    "room": ParameterWords(
        ["room", "zone", "room_name", "floor"], ["in the {V}", "of the {V}", "for the {V}"], ["in a room", "of a room"],
        ["room"], ["Which room", "Name of the room", "Where in the house"], 1,
    ),
    "flag": ParameterWords([], [], [""], [], ["Whether it is wanted", "True or false", "Yes or no"], 8),
    "choice": ParameterWords(
        [], [], [""], [], ["One of the listed values", "Which kind"], 6,
        {
            "priority": ["low", "normal", "high"], "unit": ["celsius", "fahrenheit"], "size": ["small", "medium", "large"],
            "format": ["pdf", "csv", "text"], "language": ["English", "French", "German", "Spanish"],
            "class": ["first", "second"], "mode": ["fast", "safe", "quiet"], "sort": ["price", "date", "name"],
            "channel": ["email", "phone", "post"], "colour": ["red", "blue", "green", "white"],
        },
        {
            "priority": ["with {V} priority"], "unit": ["in {V}", "in degrees {V}"], "size": ["in size {V}", "({V} size)"],
            "format": ["as {V}", "in {V} format"], "language": ["in {V}"], "class": ["in {V} class", "{V} class"],
            "mode": ["in {V} mode"], "sort": ["sorted by {V}"], "channel": ["by {V}"], "colour": ["in {V}", "in the colour {V}"],
        },
    ),
}  # fmt: skip

#: Names of switches: the sentence that sets it, the sentence that clears it.
FLAGS = {
    "urgent": ("It is urgent.", "It is not urgent."), "breakfast": ("With breakfast.", "Without breakfast."),
    "express": ("Send it by express.", "No express."), "insured": ("Insure it.", "No insurance."),
    "notify": ("Notify everyone.", "Do not notify anyone."), "window": ("At the window.", "Not at the window."),
    "gift_wrap": ("Wrap it as a gift.", "No gift wrap."), "private": ("Make it private.", "It is not private."),
    "detailed": ("With all details.", "Without details."), "repeat": ("Repeat it.", "Do not repeat it."),
}  # fmt: skip

LOOKUP_VERBS = listed("get|get|fetch|find|look up|show|check|read|retrieve|lookup|query")
LOOKUP_DESCRIPTIONS = listed(
    "Get the {N} {of}.|Look up the {N} {of}.|Returns the {N} {of}.|Find out the {N} {of}.|Tells the {N} {of}.|Shows the {N} {of}"
    "|Gives the current {N} {of}.|Reads the {N} {of} from the records.|Use this to find the {N} {of}."
)
LOOKUP_REQUESTS = listed(
    "What is the {N} {args}?|What is the {N} {args}?|Tell me the {N} {args}.|Show me the {N} {args}, please.|Can you check the {N} {args}?"
    "|I need the {N} {args}.|Please look up the {N} {args}.|{N} {args}?|Do you know the {N} {args}?|Give me the {N} {args}."
    "|What's the {N} {args}?|Find the {N} {args}.|Please get me the {N} {args}."
)
LOOKUP_HELD = listed("Could you find out the {N} {args}?|I would like to know the {N} {args}.|Let me have the {N} {args}.")


def lookup(nouns: str, required: list[list[str]], optional: str = "", generic: bool = True) -> Family:
    return Family(
        "get", listed(nouns), LOOKUP_VERBS, LOOKUP_DESCRIPTIONS, LOOKUP_REQUESTS, LOOKUP_HELD, required,
        optional.split(), generic,
    )  # fmt: skip


FAMILIES = [
    lookup("weather|weather forecast|temperature|air quality|population|traffic report|local time|postcode|wind speed|tide table"
           "|water level|snow depth|rainfall|sunrise|humidity|area code|mayor|pollen count", [["place"]], "date choice"),
    lookup("phone number|address|email address|birthday|job|salary|room number|manager|home town|office|team|age|start date"
           "|department|favourite food|blood type|shift|nickname", [["person"]], ""),
    lookup("status|delivery date|total price|location|owner|balance|departure time|platform|gate|invoice total|arrival time|weight"
           "|order status|contents|sender|due date|seat|price", [["code"]], "choice"),
    lookup("price|stock level|battery level|weight|warranty|colour|speed|fuel level|size|discount|rating|pressure|supplier|serial number"
           "|delivery time|tax rate", [["thing"]], "choice"),
    lookup("share price|director|opening hours|head office|revenue|phone number|founder|vat number|number of employees|website",
           [["company"]], "date"),
    lookup("author|publisher|length|release date|director|genre|year|price|rating|number of pages", [["title"]], ""),
    lookup("light level|temperature|noise level|humidity|number of people|door state|window state|heating state", [["room"]], "choice"),
    lookup("today's menu|server status|current user|queue length|system time|news of the day|exchange rate|software version"
           "|word of the day|password policy|disk space|public holidays", [[]], "", False),
    Family("create", listed(
        "appointment|meeting|reminder|event|task|support ticket|invoice|account|order|calendar entry|contact|job|project|course"
        "|delivery|repair|lesson|interview|visit|inspection|payment plan|membership"),
        listed("create|add|make|schedule|register|new|plan|set up|open"),
        listed("Create a new {N} {of}.|Adds a {N} {of}.|Schedule a {N} {of}.|Registers a {N} {of}.|Make a {N} {of}.|Set up a new {N}."),
        listed("Please create a {N} {args}.|Add a {N} {args}.|I want a new {N} {args}.|Make a {N} {args}, please.|Create a {N} {args}."
               "|Can you add a {N} {args}?|Set up a {N} {args}.|Schedule a {N} {args}.|We need a {N} {args}."),
        listed("I would like a {N} {args}.|Could you arrange a {N} {args}?|Register a {N} {args}."),
        [["person", "date"], ["person"], ["date", "time"], ["person", "date", "time"], ["place", "date"]], ["choice", "flag", "time"]),
    Family("book", listed(
        "table|room|flight|taxi|hotel|car|seat|boat|bus|guide|tennis court|cabin|van|tent|parking space|bicycle"),
        listed("book|reserve|order|rent|hire"),
        listed("Book a {N} {of}.|Reserve a {N} {of}.|Reserves a {N}.|Makes a booking of a {N} {of}.|Rent a {N} {of}."),
        listed("Book a {N} {args}.|Please reserve a {N} {args}.|I need a {N} {args}.|Can you book a {N} {args}?|Reserve a {N} {args}, please."
               "|I want to book a {N} {args}.|Get me a {N} {args}.|Find me a {N} {args}."),
        listed("Could you reserve a {N} {args}?|We would like a {N} {args}.|Arrange a {N} {args}."),
        [["place", "date"], ["place", "count"], ["place", "date", "count"], ["place"]], ["flag", "choice", "time"]),
    Family("cancel", listed(
        "appointment|order|booking|ticket|flight|subscription|meeting|payment|reservation|contract|shipment|request|account|file"
        "|message|invoice|user|backup|alarm|record"),
        listed("cancel|delete|remove|close|stop|drop|archive"),
        listed("Cancel a {N} {of}.|Deletes a {N} {of}.|Remove a {N} {of}.|Closes the {N} {of}.|Stop a {N} {of}."),
        listed("Cancel the {N} {args}.|Please delete the {N} {args}.|Remove the {N} {args}.|Can you cancel the {N} {args}?"
               "|I want to cancel the {N} {args}.|Close the {N} {args}, please.|Stop the {N} {args}.|Get rid of the {N} {args}."),
        listed("I no longer need the {N} {args}.|Could you drop the {N} {args}?|Take back the {N} {args}."),
        [["code"]], ["flag"], True),
    Family("set", listed(
        "volume|brightness|temperature|speed|thermostat|timer|heating|fan speed|budget|price limit|discount|water flow|voltage|zoom"
        "|humidity|target weight"),
        listed("set|change|adjust|update|put|modify"),
        listed("Set the {N} {of}.|Change the {N} {of}.|Adjusts the {N} {of}.|Updates the {N} {of}.|Give the {N} a new value."),
        listed("Set the {N} {args}.|Please change the {N} {args}.|Can you set the {N} {args}?|Adjust the {N} {args}.|Put the {N} {args}."
               "|Change the {N} {args}, please.|Update the {N} {args}."),
        listed("I want the {N} set {args}.|Could you adjust the {N} {args}?|Bring the {N} {args}."),
        [["room", "amount"], ["thing", "amount"], ["amount"]], ["choice"], True),
    Family("switch", listed(
        "light|alarm|fan|heating|pump|camera|radio|door lock|sprinkler|printer|coffee machine|oven|garage door|projector|siren"),
        listed("turn on|switch on|start|activate|enable"),
        listed("Turn on the {N} {of}.|Switch on the {N} {of}.|Starts the {N} {of}.|Activates the {N} {of}."),
        listed("Turn on the {N} {args}.|Switch on the {N} {args}, please.|Start the {N} {args}.|Can you turn on the {N} {args}?"
               "|Please activate the {N} {args}.|I want the {N} {args} on."),
        listed("Could you start up the {N} {args}?|Power up the {N} {args}.|Get the {N} {args} going."),
        [["room"], ["room", "time"], ["place"]], ["choice"]),
    Family("send", listed(
        "message|email|letter|text message|invitation|note|warning|greeting|fax|postcard|reply|notification"),
        listed("send|write|post|deliver|forward"),
        listed("Send a {N} {of}.|Sends a {N} {of}.|Write a {N} {of}.|Delivers a {N} {of}.|Use it to send a {N}."),
        listed("Send a {N} {args}.|Please write a {N} {args}.|Can you send a {N} {args}?|Send a {N} {args}, please.|Write a {N} {args}."
               "|I want to send a {N} {args}."),
        listed("Could you get a {N} {args}?|Drop a {N} {args}.|Let a {N} go {args}."),
        [["recipient", "text"], ["recipient", "text"]], ["choice", "flag"]),
    Family("search", listed(
        "books|flights|recipes|songs|articles|hotels|documents|jobs|films|courses|restaurants|photos|museums|news|products|trails"
        "|podcasts|concerts"),
        listed("search|find|list|look for|search for|browse"),
        listed("Search for {N} {of}.|Find {N} {of}.|Lists {N} {of}.|Searches the catalogue of {N}.|Look for {N} {of}."),
        listed("Find {N} {args}.|Search for {N} {args}.|Are there any {N} {args}?|Show me {N} {args}.|Look for {N} {args}, please."
               "|I am looking for {N} {args}.|Which {N} are there {args}?|List {N} {args}."),
        listed("Could you dig up {N} {args}?|What {N} do you have {args}?|I would like to see {N} {args}."),
        [["topic"], ["place"], ["topic", "place"]], ["choice"]),
    Family("count", listed(
        "visitors|orders|sales|members|complaints|votes|errors|downloads|bookings|cars|patients|students|births|calls|returns|accidents"),
        listed("count|number of|total|sum up"),
        listed("Count the {N} {of}.|Counts all {N} {of}.|Returns how many {N} there were {of}.|Total number of {N} {of}."),
        listed("How many {N} were there {args}?|Count the {N} {args}.|How many {N} did we have {args}?|Tell me the number of {N} {args}."
               "|What was the number of {N} {args}?"),
        listed("Could you count the {N} {args}?|I need to know how many {N} we had {args}."),
        [["place"], ["date"], ["place", "date"]], []),
    Family("pay", listed("money|a bonus|a deposit|a refund|rent|a fee|a tip|a prize|wages|a donation"),
        listed("send|pay|transfer|wire"),
        listed("Pay {N} {of}.|Transfer {N} {of}.|Sends {N} {of}.|Wires {N} {of}."),
        listed("Pay {N} {args}.|Please transfer {N} {args}.|Send {N} {args}.|Can you pay {N} {args}?|I want to pay {N} {args}."),
        listed("Could you wire {N} {args}?|Let us pay {N} {args}."),
        [["recipient", "sum"]], ["flag", "date"]),
]  # fmt: skip

#: Nouns that no function of the training is about: the last two of every family.
HELD_NOUNS = {noun for family in FAMILIES for noun in family.nouns[-2:]}

PREFACES = listed("Hello!|Please help me.|One thing:|Quick question:|I have a request.|Hi, one question:|Good morning.|Next:")
HELD_PREFACES = listed("I hope you can help.|Here is what I need:")
ROOMS = listed("kitchen|bedroom|office|garage|cellar|hall|library|garden|bathroom|attic|workshop|studio|nursery|store room|lobby")
NO_FUNCTION = "I have no function for that."

RESULTS: dict = {
    "errors": listed(
        "not found|no connection|access denied|unknown name|try again later|the service is closed|invalid value|time is over"
        "|nothing free|the record is locked"),
    "fields": {
        "status": "status", "id": "code", "reference": "code", "number": "integer", "price": "money", "code": "code",
        "time": "time", "date": "date", "total": "integer", "seat": "code", "room": "code", "agent": "person", "deadline": "date",
    },
    "status": listed("confirmed|accepted|open|waiting|planned|paid|ready|active|in progress|booked"),
    "weather": listed("sunny|cloudy|rainy|windy|foggy|snowy|stormy|clear|hot and dry|cold and wet|light rain|heavy snow"),
    "state": listed("open|closed|on|off|locked|half open"),
    "kinds": {
        "weather": ["weather"], "forecast": ["weather"], "temperature": ["#degrees", "#degrees Celsius", "integer"],
        "population": ["number"], "time": ["time"], "hours": ["time"], "mayor": ["person"], "manager": ["person"],
        "director": ["person"], "owner": ["person"], "sender": ["person"], "author": ["person"], "founder": ["person"],
        "birthday": ["date"], "date": ["date"], "price": ["money", "integer"], "total": ["money"], "salary": ["money"],
        "balance": ["money"], "revenue": ["money"], "speed": ["#km/h,knots", "integer"], "weight": ["#kg,grams,tons"],
        "level": ["integer", "percent"], "quality": ["weather", "integer"], "status": ["status"], "state": ["state"],
        "job": ["job"], "colour": ["colour"], "food": ["food"], "town": ["place"], "address": ["place"], "office": ["place", "code"],
        "location": ["place"], "platform": ["integer", "code"], "gate": ["code"], "seat": ["code"], "sunrise": ["time"],
        "department": ["subject"], "supplier": ["organisation"], "publisher": ["organisation"], "year": ["year"],
        "people": ["integer"], "employees": ["number"], "pages": ["integer"], "visitors": ["integer"], "discount": ["percent"],
        "rate": ["percent", "integer"], "humidity": ["percent"], "depth": ["#cm"], "rainfall": ["#mm"], "length": ["#minutes,pages"],
        "age": ["integer"], "postcode": ["code"], "number": ["code", "integer"],
    },
}  # fmt: skip
