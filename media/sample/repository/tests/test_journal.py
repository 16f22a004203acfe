import pytest

from tallybook import JournalError, Money, read_journal
from tallybook.journal import read_shares

TRIP = """
# A weekend in March
2024-03-02 | Anna | 30.00 | Dinner | Anna, Ben, Cleo

2024-03-03 | Ben  | 12.00 | Taxi   | Anna*2, Ben
"""


@pytest.fixture
def trip():
    return read_journal(TRIP)


def test_comments_and_empty_lines_are_skipped(trip):
    assert [entry.description for entry in trip.entries] == ["Dinner", "Taxi"]


def test_balances(trip):
    assert trip.balance("Anna") == Money.parse("12.00")
    assert trip.balance("Cleo") == Money.parse("-10.00")


@pytest.mark.parametrize(
    "text, shares",
    [
        ("Anna", {"Anna": 1}),
        ("Anna, Ben*3", {"Anna": 1, "Ben": 3}),
        ("Anna*0,Ben", {"Anna": 0, "Ben": 1}),
    ],
)
def test_shares(text, shares):
    assert read_shares(text) == shares


@pytest.mark.parametrize(
    "line, reason",
    [
        ("2024-03-02 | Anna | 30.00", "found 3 fields"),
        ("2024-03-02 | Anna | 30.0 | Dinner | Ben", "not an amount"),
        ("2 March | Anna | 30.00 | Dinner | Ben", "does not match format"),
        ("2024-03-02 | Anna | 30.00 | Dinner | Ben, Ben", "Ben occurs twice"),
    ],
)
def test_senseless_line_is_named(line, reason):
    with pytest.raises(JournalError, match=reason) as caught:
        read_journal("# first\n" + line)
    assert caught.value.number == 2
