"""Exact amounts of money.

Binary fractions cannot hold most amounts (``0.1 + 0.2`` is not ``0.3``), so a
:class:`Money` counts whole cents and never rounds in sums.
"""

import functools
import re

_AMOUNT = re.compile(r"([+-]?)(\d+)(?:\.(\d\d))?")


@functools.total_ordering
class Money:
    """An amount in whole cents. Treat it as immutable."""

    __slots__ = ("cents",)

    def __init__(self, cents):
        self.cents = cents

    @classmethod
    def parse(cls, text):
        """Read an amount such as ``12``, ``12.50`` or ``-0.05``.

        Raise ValueError for anything else, including a single decimal.
        """
        match = _AMOUNT.fullmatch(text.strip())
        if match is None:
            raise ValueError(f"not an amount: {text!r}")
        sign, whole, cents = match.groups()
        value = int(whole) * 100 + int(cents or 0)
        return cls(-value if sign == "-" else value)

    def allocate(self, weights):
        """Share the amount out in proportion to ``weights``, to the cent.

        Each part is rounded to the nearest cent. Cents that are still missing then
        are added to the first parts, one each:

        >>> [str(part) for part in Money.parse("10.00").allocate([1, 1, 1])]
        ['3.34', '3.33', '3.33']
        """
        weights = list(weights)
        total = sum(weights)
        if total <= 0 or min(weights) < 0:
            raise ValueError("weights must not be negative, nor all zero")
        shares = []
        for weight in weights:
            shares.append(round(self.cents * weight / total))
        missing = self.cents - sum(shares)
        for index in range(missing):
            shares[index] += 1
        return [Money(cents) for cents in shares]

    def is_negative(self):
        """Tell whether the amount is below zero."""
        return self.cents < 0

    def __add__(self, other):
        return Money(self.cents + other.cents)

    def __sub__(self, other):
        return Money(self.cents - other.cents)

    def __neg__(self):
        return Money(-self.cents)

    def __bool__(self):
        return self.cents != 0

    def __eq__(self, other):
        if not isinstance(other, Money):
            return NotImplemented
        return self.cents == other.cents

    def __lt__(self, other):
        if not isinstance(other, Money):
            return NotImplemented
        return self.cents < other.cents

    def __hash__(self):
        return hash(self.cents)

    def __str__(self):
        sign = "-" if self.cents < 0 else ""
        whole, cents = divmod(abs(self.cents), 100)
        return f"{sign}{whole}.{cents:02d}"

    def __repr__(self):
        return f"Money.parse('{self}')"


ZERO = Money(0)
