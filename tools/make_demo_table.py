"""Make the bundled table: invented customers of a bike-sharing service, and whether they cancelled.

    python tools/make_demo_table.py > src/foresift/datasets/_data/bikeshare.csv

Six columns decide, together with chance, who cancels (see `cancel_odds`); `minutes_last_month` only follows
`rides_last_month`; the other six are unrelated to the target. About one cell in thirty is missing.
"""

import bisect
import csv
import io
import itertools
import math
import random
import sys
from collections.abc import Callable
from statistics import NormalDist

ROWS = 600
SEED = 1909
MISSING_SHARE = {"rides_last_month": 0.06, "minutes_last_month": 0.06, "home_to_station_m": 0.08, "age": 0.10}
MISSING_SHARE |= {"payment": 0.03, "city": 0.02, "heard_from": 0.08}


class Dice:
    """Draws that need nothing but `random.random`, whose stream Python promises never to change."""

    def __init__(self, seed: int):
        self._random = random.Random(seed).random

    def uniform(self) -> float:
        """Draw from 0 to 1."""
        return self._random()

    def chance(self, probability: float) -> bool:
        """Tell whether an event of this probability happens."""
        return self._random() < probability

    def choice(self, weights: dict[str, float]) -> str:
        """Draw a key of `weights` in proportion to its value."""
        bounds = list(itertools.accumulate(weights.values()))
        return list(weights)[bisect.bisect(bounds, self._random() * bounds[-1])]

    def normal(self, mean: float, deviation: float) -> float:
        """Draw from a normal distribution."""
        return NormalDist(mean, deviation).inv_cdf(1 - self._random())

    def count(self, mean: float) -> int:
        """Draw from a geometric distribution over 0, 1, 2, ..."""
        return int(math.log(1 - self._random()) / math.log(mean / (1 + mean)))


def cancel_odds(row: dict) -> float:
    """Return the log-odds that this customer cancels: all that the target knows of the columns."""
    odds = -2.9
    odds += {"monthly": 1.7, "quarterly": 0.0, "yearly": -1.7}[row["plan"]]
    odds += {"card": -0.9, "invoice": 1.9, "wallet": 0.0}[row["payment"]]
    odds += 1.8 * (row["support_calls"] >= 2)
    odds += 1.9 * (row["rides_last_month"] < 8)
    odds += 1.7 * (row["months_subscribed"] < 8)
    odds += 1.7 * (row["home_to_station_m"] > 700)
    return odds


def make_row(dice: Dice, number: int) -> dict:
    """Return one customer without missing cells."""
    rides = round(max(0.0, dice.normal(13, 8)))
    row = {
        "customer_number": 100_000 + 37 * number % 6007,
        "age": round(min(79.0, max(16.0, dice.normal(38, 12)))),
        "city": dice.choice({"Almere": 3, "Breda": 2, "Delft": 2, "Leiden": 2, "Zwolle": 1}),
        "plan": dice.choice({"monthly": 5, "quarterly": 3, "yearly": 4}),
        "payment": dice.choice({"card": 6, "invoice": 2, "wallet": 3}),
        "months_subscribed": 1 + dice.count(14),
        "rides_last_month": rides,
        "minutes_last_month": round(rides * max(4.0, dice.normal(14, 3)), 1),
        "support_calls": dice.count(1.1),
        "home_to_station_m": round(math.exp(dice.normal(6.2, 0.7))),
        "birth_weekday": dice.choice(dict.fromkeys(["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"], 1)),
        "helmet_colour": dice.choice({"black": 4, "white": 3, "red": 2, "green": 1, "none": 5}),
        "heard_from": dice.choice({"friend": 5, "poster": 3, "search": 4, "news": 1}),
    }
    row["cancelled"] = "yes" if dice.chance(1 / (1 + math.exp(-cancel_odds(row)))) else "no"
    return row


def to_csv(
    make_row: Callable[[Dice, int], dict], missing_share: dict[str, float], rows: int, seed: int
) -> str:
    """Return a table as CSV text; cells go missing after the target was drawn from them."""
    dice = Dice(seed)
    table = [make_row(dice, number) for number in range(rows)]
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=list(table[0]), lineterminator="\n")
    writer.writeheader()
    for row in table:
        writer.writerow({k: "" if dice.chance(missing_share.get(k, 0.0)) else v for k, v in row.items()})
    return out.getvalue()


def make_table() -> str:
    """Return the table as CSV text."""
    return to_csv(make_row, MISSING_SHARE, ROWS, SEED)


if __name__ == "__main__":
    sys.stdout.write(make_table())
