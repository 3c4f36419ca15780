"""Words of our own that typed questions have around the original question."""

from __future__ import annotations

GREETINGS = (
    "Hi,", "Hello,", "Hi!", "Hello!", "Good morning,", "Hey,", "Good afternoon.", "Dear team,",
    "Hi there,", "Excuse me,", "Sorry to bother you,", "Hi there!",
)  # fmt: skip
AROUND_EMBEDDED = (
    "Could you tell me {}?", "Can you tell me {}?", "Do you know {}?", "I was wondering {}.",
    "Please can you find out {}?", "I'd like to know {}.", "Please tell me {}.",
    "Could you please find out {}?", "I would like to know {}.", "Any idea {}?",
    "Do you happen to know {}?", "Would you be able to tell me {}?", "I need to know {}.",
    "Can you please check {}?", "I'm trying to find out {}.", "Would you mind telling me {}?",
    "Does the text say {}?", "Could you look up {}?", "I wonder {}.", "Can anyone tell me {}?",
)  # fmt: skip
BEFORE_DIRECT = (
    "Could you tell me: ", "Quick question: ", "I have a question: ", "I was wondering - ",
    "Please tell me: ", "A question about this text: ", "One more question: ",
    "Can you help me with this? ", "I need some help. ", "Can you please find out: ",
    "Just wondering - ", "Maybe you know: ", "I'd like to know: ", "Could you check this for me: ",
    "Please answer this: ", "I'm curious: ", "Something I could not find - ",
    "I hope you can help. ", "Do you know this? ",
)  # fmt: skip
THANKS = (
    "Thanks in advance", "Thanks in advance!", "Thanks!", "Thank you!", "Many thanks.",
    "Thanks a lot.", "Thank you in advance.", "Cheers!", "Thanks", "Thank you very much.",
)  # fmt: skip
GIVE = (
    "Tell me {}", "Give {}", "Give me {}", "Find {}", "State {}", "Please give {}",
    "Look up {}", "Find out {}", "Show me {}", "Please find {}", "I need {}",
)  # fmt: skip
GIVE_NAME = (
    "Give {}", "Tell me {}", "Find {}", "State {}", "Give me {}", "Write down {}",
    "Please give {}", "Look up {}", "Find out {}",
)  # fmt: skip
NAME_PERSON = (
    "Name {}", "Give the name of {}", "Tell me the name of {}", "Identify {}",
    "Find the name of {}", "Find out the name of {}", "Please name {}", "Look up {}",
)  # fmt: skip
NAME_NOUN = (
    "Name the {noun} {rest}", "Tell me the {noun} {rest}", "Find the {noun} {rest}",
    "Identify the {noun} {rest}", "Give the {noun} {rest}",
    "Please name the {noun} {rest}", "Give me the {noun} {rest}",
    "Look up the {noun} {rest}", "State the {noun} {rest}",
)  # fmt: skip
# They are followed by *who* instead of *that*.
PEOPLE = frozenset(
    "actor actress architect artist author bishop composer coach director emperor engineer "
    "explorer figure founder general governor inventor journalist judge king leader man "
    "mathematician mayor minister monk musician official painter people person philosopher "
    "physicist player poet politician pope president prince princess producer professor queen "
    "ruler scholar scientist singer sociologist woman writer".split()
)
TELL = (
    "Tell me {whole}", "Find out {whole}", "Please tell me {whole}", "Say {whole}",
    "Look up {whole}", "State {whole}", "Please find out {whole}", "Please say {whole}",
    "Let me know {whole}", "I want to know {whole}",
)  # fmt: skip
YEAR = (
    "Find the year when {rest}", "Give the year in which {rest}", "State the year when {rest}",
    "Tell me the year in which {rest}", "Give me the year when {rest}",
    "Name the year in which {rest}", "Look up the year in which {rest}",
    "Find out in what year {rest}",
)  # fmt: skip
REQUESTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"in (?:what|which) year ", YEAR),
    (r"(?:what|which) year ", YEAR),
    (
        r"when ",
        (
            "Find out when {rest}", "Tell me when {rest}", "Give the date when {rest}",
            "State when {rest}", "Find the date when {rest}", "Say when {rest}",
            "Look up when {rest}", "Give the time when {rest}", "Please tell me when {rest}",
        ),
    ),
    (
        r"where ",
        (
            "Name the place where {rest}", "Find out where {rest}", "Tell me where {rest}",
            "Give the place where {rest}", "State where {rest}", "Find the place where {rest}",
            "Say where {rest}", "Look up where {rest}", "Give the location where {rest}",
        ),
    ),
    (
        r"how many ",
        (
            "I want to know how many {rest}", "Tell me how many {rest}", "State how many {rest}",
            "Find out how many {rest}", "Say how many {rest}", "Look up how many {rest}",
            "Please tell me how many {rest}", "Let me know how many {rest}",
        ),
    ),
    (
        r"who ",
        (
            "Tell me who {rest}", "Name the person who {rest}", "Find out who {rest}",
            "Say who {rest}", "Give the name of the person who {rest}", "State who {rest}",
            "Look up who {rest}", "Please tell me who {rest}", "Name the people who {rest}",
        ),
    ),
    (
        r"why ",
        (
            "Explain why {rest}", "Give the reason why {rest}", "Tell me why {rest}",
            "State why {rest}", "Find out why {rest}", "Say why {rest}",
            "Name the reason why {rest}", "State the reason why {rest}",
        ),
    ),
    (
        r"how (?!long|much|often|far|old|large|big|high|tall|fast|deep|wide|close|well|likely)",
        (
            "Explain how {rest}", "Describe how {rest}", "Tell me how {rest}",
            "Find out how {rest}", "Say how {rest}", "State how {rest}",
            "Describe the way in which {rest}", "Please explain how {rest}",
        ),
    ),
)  # fmt: skip
"""What an embedded question starts with, and requests for what follows (``rest``)."""
WANTED: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"\b(what|which) year\b", ("year", "date")),
    (r"^when\b", ("date", "year", "time")),
    (r"^where\b", ("location", "place")),
    (r"\bhow many\b", ("number", "total", "count")),
    (r"\bhow long\b", ("duration", "length")),
    (r"\bhow much\b", ("amount", "quantity")),
    (r"\bhow often\b", ("frequency",)),
    (r"\bhow far\b", ("distance",)),
    (r"\bhow old\b", ("age",)),
    (r"^who\b", ("name", "person")),
    (r"^why\b", ("reason", "cause")),
)
"""Keywords that stand for a question word."""
NOT_KEYWORDS = frozenset(
    "according besides except many much long often far type types kind kinds name names called "
    "known too very".split()
)  # fmt: skip
