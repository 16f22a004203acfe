"""The book itself: everybody's balance, and how to get back to zero."""

from .money import ZERO


class Payment:
    """A payment from one person to another."""

    __slots__ = ("payer", "receiver", "amount")

    def __init__(self, payer, receiver, amount):
        self.payer = payer
        self.receiver = receiver
        self.amount = amount

    def __eq__(self, other):
        if not isinstance(other, Payment):
            return NotImplemented
        return str(self) == str(other)

    def __hash__(self):
        return hash(str(self))

    def __str__(self):
        return f"{self.payer} pays {self.receiver} {self.amount}"

    def __repr__(self):
        return f"<Payment {self}>"


class Ledger:
    """Entries in the order in which they were recorded."""

    def __init__(self):
        self.entries = []
        self._balances = {}

    def record(self, item):
        """Add an Entry, or anything with a ``to_entry`` method such as an Expense."""
        entry = item.to_entry() if hasattr(item, "to_entry") else item
        for posting in entry.postings:
            balance = self._balances.get(posting.name, ZERO)
            self._balances[posting.name] = balance + posting.amount
        self.entries.append(entry)
        return entry

    def balance(self, name):
        """Return what ``name`` gets back (above zero) or owes (below zero)."""
        return self._balances.get(name, ZERO)

    def balances(self):
        """Return a dict of everybody's balance, sorted by name."""
        return dict(sorted(self._balances.items()))

    def is_settled(self):
        """Tell whether nobody owes anything."""
        return not any(self._balances.values())

    def settle(self):
        """Return payments that would bring every balance to zero.

        Whoever owes most pays whoever gets most, until nothing is left. That takes at
        most one payment fewer than there are people. The ledger is not changed.
        """
        open_balances = {
            name: amount for name, amount in self.balances().items() if amount
        }
        payments = []
        while open_balances:
            payer = min(open_balances, key=lambda name: (open_balances[name], name))
            receiver = max(open_balances, key=lambda name: (open_balances[name], name))
            amount = min(-open_balances[payer], open_balances[receiver])
            payments.append(Payment(payer, receiver, amount))
            open_balances[payer] += amount
            open_balances[receiver] -= amount
            for name in (payer, receiver):
                if not open_balances[name]:
                    del open_balances[name]
        return payments
