"""Shared expenses for small groups: who paid, who owes, who pays whom back."""

from .entry import Entry, Posting
from .errors import JournalError, TallybookError, UnbalancedEntryError
from .expense import Expense
from .journal import read_journal
from .ledger import Ledger, Payment
from .money import Money

__version__ = "0.7.1"

__all__ = [
    "Entry",
    "Expense",
    "JournalError",
    "Ledger",
    "Money",
    "Payment",
    "Posting",
    "TallybookError",
    "UnbalancedEntryError",
    "read_journal",
]
