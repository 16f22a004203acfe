"""Expenses: what one person paid for several."""

from .entry import Entry, Posting


class Expense:
    """An amount that one person paid and several people share.

    ``shares`` maps each participant to the number of shares they take. The payer need
    not be one of them, and somebody listed with 0 shares pays nothing. A negative
    amount is a refund.
    """

    def __init__(self, date, payer, amount, description, shares):
        if not shares:
            raise ValueError("an expense needs at least one participant")
        self.date = date
        self.payer = payer
        self.amount = amount
        self.description = description
        self.shares = dict(shares)

    @classmethod
    def evenly(cls, date, payer, amount, description, names):
        """Make an expense of which everybody in ``names`` takes one share."""
        return cls(date, payer, amount, description, {name: 1 for name in names})

    def refund(self, date):
        """Return the expense that gives this one back in full."""
        description = f"Refund: {self.description}"
        return Expense(date, self.payer, -self.amount, description, self.shares)

    def to_entry(self):
        """Return the balanced entry to put into the book.

        The payer is credited with the amount, and every participant is charged with
        their part of it.
        """
        weights = list(self.shares.values())
        if self.amount.is_negative():
            # A refund: share out what comes back, then turn every part round.
            parts = [-part for part in (-self.amount).allocate(weights)]
        else:
            parts = self.amount.allocate(weights)
        postings = [Posting(self.payer, self.amount)]
        for name, part in zip(self.shares, parts):
            postings.append(Posting(name, -part))
        return Entry(self.date, self.description, postings)
