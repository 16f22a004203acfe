"""Entries of the book, in double-entry style.

An entry is a list of postings, one for each person whose balance it changes. What some
are credited the others are charged, so that its postings always add up to zero.
"""

from .errors import UnbalancedEntryError
from .money import ZERO


class Posting:
    """A change to one person's balance: above zero credits, below zero charges."""

    __slots__ = ("name", "amount")

    def __init__(self, name, amount):
        self.name = name
        self.amount = amount

    def __eq__(self, other):
        if not isinstance(other, Posting):
            return NotImplemented
        return (self.name, self.amount) == (other.name, other.amount)

    def __hash__(self):
        return hash((self.name, self.amount))

    def __repr__(self):
        return f"Posting({self.name!r}, {self.amount})"


class Entry:
    """Postings that belong together and add up to zero.

    Raise UnbalancedEntryError when they do not: a book with one such entry in it can
    never be settled, so it is refused at the door.
    """

    def __init__(self, date, description, postings):
        self.date = date
        self.description = description
        self.postings = tuple(postings)
        difference = sum((posting.amount for posting in self.postings), ZERO)
        if difference:
            raise UnbalancedEntryError(description, difference)

    def amount_for(self, name):
        """Return what the entry changes in one person's balance, all postings taken."""
        amounts = (posting.amount for posting in self.postings if posting.name == name)
        return sum(amounts, ZERO)

    def __repr__(self):
        return f"<Entry {self.date} {self.description!r}>"
