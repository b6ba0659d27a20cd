"""Make the bundled table with a quantity: invented flats, and their monthly rents.

    python tools/make_rents_table.py > src/foresift/datasets/_data/rents.csv

Six columns decide the rent, together with chance (see `log_rent`); `living_m2` only follows `area_m2`; the
other six are unrelated to it. About one cell in thirty is missing.
"""

import math
import sys

from make_demo_table import ROWS, Dice, to_csv

SEED = 1934
MISSING_SHARE = {"living_m2": 0.05, "year_built": 0.12, "centre_min": 0.06, "floor": 0.04, "heating": 0.05}
MISSING_SHARE |= {"agent": 0.08}
DISTRICTS = {"Harbour": 0.25, "Hill": 0.15, "Market": 0.10, "Meadow": -0.05, "Mill": -0.10, "Works": -0.20}


def log_rent(row: dict) -> float:
    """Return the logarithm of the expected rent: all that the target knows of the columns."""
    rent = 2.2 + 1.1 * math.log(row["area_m2"]) + DISTRICTS[row["district"]]
    rent -= 0.008 * row["centre_min"]
    rent += 0.22 * (row["year_built"] >= 1995) + 0.10 * (row["year_built"] < 1920)
    rent += {"district heating": 0.0, "gas": -0.05, "heat pump": 0.12, "stoves": -0.25}[row["heating"]]
    rent += 0.18 * (row["furnished"] == "yes")
    return rent


def make_row(dice: Dice, number: int) -> dict:
    """Return one flat without missing cells."""
    area = round(min(280.0, max(16.0, math.exp(dice.normal(4.15, 0.5)))))
    row = {
        "flat_id": 20_000 + 53 * number % 7919,
        "district": dice.choice(dict.fromkeys(DISTRICTS, 1)),
        "area_m2": area,
        "living_m2": round(area * min(0.97, max(0.7, dice.normal(0.86, 0.03))), 1),
        "year_built": round(1890 + 133 * dice.uniform()),
        "floor": dice.count(2.4),
        "heating": dice.choice({"district heating": 5, "gas": 6, "heat pump": 2, "stoves": 2}),
        "furnished": "yes" if dice.chance(0.3) else "no",
        "centre_min": round(4 + 46 * dice.uniform()),
        "weekday": dice.choice(dict.fromkeys(["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"], 1)),
        "photos": 1 + dice.count(7),
        "agent": dice.choice({"Adler": 3, "Brandt & Co": 2, "Immo24": 4, "private": 5}),
        "pets": "yes" if dice.chance(0.4) else "no",
    }
    row["rent"] = round(math.exp(dice.normal(log_rent(row), 0.15)))
    return row


if __name__ == "__main__":
    sys.stdout.write(to_csv(make_row, MISSING_SHARE, ROWS, SEED))
