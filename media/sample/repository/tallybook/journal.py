"""The text format: one expense on a line.

The fields of a line are separated by ``|``::

    date | payer | amount | description | shares

Shares are names separated by commas. ``Anna*2`` gives Anna two shares. Empty lines and
lines that begin with ``#`` are skipped.
"""

import datetime

from .errors import JournalError
from .expense import Expense
from .ledger import Ledger
from .money import Money

FIELDS = ("date", "payer", "amount", "description", "shares")


def read_journal(text):
    """Read a whole journal and return its Ledger.

    Raise JournalError, with the number of the line, at the first line that makes no
    sense.
    """
    ledger = Ledger()
    for number, line in enumerate(text.splitlines(), start=1):
        line = line.strip()
        if line and not line.startswith("#"):
            ledger.record(_read_line(number, line))
    return ledger


def _read_line(number, line):
    values = [value.strip() for value in line.split("|")]
    if len(values) != len(FIELDS):
        wanted = " | ".join(FIELDS)
        raise JournalError(number, f"expected {wanted}, found {len(values)} fields")
    date, payer, amount, description, shares = values
    try:
        return Expense(
            datetime.datetime.strptime(date, "%Y-%m-%d").date(),
            payer,
            Money.parse(amount),
            description,
            read_shares(shares),
        )
    except ValueError as error:
        raise JournalError(number, str(error)) from error


def read_shares(text):
    """Read ``Anna*2, Ben`` into ``{"Anna": 2, "Ben": 1}``.

    Raise ValueError for a share that is not a whole number, and for a name that is
    missing or occurs twice.
    """
    shares = {}
    for item in text.split(","):
        name, star, count = item.partition("*")
        name = name.strip()
        if not name:
            raise ValueError("a name is missing among the shares")
        if name in shares:
            raise ValueError(f"{name} occurs twice among the shares")
        shares[name] = int(count) if star else 1
    return shares
