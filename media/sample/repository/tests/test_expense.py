import datetime
import unittest

from tallybook.entry import Entry, Posting
from tallybook.errors import UnbalancedEntryError
from tallybook.expense import Expense
from tallybook.money import Money

DAY = datetime.date(2024, 3, 2)


def pairs(entry):
    """Every posting of the entry as a pair of texts."""
    return [(posting.name, str(posting.amount)) for posting in entry.postings]


class EntryTest(unittest.TestCase):
    def test_unbalanced_entry_is_refused(self):
        with self.assertRaises(UnbalancedEntryError) as caught:
            Entry(
                DAY, "Typo", [Posting("Anna", Money(500)), Posting("Ben", Money(-50))]
            )
        self.assertEqual(caught.exception.difference, Money(450))

    def test_amount_for_adds_up_the_postings(self):
        expense = Expense.evenly(DAY, "Anna", Money(3000), "Dinner", ["Anna", "Ben"])
        entry = expense.to_entry()
        self.assertEqual(entry.amount_for("Anna"), Money(1500))
        self.assertEqual(entry.amount_for("Cleo"), Money(0))


class ExpenseTest(unittest.TestCase):
    def test_shared_evenly(self):
        names = ["Anna", "Ben", "Cleo"]
        entry = Expense.evenly(DAY, "Anna", Money(3000), "Dinner", names).to_entry()
        self.assertEqual(
            pairs(entry),
            [
                ("Anna", "30.00"),
                ("Anna", "-10.00"),
                ("Ben", "-10.00"),
                ("Cleo", "-10.00"),
            ],
        )

    def test_more_shares_cost_more(self):
        shares = {"Anna": 2, "Ben": 1}
        entry = Expense(DAY, "Ben", Money(1200), "Taxi", shares).to_entry()
        self.assertEqual(entry.amount_for("Anna"), Money(-800))
        self.assertEqual(entry.amount_for("Ben"), Money(800))

    def test_payer_need_not_take_part(self):
        entry = Expense.evenly(DAY, "Dan", Money(500), "Gift", ["Ben"]).to_entry()
        self.assertEqual(pairs(entry), [("Dan", "5.00"), ("Ben", "-5.00")])

    def test_nobody_to_share_with(self):
        with self.assertRaises(ValueError):
            Expense(DAY, "Anna", Money(500), "Gift", {})
