"""The report: one self-contained HTML file from the plain dictionary of a selection or a comparison."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from foresift.report import comparison_view, selection_view

if TYPE_CHECKING:
    import jinja2

__all__ = ["comparison_html", "framed", "selection_html"]

# A lone surrogate cannot be written as UTF-8; of control characters HTML has only white space.
_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_IN_SCRIPT = str.maketrans({c: f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"})


def selection_html(d: dict[str, Any]) -> str:
    """Make the report of a selection.

    Parameters
    ----------
    d : dict
        What `Selection.to_dict()` returns: plain strings, numbers, lists and dictionaries. Every number may
        be None; parts that are None are left out.

    Returns
    -------
    str
        An HTML document that needs nothing from outside and lets nothing out. Names and values from the data
        stand in it as text, whatever characters they hold.

    Examples
    --------
    >>> html = selection_html({
    ...     "verdict": "One of two columns matters.",
    ...     "features": [
    ...         {"name": "<b>age</b>", "rank": 1, "score": 0.4, "kept": True},
    ...         {"name": "noise", "rank": 2, "score": 0.0, "kept": False},
    ...     ],
    ... })
    >>> "&lt;b&gt;age&lt;/b&gt;" in html, "<b>age</b>" in html
    (True, False)
    """
    return _render("selection.html", selection_view.view(d))


def comparison_html(d: dict[str, Any]) -> str:
    """Make the report of a comparison of methods.

    Parameters
    ----------
    d : dict
        What `Comparison.to_dict()` returns. Where several data sets were compared, the entry `ranks`, a dict
        of `methods`, `mean_ranks`, `critical_difference` and `n`, adds a critical difference diagram.

    Returns
    -------
    str
        An HTML document, as `selection_html` makes it.

    Examples
    --------
    >>> row = {"method": "relieff", "classifier": "nb", "size": "3", "scorer": "accuracy", "mean": 0.9}
    >>> html = comparison_html({"about": {"dataset": "wine"}, "rows": [row | {"n_features": 3.0}]})
    >>> "relieff with 3 columns does best" in html
    True
    """
    return _render("comparison.html", comparison_view.view(d))


def _render(template: str, view: dict[str, Any]) -> str:
    """Fill a template; the policy in it admits our one style sheet and our one script, by their hashes."""
    style, script = _asset("report.css"), _asset("report.js")
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    ours = {"style": style, "script": script, "policy": policy, "in_script": _for_script(view["in_script"])}
    html = _environment().get_template(template).render(view | ours)
    return _UNWRITABLE.sub("\N{REPLACEMENT CHARACTER}", html)


def _for_script(data: Any) -> str:
    """JSON that can stand in a script element: nothing in it ends the element or begins another."""
    return json.dumps(data, allow_nan=False, separators=(",", ":")).translate(_IN_SCRIPT)


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def _asset(name: str) -> str:
    return resources.files("foresift.report").joinpath("templates", name).read_text(encoding="utf-8")


@cache
def _environment() -> jinja2.Environment:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("foresift.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # Jinja's own filter writes "Roc auc".
    environment.filters["capital"] = lambda text: text[:1].upper() + text[1:]
    return environment


def framed(page: str, title: str) -> str:
    """Put a page into a frame, as a notebook shows it: it can reach nothing outside.

    Examples
    --------
    >>> framed("<p>Hello</p>", "A greeting")[:41]
    '<iframe srcdoc="&lt;p&gt;Hello&lt;/p&gt;"'
    """
    style = "width: 100%; height: 40em; border: 0"
    document, name = html.escape(page), html.escape(title)
    return f'<iframe srcdoc="{document}" sandbox="allow-scripts" style="{style}" title="{name}"></iframe>'
