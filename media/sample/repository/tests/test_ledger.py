import datetime
import unittest

from tallybook.expense import Expense
from tallybook.ledger import Ledger, Payment
from tallybook.money import Money

DAY = datetime.date(2024, 3, 2)


class LedgerTest(unittest.TestCase):
    def setUp(self):
        self.ledger = Ledger()

    def spend(self, payer, cents, *names):
        self.ledger.record(Expense.evenly(DAY, payer, Money(cents), "Food", names))

    def test_empty_ledger_is_settled(self):
        self.assertTrue(self.ledger.is_settled())
        self.assertEqual(self.ledger.settle(), [])
        self.assertEqual(self.ledger.balance("Anna"), Money(0))

    def test_balances(self):
        self.spend("Anna", 3000, "Anna", "Ben", "Cleo")
        self.spend("Ben", 600, "Ben", "Cleo")
        self.assertEqual(
            self.ledger.balances(),
            {"Anna": Money(2000), "Ben": Money(-700), "Cleo": Money(-1300)},
        )

    def test_balances_add_up_to_zero(self):
        self.spend("Anna", 1000, "Anna", "Ben", "Cleo")
        self.spend("Cleo", 4000, "Anna", "Ben", "Cleo", "Dan")
        total = sum(self.ledger.balances().values(), Money(0))
        self.assertEqual(total, Money(0))

    def test_settling_takes_few_payments(self):
        self.spend("Anna", 3000, "Anna", "Ben", "Cleo")
        self.spend("Ben", 600, "Ben", "Cleo")
        self.assertEqual(
            self.ledger.settle(),
            [Payment("Cleo", "Anna", Money(1300)), Payment("Ben", "Anna", Money(700))],
        )

    def test_settling_changes_nothing(self):
        self.spend("Anna", 1000, "Ben")
        self.ledger.settle()
        self.assertEqual(self.ledger.balance("Ben"), Money(-1000))
        self.assertFalse(self.ledger.is_settled())
