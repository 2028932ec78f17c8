"""The words that nopal no longer uses for its own things, and what the field says instead. One line for each; add here."""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Retired:
    pattern: str  # a space stands for any white space, the end of a line too
    instead: str
    only_code: bool = False  # in prose the word is an ordinary one

    @property
    def regex(self) -> re.Pattern[str]:
        return re.compile(self.pattern.replace(" ", r"\s+"), re.IGNORECASE)


RETIRED = [
    Retired(r"go_on_with|gone on with|goes on with|go on with", "resume"),
    Retired(r"\bput(s|ting)? aside\b", "save"),
    Retired(r"\bcold[_ ](end|path)s?\b", "slow path"),
    Retired(r"\basker\b", "the identity of the current worker or thread"),
    Retired(r"\bguest(s|_\w*)?\b", "external caller"),
    Retired(r"\bthunks?\b", "deferred start"),
    Retired(r"\b\w*depots?_?\b", "central free list"),
    Retired(r"\bloose[_ ]continuations?_?\b", "orphaned continuation"),
    Retired(r"\bmust_look\b", "must_poll"),
    Retired(r"\bturns_?\b", "controlled schedule", only_code=True),
    Retired(r"\bdeparture\b", "suspension"),
    Retired(r"\barrival\b", "after_switch", only_code=True),  # in prose also what a join counts
    Retired(r"\bwords_of\b", "message_of"),
    Retired(r"\bwhere_handled\b", "a name that says what it holds"),
    Retired(r"\blast_words\b", "a name that says what it holds"),
    Retired(r"\bchair\b", "the state of one worker's sleep"),
    Retired(r"\bseats?_?\b", "occupied, for a worker in whose place an external caller works"),
    Retired(r"\blent\b", "occupied"),
    Retired(r"\bborrow(?!ed_(range|iterator_t|subrange_t)\b)\w*\b", "occupy, by an external caller"),
]
