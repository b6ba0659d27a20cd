"""The report as a reader meets it: in a browser, with mouse, keyboard, phone and printer."""

import ast
import os
import re
import shutil
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
import report_cases

from foresift.report import comparison_html, selection_html

sync_api = pytest.importorskip(
    "playwright.sync_api", reason="Playwright drives the browser: pip install playwright"
)
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium: apt-get install chromium")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
]
FLAGS += ["--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"]
NAMES = [f"column_{i}" for i in range(10)] + ["Zebra", "apple", "tiny"]
SHOTS = os.environ.get("FORESIFT_SCREENSHOTS")  # a folder to keep the pictures in, for people to look at


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with sync_api.sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            tmp_path_factory.mktemp("profile"), executable_path=CHROMIUM, headless=True, args=FLAGS
        )
        yield context
        context.close()


@pytest.fixture
def open_page(browser, tmp_path):
    """Open HTML as a file; afterwards nothing may have been asked of the network or said on the console."""
    pages, said, asked = [], [], []

    def open_html(html, *, width=1280, scheme="light"):
        path = tmp_path / f"report{len(pages)}.html"
        path.write_text(html, encoding="utf-8")
        page = browser.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: said.append(dialog.message))
        page.on("request", lambda request: asked.append(request.url))
        page.set_viewport_size({"width": width, "height": 844})
        page.emulate_media(color_scheme=scheme)
        page.goto(path.as_uri())
        pages.append(page)
        return page

    open_html.said, open_html.asked = said, asked
    yield open_html
    for page in pages:
        page.close()
    assert said == []
    assert outside(asked) == []


def outside(urls):
    return [url for url in urls if not url.startswith(("file:", "data:"))]


def names_shown(page):
    return page.locator("#ranking tbody .label").all_inner_texts()


def plain(html):
    """Markup without what two programs may write differently: white space, 1.0 for 1, order of attributes."""
    return [sorted(part.split()) for part in re.sub(r'(\d)\.0"', r'\1"', html).split("<")]


def background(page):
    return page.evaluate("getComputedStyle(document.body).backgroundColor")


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize(
    ("case", "scheme"),
    [
        ("plain", "light"),
        ("plain", "dark"),
        ("hostile", "light"),
        ("quantity", "light"),
        ("large quantity", "dark"),
    ],
)
def test_nothing_sticks_out(open_page, width, scheme, case):
    names = [*report_cases.HOSTILE, "x" * 400, "many words " * 60] if case == "hostile" else NAMES
    found = report_cases.selection(names)
    if "quantity" in case:
        found = report_cases.of_a_quantity(found, size=1e6 if "large" in case else 1.0)
    page = open_page(selection_html(found), width=width, scheme=scheme)
    for part in page.locator("details").all():
        part.evaluate("part => part.open = true")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    picture = page.screenshot(full_page=True)
    assert len(picture) > 20_000
    if SHOTS:
        Path(SHOTS, f"{case}-{scheme}-{width}.png").write_bytes(picture)


@pytest.mark.parametrize("width", [1280, 390])
def test_pictures_of_a_quantity_stay_inside(open_page, width):
    found = report_cases.of_a_quantity(report_cases.selection(NAMES), size=1e6)
    page = open_page(selection_html(found), width=width)
    charts = page.locator("figure svg.chart")
    assert charts.count() == 4  # the curve, predicted against actual, associations, the histogram
    for chart in charts.all():
        box = chart.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
        inside = """svg => { const frame = svg.getBoundingClientRect(); return Array.from(
            svg.querySelectorAll("text, circle, rect")).every(part => { const box =
            part.getBoundingClientRect(); return box.left >= frame.left - 2 && box.right <= frame.right + 2 &&
            box.top >= frame.top - 2 && box.bottom <= frame.bottom + 2; }); }"""
        assert chart.evaluate(inside)
    assert page.locator(".row").count() == 120
    assert "off by 2,100,000 on average" in page.locator("#check-title ~ table").inner_text()


def test_every_cell_of_a_comparison_ends_within_its_row(open_page):
    d = report_cases.comparison(["relevance", "relieff"])
    for row in d["rows"]:
        row["n_features"] = 12.6 if row["size"] == "own" else row["n_features"]
    d["selected"]["relevance"] = {size: {"age": 1.0} for size in ("own", "10", "2")}
    page = open_page(comparison_html(d), width=390)
    out = """row => Array.from(row.querySelectorAll("td, th, .kind"))
        .filter(cell => cell.getBoundingClientRect().right > row.getBoundingClientRect().right + 1)
        .map(cell => cell.textContent)"""
    rows = page.locator(".compare tbody tr").all()
    assert rows
    assert [row.evaluate(out) for row in rows] == [[]] * len(rows)
    sizes = [text.split()[0] for text in page.locator("table.selected td:nth-child(2)").all_inner_texts()]
    assert sizes[:3] == ["2", "10", "own"]


def test_a_click_on_a_head_sorts_and_another_turns_it_round(open_page):
    page = open_page(selection_html(report_cases.selection(NAMES)))
    assert names_shown(page) == NAMES
    head = page.locator("th.name button.sort")
    head.click()
    alphabetic = ["apple", *NAMES[:10], "tiny", "Zebra"]
    assert names_shown(page) == alphabetic
    assert page.locator("th.name").first.get_attribute("aria-sort") == "ascending"
    assert page.locator("th.rank").first.get_attribute("aria-sort") == "none"
    head.press("Enter")  # the keyboard does the same
    assert names_shown(page) == alphabetic[::-1]
    page.locator("th.score button.sort").press("Space")
    assert names_shown(page) == NAMES  # scores begin with the highest
    page.locator("th.pvalue button.sort").click()
    page.locator("th.pvalue button.sort").click()
    assert names_shown(page) == NAMES[::-1]


def test_filters_by_text_and_by_verdict(open_page):
    page = open_page(selection_html(report_cases.selection(NAMES, n_kept=4)))
    page.locator("#text").fill("COLUMN_1")
    assert names_shown(page) == ["column_1"]
    assert page.locator("#count").inner_text() == "1 of 13 columns"
    page.locator("#text").fill("")
    page.locator("input[value=kept]").check()
    assert names_shown(page) == NAMES[:4]
    page.locator("input[value=kept]").press("ArrowLeft")
    assert names_shown(page) == NAMES[:5]  # relevant: the kept ones and the double
    page.locator("#text").fill("nothing is called so")
    assert names_shown(page) == []
    assert page.locator("#none").is_visible()
    page.locator("#reset").click()
    assert names_shown(page) == NAMES


def test_details_follow_pointer_and_focus(open_page):
    page = open_page(selection_html(report_cases.selection(NAMES, n_kept=4)))
    details = page.locator("#details")
    assert not details.is_visible()
    page.locator("#ranking tbody tr").nth(4).hover()
    details.wait_for()
    text = details.inner_text()
    assert text.split("\n")[0] == "column_4"
    assert "By chance" in text
    assert text.endswith("Redundant with\ncolumn_0")
    page.keyboard.press("Escape")
    assert not details.is_visible()
    page.locator("th.status button.sort").focus()
    page.keyboard.press("Tab")
    assert "column_0" in details.inner_text()
    page.keyboard.press("ArrowDown")
    assert "column_1" in details.inner_text()
    assert page.evaluate("document.activeElement.getAttribute('aria-describedby')") == "details"
    page.keyboard.press("End")
    assert "tiny" in details.inner_text()


def test_a_click_opens_the_picture_of_any_column(open_page):
    page = open_page(selection_html(report_cases.selection(NAMES, n_kept=2)))
    rows, opened = page.locator("#ranking tr[data-i]"), page.locator("#ranking tr.opened")
    rows.nth(5).locator("th.name").click()
    assert opened.count() == 1
    assert rows.nth(5).get_attribute("aria-expanded") == "true"
    assert opened.locator(".picture tbody tr").count() == 5  # three categories, others, missing
    assert "Left out: not significant (adjusted p > 0.1)." in opened.inner_text()
    assert page.locator("#details").is_hidden()
    page.keyboard.press("ArrowDown")  # skips what is open
    assert page.evaluate("document.activeElement.dataset.i") == "6"
    page.keyboard.press("Enter")
    assert opened.count() == 2
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    assert opened.count() == 1
    page.keyboard.press("End")
    assert page.evaluate("document.activeElement.dataset.i") == str(len(NAMES) - 1)
    opened.locator("p").first.dispatch_event("click")  # inside of what is open nothing happens
    assert opened.count() == 1
    page.locator("#text").fill("zebra")
    assert opened.count() == 0
    assert page.locator('[aria-expanded="true"]').count() == 0


@pytest.mark.parametrize("case", ["share", "stack", "mean"])
def test_a_picture_made_by_the_script_is_like_one_made_by_python(open_page, case):
    found = report_cases.selection(NAMES, n_kept=3)
    if case == "mean":
        found = report_cases.of_a_quantity(found)
    if case == "stack":
        found["profiles"] = report_cases.profiles(NAMES, ["a", "b", "c"])
    page = open_page(selection_html(found))
    page.locator("#ranking tr[data-i]").nth(1).click()
    made, given = page.locator("#ranking .picture"), page.locator(".card .picture").nth(1)
    for part in ("th bdi", ".value", ".n"):
        assert made.locator(part).all_inner_texts() == given.locator(part).all_inner_texts()
    shapes = "svgs => svgs.map(svg => svg.innerHTML)"
    drawn, written = (some.locator("svg").evaluate_all(shapes) for some in (made, given))
    assert [plain(svg.replace("></rect>", "/>")) for svg in drawn]
    numbers = r'(class|x|width|x1|x2)="([\w.]+)"'
    assert [sorted(re.findall(numbers, svg)) for svg in drawn] == [
        sorted((key, value.removesuffix(".0")) for key, value in re.findall(numbers, svg)) for svg in written
    ]


@pytest.mark.parametrize("width", [1280, 390])
def test_opened_rows_stay_inside_whatever_the_names(open_page, width):
    names = [*report_cases.HOSTILE, "x" * 400, "many words " * 60]
    page = open_page(selection_html(report_cases.selection(names)), width=width)
    for row in page.locator("#ranking tr[data-i]").all():
        row.click()
    assert page.locator("#ranking tr.opened").count() == len(names)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    if SHOTS:
        page.screenshot(full_page=True, path=Path(SHOTS, f"opened-{width}.png"))


def test_columns_without_a_picture_say_so(open_page):
    found = report_cases.selection(NAMES)
    del found["profiles"]["columns"]["tiny"]
    page = open_page(selection_html(found))
    page.locator("#ranking tr[data-i]", has_text="tiny").click()
    assert "There is no picture of this column" in page.locator("tr.opened").inner_text()


def test_a_size_makes_the_list_and_marks_the_rows(open_page):
    page = open_page(selection_html(report_cases.selection(NAMES, n_kept=4)))
    value = page.locator("#list").input_value
    assert ast.literal_eval(value().removeprefix("features = ")) == NAMES[:4]
    assert page.locator("tr.listed").count() == 4
    page.locator("#curve .hit").nth(1).click()
    assert page.locator("#chosen").inner_text().startswith("2 columns: 80.0\xa0%")
    assert ast.literal_eval(value().removeprefix("features = ")) == NAMES[:2]
    assert page.locator("tr.listed").count() == 2
    page.locator("#size").press("ArrowRight")
    page.locator("#size").press("ArrowRight")
    assert ast.literal_eval(value().removeprefix("features = ")) == NAMES
    assert page.locator("#size").get_attribute("aria-valuetext").startswith("13 columns")


@pytest.mark.parametrize("n_kept", [0, 3])
def test_what_was_kept_is_the_list_even_if_that_size_was_not_measured(open_page, n_kept):
    d = report_cases.selection(NAMES, n_kept=4)
    for i, feature in enumerate(d["features"]):
        feature["kept"] = i < n_kept
    d["curve"]["chosen"] = n_kept
    page = open_page(selection_html(d))
    value = page.locator("#list").input_value
    assert ast.literal_eval(value().removeprefix("features = ")) == NAMES[:n_kept]
    said = f"{n_kept} columns were kept" if n_kept else "No column was kept"
    assert page.locator("#chosen").inner_text().startswith(said)
    assert page.locator("#size").input_value() == "-1"
    assert page.locator(".point.now").count() == 0
    page.locator("#curve .hit").nth(0).click()
    assert ast.literal_eval(value().removeprefix("features = ")) == NAMES[:1]
    page.locator("#size").press("ArrowLeft")  # back to what was kept
    assert ast.literal_eval(value().removeprefix("features = ")) == NAMES[:n_kept]
    assert page.locator("#chosen").inner_text().startswith(said)


def test_names_of_many_characters_and_marks_that_turn_the_writing(open_page):
    names = ["x" * 290, "\u202eesrever", "c", "d"]
    page = open_page(selection_html(report_cases.selection(names, n_kept=2)))
    assert ast.literal_eval(page.locator("#list").input_value().removeprefix("features = ")) == names[:2]
    assert '"\\u202eesrever"' in page.locator("#list").input_value()
    heights = [page.locator("#ranking tbody tr").nth(i).bounding_box()["height"] for i in (0, 2)]
    assert heights[0] < 2 * heights[1]


def test_on_a_phone_there_are_no_heads_without_cells(open_page):
    page = open_page(selection_html(report_cases.selection(NAMES)), width=375)
    for key in ("pvalue", "frequency"):
        assert not page.locator(f"#ranking th.{key}").is_visible()
        assert not page.locator(f"#ranking td.{key}").first.is_visible()
    assert page.locator("#ranking th.score").is_visible()


def test_in_a_notebook_it_lives_in_a_frame_that_may_do_little(open_page):
    report = escape(selection_html(report_cases.selection(NAMES)), quote=True)
    page = open_page(
        f'<!doctype html><iframe sandbox="allow-scripts" srcdoc="{report}" height="800"></iframe>'
    )
    frame = page.frame_locator("iframe")
    frame.locator("th.name button.sort").click()
    assert frame.locator("#ranking tbody .label").first.inner_text() == "apple"
    frame.locator("#copy").click()
    assert frame.locator("#copied").inner_text() in ("Copied.", "Press Ctrl+C to copy.")


def test_the_copied_list_is_python_whatever_the_names(open_page, browser):
    names = report_cases.HOSTILE
    page = open_page(selection_html(report_cases.selection(names, n_kept=len(names))))
    browser.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator("#copy").click()
    page.locator("#copied", has_text="Copied.").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert ast.literal_eval(copied.removeprefix("features = ")) == names


def test_light_and_dark(open_page):
    page = open_page(selection_html(report_cases.selection(NAMES)), scheme="light")
    light = background(page)
    page.locator("#theme").click()
    dark = background(page)
    assert dark != light
    page.emulate_media(color_scheme="dark")
    assert background(page) == dark
    page.locator("#theme").click()
    assert background(page) == light


def test_hostile_names_show_as_text(open_page):
    names = report_cases.HOSTILE
    page = open_page(selection_html(report_cases.selection(names)))
    assert page.evaluate("document.images.length") == 0
    assert page.evaluate("document.scripts.length") == 2
    shown = page.locator("#ranking tbody .label").evaluate_all("all => all.map(one => one.textContent)")
    assert shown[:8] == names[:8]


@pytest.fixture
def listener():
    """The address of a server on this machine, and what it was asked for."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_error(404)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", asked
        server.shutdown()


def test_what_is_forbidden_would_be_seen(open_page, listener):
    """These tests can fail: the same page without its policy asks and speaks."""
    address, arrived = listener
    evil = f'<img src="{address}/x.png"><script>console.log("here")</script></main>'
    html = selection_html(report_cases.selection(NAMES)).replace("</main>", evil)
    open_page(html.replace("http-equiv", "data-none")).wait_for_load_state("networkidle")
    assert "here" in open_page.said
    assert outside(open_page.asked) == [f"{address}/x.png"]
    assert arrived == ["/x.png"]
    open_page.said.clear()
    open_page.asked.clear()


def test_the_policy_stops_what_should_never_have_come_in(open_page, listener):
    """Even if something in the page were not escaped, it could neither run nor ask."""
    address, arrived = listener
    evil = f'<img src="{address}/x.png" onerror="bad=1"><script>bad=1</script><style>p{{color:red}}</style>'
    page = open_page(selection_html(report_cases.selection(NAMES)).replace("</main>", evil + "</main>"))
    page.wait_for_load_state("networkidle")
    assert page.evaluate("typeof bad") == "undefined"
    assert page.evaluate("getComputedStyle(document.querySelector('.note')).color") != "rgb(255, 0, 0)"
    assert arrived == []
    assert len(open_page.said) >= 3
    assert all("Content Security Policy" in text for text in open_page.said)
    open_page.said.clear()
    open_page.asked.clear()  # the attempt, which Chromium counts before it stops it


def test_thousands_of_columns_come_in_portions(open_page):
    names = [f"gene_{i}" for i in range(10_000)]
    page = open_page(selection_html(report_cases.selection(names, n_kept=300)))
    assert page.locator("#ranking tbody tr").count() == 50
    page.locator("#more").click()
    assert page.locator("#ranking tbody tr").count() == 250
    assert page.evaluate("document.activeElement.dataset.i") == "50"
    page.locator("#text").fill("gene_9876")
    assert names_shown(page) == ["gene_9876"]
    made = page.locator("#ranking tbody tr")
    assert made.locator("td.rank").inner_text() == "9,877"
    assert made.locator(".badge").inner_text() == "not significant"


def test_a_row_made_by_the_script_is_like_one_made_by_python(open_page):
    """Rows beyond the first 200 are filled in by the script; here both make the same one."""
    d = report_cases.selection([f"gene_{i}" for i in range(201)], n_kept=200)
    page = open_page(selection_html(d))
    page.locator("#text").fill("gene_200")
    ours = page.locator("#ranking tbody tr").evaluate("row => row.innerHTML")
    d["features"] = [*d["features"][:150], d["features"][200], *d["features"][150:200]]
    for rank, feature in enumerate(d["features"], start=1):
        feature["rank"] = rank
    page = open_page(selection_html(d))
    page.locator("#text").fill("gene_200")
    theirs = page.locator("#ranking tbody tr").evaluate("row => row.innerHTML")
    assert plain(ours.replace(">201<", ">151<")) == plain(theirs)


def test_prints(open_page):
    page = open_page(selection_html(report_cases.selection([f"column_{i}" for i in range(120)])))
    pdf = page.pdf(format="A4", print_background=True)
    assert len(pdf) > 20_000
    page.emulate_media(media="print")
    assert not page.locator("#tools").is_visible()
    assert not page.locator("#theme").is_visible()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("#ranking tbody tr").count() == 120
    assert page.locator("details:not([open])").count() == 0
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("#ranking tbody tr").count() == 50


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_a_comparison_can_be_sorted_and_its_curves_picked(open_page, width, scheme):
    methods = ["relevance", "forest-gain", *report_cases.HOSTILE[:2], "x" * 80]
    page = open_page(comparison_html(report_cases.comparison(methods)), width=width, scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    table = page.locator("table.compare").first
    scores = table.locator("td.score").evaluate_all("all => all.map(one => Number(one.dataset.value))")
    assert scores == sorted(scores, reverse=True)
    table.locator("th.score button").click()
    assert (
        table.locator("td.score").evaluate_all("all => all.map(one => Number(one.dataset.value))")
        == scores[::-1]
    )
    table.locator("th.stability button").press("Enter")
    stability = table.locator("td.stability").evaluate_all("all => all.map(one => one.dataset.value)")
    assert stability[-1] == ""  # no selection has none, and comes last
    known = [float(value) for value in stability[:-1]]
    assert known == sorted(known, reverse=True)
    chart = page.locator(".lines-chart").first
    assert chart.locator(".series.now").get_attribute("data-line") == "0"
    chart.locator("button", has_text="forest-gain").click()
    assert chart.locator(".series.now").get_attribute("data-line") == "1"
    assert chart.locator("button[aria-pressed=true] bdi").inner_text() == "forest-gain"
    # Names stand at the ends of lines, and numbers, which the buttons have too, where there is no room.
    wide = width > 800
    assert chart.locator(".series text.name").first.is_visible() == wide
    assert chart.locator(".series text.number").first.is_visible() != wide
    assert chart.locator("button .number").first.is_visible() != wide
    end = chart.locator(f".series text.{'name' if wide else 'number'}").nth(2)
    end.click()
    assert chart.locator(".series.now").get_attribute("data-line") == "2"
    page.emulate_media(media="print")
    assert chart.locator(".series text.name").first.is_visible()
    assert not chart.locator("button").first.is_visible()  # on paper there is nothing to press
    page.emulate_media(media="screen")
    box, paper = end.bounding_box(), chart.locator("svg").bounding_box()
    assert box["x"] + box["width"] <= paper["x"] + paper["width"]
    if SHOTS:
        page.screenshot(path=Path(SHOTS, f"comparison-{scheme}-{width}.png"), full_page=True)


def test_without_a_script_everything_can_be_read(browser, tmp_path):
    """Where scripts are off (a mail program, a wary reader) the page has no dead buttons."""
    path = tmp_path / "report.html"
    path.write_text(selection_html(report_cases.selection(NAMES)).replace("<script>", "<script type=no>"))
    page = browser.new_page()
    page.goto(path.as_uri())
    assert names_shown(page) == NAMES
    assert not page.locator("#tools").is_visible()
    assert not page.locator("#theme").is_visible()
    assert not page.locator("#copy").is_visible()
    page.close()
