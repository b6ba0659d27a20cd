"""Pictures of columns, associations and predicted classes: what the page says and draws is what was found."""

import copy
import re

import pytest
import report_cases
from report_page import Page

from foresift.report import selection_html
from foresift.report.column_view import MAX_CARDS, pictures_of
from foresift.report.ranking_view import interval_note, remarks_of

NAMES = ["age", "plan", "noise", "city"]


def drawn(d=None, name="age", relevant=True):
    d = d or report_cases.selection(NAMES)
    return pictures_of(d, d["data"]["target"]).draw(name, relevant)


def with_direction(direction, *, quantity=False, name="age"):
    d = report_cases.selection(NAMES)
    if quantity:
        d = report_cases.of_a_quantity(d)
    d["data"]["target"] = "cancelled"
    profile = d["profiles"]["columns"][name]
    profile["direction"] = direction
    values = {
        "down": [7, 6, 5, 4, 3, 2, 1, 0],
        "peak": [0, 1, 4, 7, 6, 3, 2, 1],
        "dip": [7, 5, 4, 0, 1, 3, 5, 6],
    }
    ranges = [part for part in profile["parts"] if "low" in part]
    targets = [part["target"] for part in ranges]
    for part, k in zip(ranges, values.get(direction, range(len(ranges))), strict=False):
        part["target"] = targets[k]
    return drawn(d, name)["words"]


@pytest.mark.parametrize(
    ("direction", "words"),
    [
        ("up", "cancelled = city is more frequent at higher values: 10 % at 0 to 7, 80 % at 70 to 77."),
        ("down", "cancelled = city is less frequent at higher values: 80 % at 0 to 7, 10 % at 70 to 77."),
        ("peak", "cancelled = city is most frequent in the middle: 80 % at 30 to 37."),
        ("dip", "cancelled = city is least frequent in the middle: 10 % at 30 to 37."),
        ("mixed", "cancelled = city is most frequent at 70 to 77 (80 %), least frequent at 0 to 7 (10 %)."),
        ("flat", "No clear pattern by itself: the column matters together with others, or in a way that"),
    ],
)
def test_direction_of_a_class_in_words(direction, words):
    assert with_direction(direction).replace("\xa0", " ").startswith(words)


def test_direction_of_a_quantity_in_words():
    said = with_direction("up", quantity=True)
    assert said == "cancelled rises with the column: on average 0 at 0 to 7, 70 at 70 to 77."
    assert with_direction("down", quantity=True).startswith("cancelled falls with the column")
    assert with_direction("peak", quantity=True) == "cancelled is highest in the middle: 70 at 30 to 37."
    differs = with_direction("differs", quantity=True, name="plan")
    assert differs == "cancelled is highest for city (20), lowest for plan (0)."


def test_what_is_not_significant_is_called_so():
    assert drawn(relevant=False)["words"].endswith("This is not significant.")
    assert drawn(name="city", relevant=False)["words"] == "No clear pattern."


def test_several_classes_are_stacked():
    d = report_cases.selection(NAMES)
    d["profiles"] = report_cases.profiles(NAMES, ["a", "b", "c"])
    pictures = pictures_of(d, "t")
    assert pictures.mode == "stack"
    row = pictures.draw("age")["rows"][0]
    assert row["shape"] == [20, 20, 200]  # shares 0.1, 0 and 0.9
    assert row["value"] == "c: 90\xa0%"
    words = pictures.draw("age", True)["words"].replace("\xa0", " ")
    assert words == "Most frequent at the lowest values c: 90 %; at the highest a: 80 %."
    assert Page(selection_html(d)).text.count("Most frequent") >= 2
    d["profiles"]["target"]["merged"] = True  # the last one stands for several, which are never named
    said = pictures_of(d, "t").draw("age", True)["words"]
    assert said.startswith("Of the classes shown, most frequent")
    assert "c: " not in said


def with_gap(d, name, known, missing, direction="flat"):
    """A column whose rows without a value differ from the others."""
    profile = d["profiles"]["columns"][name]
    profile |= {"known": known, "direction": direction}
    profile["parts"][-1]["target"] = missing
    assert "missing" in profile["parts"][-1]
    return drawn(d, name)["words"].replace("\xa0", " ")


def test_what_gaps_say_is_said():
    d = report_cases.selection(NAMES)
    d["data"]["target"] = "churn"
    said = "churn = city in 100 % of the rows where it is known, in 0 % where it is missing."
    assert with_gap(d, "plan", [1.0, 0.0], [0.0, 1.0]) == said
    assert drawn(d, "plan", relevant=False)["words"].endswith("missing. This is not significant.")
    both = with_gap(d, "plan", [1.0, 0.0], [0.0, 1.0], "differs")
    assert both == f"churn = city is most frequent for city (30 %), least frequent for plan (10 %). {said}"
    page = Page(selection_html(d))
    assert said in page.text.replace("\xa0", " ")
    assert said in page.data["pictures"][1][1].replace("\xa0", " ")  # what the script shows

    d = report_cases.of_a_quantity(report_cases.selection(NAMES))
    d["data"]["target"] = "price"
    said = "price is 50 on average where it is known, 20 where it is missing."
    assert with_gap(d, "plan", [50.0, 47.0, 54.0], [20.0, 17.0, 24.0]) == said

    d = report_cases.selection(NAMES)
    d["profiles"] = report_cases.profiles(NAMES, ["a", "b", "c"])
    said = "Most frequent where it is known a: 80 %; where it is missing c: 90 %."
    assert with_gap(d, "plan", [0.8, 0.0, 0.2], [0.1, 0.0, 0.9]) == said


def test_a_profile_with_a_damaged_gap_is_not_drawn():
    d = report_cases.selection(NAMES)
    d["profiles"]["columns"]["plan"]["known"] = [None, 0.5]
    assert drawn(d, "plan") is None


def test_categories_that_begin_alike_keep_their_pattern():
    d = report_cases.selection(NAMES)
    parts = d["profiles"]["columns"]["plan"]["parts"]
    for k, part in enumerate(parts[:3]):
        part["value"] = "the same long beginning of a category " + str(k)
    assert "No clear pattern" not in drawn(d, "plan")["words"]


def test_ranges_that_look_equal_have_no_direction():
    d = report_cases.selection(NAMES)
    for part in d["profiles"]["columns"]["age"]["parts"][:8]:
        part["high"] = part["low"] = 1 + 1e-15 * part["low"]
    assert drawn(d)["words"] == "The ranges differ in their last digits only."


def test_facts_of_a_sample_say_so():
    d = report_cases.selection(NAMES)
    d["profiles"]["target"] |= {"of": 5_000_000, "sampled": True}
    d["profiles"]["columns"]["plan"]["missing"] = 0
    assert drawn(d, "plan")["facts"] == "at least 15 distinct values, none missing in the sample"
    assert "drawn at random from 5,000,000" in Page(selection_html(d)).text


def test_shapes_are_on_one_scale():
    d = report_cases.selection(NAMES)
    pictures = pictures_of(d, "t")
    ends = [row["shape"][0] for name in NAMES for row in pictures.draw(name)["rows"]]
    assert max(ends) <= 200
    assert pictures.draw("age")["rows"][0]["shape"] == [20]  # 0.1 of a scale to 1
    assert pictures.legend()["overall"] == 80.0


@pytest.mark.parametrize(
    ("missing", "said"),
    [(0, "none missing"), (0.001, "<1 % missing"), (0.06, "6 % missing"), (0.999, ">99 % missing: most of")],
)
def test_share_missing(missing, said):
    d = report_cases.selection(NAMES)
    d["profiles"]["columns"]["age"]["missing"] = missing
    assert said in drawn(d)["facts"].replace("\xa0", " ")


def test_a_column_that_is_mostly_missing_is_remarked_on():
    page = Page(selection_html(report_cases.selection(NAMES)))
    assert "98 % missing: most of this column is missing" in page.text.replace("\xa0", " ")
    assert "Most of this column is missing, so its result rests on few values." in page.text


@pytest.mark.parametrize(
    ("unit", "low", "label"),
    [
        ("days since 1970", 18263.0, "2020-01-02 to 2020-01-31"),
        ("seconds since 1970", 18263.0 * 86400, "2020-01-02 00:00"),
        ("", 1984.0, "1984 to 2013"),
        ("", 20500.0, "20,500 to 20,529"),
        ("", -0.5, "\N{MINUS SIGN}0.5 to 28.5"),
    ],
)
def test_labels(unit, low, label):
    d = report_cases.selection(NAMES)
    profile = d["profiles"]["columns"]["age"]
    profile["parts"] = [{"low": low, "high": low + 29, "n": 9, "target": [0.1, 0.9]}]
    d["data"]["decisions"] = (
        [{"name": "age", "kind": "date", "why": f"dates, taken as {unit}"}] if unit else []
    )
    assert [row["label"] for row in drawn(d)["rows"]] == [label]


def test_the_page_has_cards_of_kept_columns_only():
    names = [f"c{i}" for i in range(100)]
    page = Page(selection_html(report_cases.selection(names, n_kept=80)))
    cards = [tag for tag, attributes in page.tags if tag == "figure" and "class" in attributes]
    assert page.text.count("distinct values") == MAX_CARDS
    assert f"The first {MAX_CARDS} of 80 columns" in page.text
    assert len(cards) >= MAX_CARDS
    assert sum(picture is not None for picture in page.data["pictures"]) == 100


def test_an_earlier_selection_has_no_pictures():
    d = report_cases.selection(NAMES)
    for key in ("profiles", "associations"):
        del d[key]
    page = Page(selection_html(d))
    assert page.data["pictures"] is None
    assert "What the kept columns look like" not in page.text


def test_the_decisive_pvalue_is_shown():
    d = report_cases.selection(NAMES)
    page = Page(selection_html(d))
    assert "Adjusted p" in page.text
    assert page.inside["td"].count("0.016") == 1  # the adjusted one of the last column, which has 0.0016
    assert page.data["cells"]["pvalue"][1] == "<0.001"
    plain = copy.deepcopy(d)
    for feature in plain["features"]:
        feature["adjusted_pvalue"] = None
    assert "Adjusted p" not in Page(selection_html(plain)).text


def test_the_least_pvalue_of_so_many_shadows_is_explained():
    said = remarks_of({"p_floor": 1 / 141, "pvalue": 1e-9})
    assert len(said) == 1
    assert (
        "p \u2264 0.007 is the smallest p-value that 140 shadow features (permuted copies) can show"
        in said[0]
    )


def test_an_interval_that_contradicts_the_verdict_is_explained():
    inside = {"name": "a", "low": -1, "chance": 0, "relevant": True, "frequency": 0.4}
    above = {"name": "b", "low": 0.5, "chance": 0, "relevant": False}
    fine = [{"name": "c", "low": 1, "chance": 0, "relevant": True}, {"name": "d", "low": None, "chance": 0}]
    notes = interval_note([inside, above, *fine])
    assert [note[:2] for note in notes] == ["a:", "b:"]
    assert "although the test is significant" in notes[0]
    assert "although the test is not significant" in notes[1]
    assert (
        "passed in 40\xa0% of the subsamples, so on other or fewer rows it may not pass"
        in remarks_of(inside)[0]
    )
    assert "so the verdict is stable" in remarks_of(inside | {"frequency": 1.0})[0]
    assert remarks_of(fine[0]) == []


def test_a_column_that_seldom_passes_is_remarked_on():
    seldom = {"name": "a", "low": 1, "chance": 0, "relevant": True, "frequency": 0.25}
    assert interval_note([seldom])[0].startswith(
        "a: the column is significant on all rows, but passed in less"
    )
    assert "passed in 25\xa0% of the subsamples, so on other or fewer rows" in remarks_of(seldom)[0]
    assert interval_note([seldom | {"relevant": False, "low": -1}, seldom | {"frequency": 0.5}]) == []


def test_confusion_of_many_classes_adds_up_the_rare_ones():
    d = report_cases.selection(NAMES)
    names = [f"k{i}" for i in range(14)]
    counts = [[100 - i if i == j else 1 for j in range(14)] for i in range(14)]
    d["check"]["confusion"] = {"classes": names, "counts": counts}
    d["check"]["probabilities"] = None
    text = Page(selection_html(d)).text
    assert "5 others" in text
    assert "Rare classes are added up." in text
    assert f"{sum(map(sum, counts)):,} held-out rows, predicted" in text


def test_the_heat_map_has_a_cell_for_every_pair():
    d = report_cases.selection(NAMES)
    html = selection_html(d)
    assert len(re.findall('<rect class="cell"', html)) == 6
    assert "The strongest: plan and age, 0.90." in Page(html).text
    d["associations"]["values"][1][0] = None
    assert "plan and age: unknown" in Page(selection_html(d)).text
