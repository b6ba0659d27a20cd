"""The report: what the data holds is text in it, what is not known is left out, and it stays small."""

import ast
import base64
import copy
import hashlib
import json
import re
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import pytest
import report_cases
from hypothesis import given, settings
from hypothesis import strategies as st
from report_page import Page

from foresift.report import comparison_html, selection_html
from foresift.report.comparison_view import view as comparison_view
from foresift.report.plots.size_curve import name_ends

MARKUP = st.lists(
    st.sampled_from(
        [*report_cases.HOSTILE, "<", ">", '"', "'", "&", "/", "=", "`", "--", "onload", "script", " "]
    )
    | st.text(max_size=4),
    max_size=4,
).map("".join)


@settings(max_examples=60, deadline=None)
@given(st.lists(MARKUP, min_size=2, max_size=5, unique=True))
def test_names_never_become_markup(names):
    """The page has the tags and attributes of one with harmless names, and its policy and script."""
    page = Page(selection_html(report_cases.selection(names)))
    harmless = Page(
        selection_html(report_cases.selection([f"n{i}" if name else "" for i, name in enumerate(names)]))
    )
    assert page.tags == harmless.tags
    assert page.data["name"] == names
    allowed = {"#main", None} | {value for name, value in harmless.values if name in ("href", "content")}
    assert {value for name, value in page.values if name in ("href", "src", "content")} <= allowed
    assert not any(name.startswith("on") or name in ("style", "srcdoc", "action") for name, _ in page.values)
    assert page.inside["script"] == harmless.inside["script"]


@settings(max_examples=40, deadline=None)
# "none" is the method that selects nothing, which is shown in another way.
@given(
    st.lists(MARKUP.filter(lambda name: name not in ("", "none")), min_size=2, max_size=4, unique=True),
    MARKUP,
)
def test_names_in_a_comparison_never_become_markup(names, feature):
    page = Page(comparison_html(report_cases.comparison(names, feature=feature)))
    harmless = [f"n{i}" for i in range(len(names))]
    assert page.tags == Page(comparison_html(report_cases.comparison(harmless, feature="f"))).tags
    assert not any(name.startswith("on") or name in ("style", "srcdoc", "action") for name, _ in page.values)


def test_names_are_shown_as_they_are():
    page = Page(selection_html(report_cases.selection(report_cases.HOSTILE)))
    for name in report_cases.HOSTILE[:8]:
        assert " ".join(name.split()) in page.text
    assert "49" not in Page(selection_html(report_cases.selection(["{{ 7*7 }}", "b"]))).inside["bdi"]


def test_data_for_the_script_cannot_leave_it():
    html = selection_html(report_cases.selection(report_cases.HOSTILE))
    block = re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.S).group(1)
    assert not set("<>&\u2028\u2029") & set(block)
    assert json.loads(block)["name"] == report_cases.HOSTILE


def test_policy_lets_nothing_in_but_our_script_and_style():
    html = selection_html(report_cases.selection(["a", "b"]))
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html).group(1).replace("&#39;", "'")
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    for tag, rule in (("style", "style-src"), ("script", "script-src")):
        content = re.search(rf"<{tag}>(.*?)</{tag}>", html, re.S).group(1)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert rules[rule] == f"'sha256-{digest}'"
    assert "http:" not in html.replace("http://www.w3.org/2000/svg", "")
    assert "https:" not in html


def test_can_be_written_as_utf8():
    html = selection_html(report_cases.selection(["lone \ud800 surrogate", "nul \x00"]))
    assert b"\x00" not in html.encode("utf-8")
    assert Page(html).data["name"] == ["lone \ud800 surrogate", "nul \x00"]


@pytest.mark.parametrize(("n_features", "megabytes"), [(200, 0.6), (2000, 2), (10_000, 3.2), (40_000, 4)])
def test_stays_small(n_features, megabytes):
    names = [f"a column with a rather long name {i}" for i in range(n_features)]
    html = selection_html(report_cases.selection(names, n_kept=n_features // 3))
    assert len(html.encode()) < megabytes * 1e6
    page = Page(html)
    assert len(page.data["name"]) == min(n_features, 12_000)
    assert f"of {n_features:,} columns kept" in page.text
    assert ("And 28,000 more" in page.text) == (n_features == 40_000)


@pytest.mark.parametrize("letter", ["a", "\u5217"])
def test_two_thousand_long_names_stay_below_two_megabytes(letter):
    names = [f"{letter * 60}{i}" for i in range(2000)]
    page = Page(html := selection_html(report_cases.selection(names, n_kept=2000)))
    assert len(html.encode()) < 2e6
    assert page.data["pictures"][0] is not None


def test_a_list_that_is_cut_off_says_so():
    d = report_cases.selection([f"c{i}" for i in range(12_010)], n_kept=12_005)
    d["features"].reverse()
    page = Page(selection_html(d))
    assert page.inside["list"].endswith('    "c11999",\n    # and 5 more: see selection.json\n]\n')


def test_kept_columns_are_known_wherever_they_rank():
    d = report_cases.selection([f"c{i}" for i in range(13_000)], n_kept=1)
    d["features"][-1]["kept"] = True
    assert Page(selection_html(d)).data["name"][-1] == "c12999"


def places(value, path=()):
    """Every place in a dictionary, but those of names."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        if key not in ("name", "parameters"):
            if isinstance(key, str):
                yield (*path, key)
            yield from places(inner, (*path, key))


NUMBERS = {"score", "low", "high", "chance", "pvalue", "frequency", "value"}
PLACES = list(places(report_cases.selection(["a", "b", "c", "d"])))


def put(d, path, value):
    changed = copy.deepcopy(d)
    *way, last = path
    at = changed
    for key in way:
        at = at[key]
    if value == "missing":
        del at[last]
    else:
        at[last] = value
    return changed


@pytest.mark.parametrize("value", [None, "missing", float("nan")], ids=["null", "missing", "nan"])
def test_whatever_is_not_known_is_left_out(value):
    d = report_cases.selection(["a", "b", "c", "d"])
    for path in PLACES:
        if value != value and path[-1] not in NUMBERS:
            continue
        page = Page(selection_html(put(d, path, value)))
        assert not re.search(r"\b(None|nan|null|inf)\b", page.text), path


@pytest.mark.parametrize("value", [None, "missing"], ids=["null", "missing"])
def test_whatever_is_not_known_of_a_comparison_is_left_out(value):
    d = report_cases.comparison(["gain", "relieff"], classifiers=["nb"], sizes=["2", "own"])
    d["pairs"] = d["pairs"][:2]  # all pairs have the same parts
    for path in places(d):
        if path[-1] not in ("age", "colour", "methods", "mean_ranks", "critical_difference", "2", "5"):
            page = Page(comparison_html(put(d, path, value)))
            assert not re.search(r"\b(None|nan|null|inf)\b", page.text), path
    assert "no results" in Page(comparison_html({})).text


def test_the_verdict_of_a_comparison_is_shown():
    assert '<p class="sentence">a &lt; b</p>' in comparison_html({"verdict": "a < b"})


def test_all_pairs_are_folded_away_and_cut():
    d = report_cases.comparison(["gain", "relieff", "cfs"], classifiers=["nb"])  # 13 rows, 78 pairs
    page = comparison_html(d)
    text = Page(page).text
    assert "nb, accuracy : 78 pairs" in text
    assert "<details>" in page  # folded
    assert page.count("0.420") == 78
    assert "no selection all columns" in text
    assert "6.5 columns, own choice" in text
    assert "more, of lower results" not in text
    many = Page(comparison_html(d | {"pairs": d["pairs"] * 5})).text
    assert "390 pairs" in many
    assert "And 190 more, of lower results." in many
    older = {key: value for key, value in d.items() if key != "pairs"}
    assert "All pairs" not in Page(comparison_html(older)).text


def test_hostile_names_in_pairs_stay_text():
    d = report_cases.comparison(report_cases.HOSTILE[:3], classifiers=[report_cases.HOSTILE[1]])
    only = {"rows": [], "pairs": d["pairs"]}
    harmless = {"rows": [], "pairs": report_cases.comparison(["a", "b", "c"], classifiers=["nb"])["pairs"]}
    page = Page(comparison_html(only))
    assert page.tags == Page(comparison_html(harmless)).tags
    for name in report_cases.HOSTILE[:3]:
        assert name in page.text


def test_which_to_take_is_said_and_drawn():
    d = report_cases.comparison(["gain", "relieff", "x" * 40], classifiers=["rf", "nb"])
    page = comparison_html(d)
    assert "Which to take: gain with 5 columns." in page
    assert page.count('class="pareto"') == 2
    assert page.count('class="point now"') == 1  # for the estimator of the best
    charts = [family["pareto"] for family in comparison_view(d)["families"]]
    for chart in charts:
        assert len(chart["points"]) == 1 + 3 * 4
        front = [point for point in chart["points"] if point["front"]]
        assert [point["name"] for point in front] == ["gain"] * 4
        heights = [point["y"] for point in front]
        assert heights == sorted(heights, reverse=True)
        assert all(chart["left"] <= point["x"] <= chart["right"] for point in chart["points"])
        assert min(heights) > 20  # room for a name above
    older = {key: value for key, value in d.items() if not key.startswith("recommend")}
    assert "Which to take" not in comparison_html(older)
    assert comparison_html(older).count('class="point now"') == 0


def test_lines_of_a_comparison_have_their_names_beside_them():
    methods = ["gain", "relieff", "x" * 40]
    family = comparison_view(report_cases.comparison(methods, classifiers=["rf"]))["families"][0]
    lines = family["curve"]["lines"]
    assert [line["label"] for line in lines] == ["gain", "relieff", "x" * 15 + "…"]
    assert [line["best"] for line in lines] == [True, False, False]
    assert all(line["end"][0] > line["points"][-1]["x"] for line in lines)
    assert all(line["end"][0] + 6.5 * len(line["label"]) <= 640 for line in lines)
    text = Page(comparison_html(report_cases.comparison(methods))).text
    assert "no selection: 90.3 %, dashed" in text


@given(st.lists(st.floats(12, 224), min_size=1, max_size=40))
def test_names_of_lines_are_apart_in_order_and_on_the_paper(heights):
    ends = name_ends(heights)
    apart = min(14.0, (224 - 12) / max(len(heights) - 1, 1))
    assert min(ends) >= 11.9
    assert max(ends) <= 224.1
    order = sorted(range(len(heights)), key=lambda i: heights[i])
    assert all(ends[b] - ends[a] >= apart - 0.11 for a, b in pairwise(order))
    if all(heights[b] - heights[a] >= apart for a, b in pairwise(order)):
        np.testing.assert_allclose(ends, heights, atol=0.051)  # where there is room they stay


def test_nothing_is_known():
    page = Page(selection_html({"features": [{"name": "a"}, {"name": "b"}]}))
    assert "0 of 2 columns kept" in page.text
    assert page.data["sizes"] == []
    assert "of 0 columns kept" in Page(selection_html({})).text


def test_infinite_and_negative_scores_are_drawn():
    d = report_cases.selection(["a", "b", "c", "d"])
    for feature, score in zip(d["features"], (float("inf"), 2.0, -3.0, float("-inf")), strict=True):
        feature.update(score=score, low=None, high=None, chance=None)
    bars = Page(selection_html(d)).data["bars"]
    (inf, two, minus, low) = [(begin, begin + width) for begin, width, *_ in bars]
    assert inf == two  # as far as the paper goes
    assert minus == low
    assert minus[1] == two[0]  # both begin at zero, to either side


@pytest.mark.parametrize(
    ("value", "low", "high", "says"),
    [
        (0.01, -0.01, 0.03, "The difference is not significant: +1.0 (−1.0 to +3.0) points"),  # noqa: RUF001
        (0.02, 0.01, 0.03, "The smaller model is significantly better: +2.0 (+1.0 to +3.0) points."),
        (-0.02, -0.03, -0.01, "The smaller model is significantly worse"),
        (0.01, None, None, "Difference, selected minus all columns: +1.0 points. The folds agree"),
        (None, None, None, "The difference is not known."),
    ],
)
def test_the_check_in_words(value, low, high, says):
    d = report_cases.selection(["a", "b"])
    d["check"]["difference"] = {"value": value, "low": low, "high": high}
    assert says in Page(selection_html(d)).text


def test_a_short_verdict_first_then_details_and_notes():
    html = selection_html(report_cases.selection(["a", "b"]))
    assert '<p class="sentence">1 of 2 columns are relevant for b.</p>' in html
    assert '<p class="lead details">Details of b.</p>' in html
    assert '<p class="warning">Mind b!</p>' in html


def test_the_score_of_the_check_is_that_of_the_way_of_selecting():
    page = Page(selection_html(report_cases.selection(["a", "b", "c", "d"])))
    assert "accuracy with the selected columns, 90.0 % with all columns" in page.text
    assert "they kept 2 to 3" in page.text
    assert "with them" not in page.text
    assert "the 2 kept" not in page.text


@pytest.mark.parametrize(
    ("goal", "means"),
    [
        (
            "compact",
            "selected set: one relevant column of each redundant group, and more where models predict better",
        ),
        ("all", "selected set: every relevant column."),
        (None, "The column is in the selected set."),
    ],
)
def test_what_kept_means_depends_on_the_goal(goal, means):
    d = report_cases.selection(["a", "b"])
    d["method"]["goal"] = goal
    assert means in Page(selection_html(d)).text


@pytest.mark.parametrize("certainty", ["clear", "provisional", "too few rows", None])
def test_certainty_has_a_tile_and_is_explained(certainty):
    d = report_cases.selection(["a", "b"]) | {"certainty": certainty}
    text = Page(selection_html(d)).text
    assert (f"{certainty} certainty of this answer" in text) == (certainty is not None)
    assert ("How far the answer can be trusted" in text) == (certainty is not None)


def test_one_column_is_singular():
    html = selection_html(report_cases.selection(["a", "b"]))
    assert "1 column: 70.0" in Page(html).text
    assert "<title>1 column: 70.0" in html
    assert "1 column left out" in Page(html).text
    assert "1 columns" not in html
    html = comparison_html(report_cases.comparison(["relevance"], sizes=("1", "2")))
    assert "relevance, 1 column:" in html
    assert "relevance, 2 columns:" in html


def test_rows_of_a_comparison_that_are_not_significantly_worse_are_marked_so():
    text = Page(comparison_html(report_cases.comparison(["a", "b", "c"]))).text
    assert "not significantly worse p 0.300" in text
    assert "worse p 0.001" in text


def test_nothing_kept():
    page = Page(selection_html(report_cases.selection(["a", "b", "c", "d"], n_kept=0)))
    assert "accuracy with all columns, 60.0 % with the most frequent class" in page.text
    assert "No column was kept, so there is no smaller model." in page.text
    assert "No column was kept. The curve shows what the best columns would reach." in page.text
    assert "selected columns" not in page.text
    assert not re.search("the 0 kept|0 columns were kept|with them", page.text)


def test_a_kept_column_is_not_renamed():
    d = report_cases.selection(["a", "b", "c"])
    d["features"][1].update(kept=True, redundant_with="a")
    assert "kept redundant with a" in Page(selection_html(d)).text


def test_marks_that_turn_the_writing_are_spelt_out_in_the_list():
    name = "a\u202e\u2066b\u200f"
    text = Page(selection_html(report_cases.selection([name, "b"]))).inside["list"]
    assert '"a\\u202e\\u2066b\\u200f"' in text
    assert ast.literal_eval(text.removeprefix("features = ")) == [name]


def test_order_of_the_list_can_be_told():
    d = report_cases.selection(["a", "b", "c", "d"])
    d["features"][1].update(kept=False)
    d["features"][3].update(kept=True)
    assert Page(selection_html(d)).data["order"] == [0, 3, 1, 2]  # what was kept comes first
    d["curve"]["order"] = ["c", "a", "b", "d"]
    assert Page(selection_html(d)).data["order"] == [2, 0, 1, 3]


def contrast(one, other):
    """Ratio of luminances, WCAG 2.2."""

    def luminance(colour):
        shares = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in shares)
        return 0.2126 * r + 0.7152 * g + 0.0722 * b

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("mode", [0, 1], ids=["light", "dark"])
def test_contrast(mode):
    css = Page(selection_html({})).inside["style"]
    colours = {
        name: pair[mode] for name, *pair in re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)", css)
    }
    assert set(colours) == {
        "paper",
        "card",
        "ink",
        "soft",
        "line",
        "accent",
        "tint",
        "grey",
        "mark",
        "on-accent",
        *(f"c{k}" for k in range(6)),  # classes
    }
    for text in ("ink", "soft", "accent"):
        for ground in ("paper", "card", "tint"):
            assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground)
    assert contrast(colours["on-accent"], colours["accent"]) >= 4.5
    for drawn in ("grey", "accent", "mark", *(f"c{k}" for k in range(6))):  # lines, bars, borders of controls
        assert contrast(colours[drawn], colours["card"]) >= 3, drawn


@pytest.mark.parametrize(
    "html",
    [
        selection_html(report_cases.selection(["a", "b", "c", "d"])),
        comparison_html(report_cases.comparison(["gain", "relieff"])),
    ],
    ids=["selection", "comparison"],
)
def test_everything_has_a_name_for_those_who_do_not_see_it(html):
    tags = [(tag, dict(attributes)) for tag, attributes in re_tags(html)]
    headings = [int(tag[1]) for tag, _ in tags if re.fullmatch("h[1-6]", tag)]
    assert headings.count(1) == 1
    assert headings[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(headings))
    assert all(a.get("aria-label") or a.get("aria-hidden") == "true" for tag, a in tags if tag == "svg")
    labels = {a.get("for") for tag, a in tags if tag == "label"}
    wrapped = set(re.findall(r'<label[^>]*>[^<]*<input[^>]*id="(\w+)"', html))
    fields = {a["id"] for tag, a in tags if tag in ("input", "textarea") and "id" in a}
    assert fields <= labels | wrapped
    body = html.split("<template", 1)[0] + html.split("</template>", 1)[-1]
    assert body.count("<table") == body.count("<caption")
    assert 'lang="en"' in html


def re_tags(html):
    """Tags with their attributes and values, in order."""
    found = []

    class Tags(HTMLParser):
        def handle_starttag(self, tag, attrs):
            found.append((tag, attrs))

    Tags().feed(html)
    return found
