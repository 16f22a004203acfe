"""The exceptions of Tallybook."""


class TallybookError(Exception):
    """The base of everything that Tallybook raises on purpose."""


class UnbalancedEntryError(TallybookError):
    """The postings of an entry do not add up to zero."""

    def __init__(self, description, difference):
        super().__init__(f"entry {description!r} is out of balance by {difference}")
        self.description = description
        self.difference = difference


class JournalError(TallybookError):
    """A line of a journal cannot be read."""

    def __init__(self, number, reason):
        super().__init__(f"line {number}: {reason}")
        self.number = number
        self.reason = reason
