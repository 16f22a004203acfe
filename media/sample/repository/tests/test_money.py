import unittest

from tallybook.money import ZERO, Money


def amounts(parts):
    """The parts as text, which reads well in a failure."""
    return [str(part) for part in parts]


class ParseTest(unittest.TestCase):
    def test_whole_and_decimal_amounts(self):
        self.assertEqual(Money.parse("12").cents, 1200)
        self.assertEqual(Money.parse(" 12.50 ").cents, 1250)

    def test_sign(self):
        self.assertEqual(Money.parse("-0.05").cents, -5)
        self.assertEqual(Money.parse("+3.00").cents, 300)

    def test_anything_else_is_refused(self):
        for text in ("", "1.5", "1,50", "EUR 5", "--1", "1.005"):
            with self.subTest(text=text):
                with self.assertRaises(ValueError):
                    Money.parse(text)


class ArithmeticTest(unittest.TestCase):
    def test_sums_are_exact(self):
        self.assertEqual(Money.parse("0.10") + Money.parse("0.20"), Money.parse("0.30"))

    def test_difference_and_sign(self):
        self.assertEqual(Money(500) - Money(750), Money(-250))
        self.assertTrue((-Money(1)).is_negative())
        self.assertFalse(ZERO.is_negative())

    def test_order(self):
        self.assertLess(Money(-1), ZERO)
        self.assertEqual(max(Money(3), Money(7), Money(5)), Money(7))

    def test_text(self):
        self.assertEqual(str(Money(-5)), "-0.05")
        self.assertEqual(str(Money(123456)), "1234.56")


class AllocateTest(unittest.TestCase):
    def test_equal_parts(self):
        parts = Money.parse("9.00").allocate([1, 1, 1])
        self.assertEqual(amounts(parts), ["3.00", "3.00", "3.00"])

    def test_in_proportion(self):
        parts = Money.parse("10.00").allocate([1, 4])
        self.assertEqual(amounts(parts), ["2.00", "8.00"])

    def test_missing_cent_goes_to_the_first(self):
        parts = Money.parse("10.00").allocate([1, 1, 1])
        self.assertEqual(amounts(parts), ["3.34", "3.33", "3.33"])

    def test_useless_weights_are_refused(self):
        for weights in ([], [0, 0], [2, -1]):
            with self.subTest(weights=weights):
                with self.assertRaises(ValueError):
                    Money(100).allocate(weights)
