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
from foresift.report.numbers import PLAIN, TYPESET

if TYPE_CHECKING:
    import jinja2

__all__ = ["comparison_html", "framed", "selection_html"]

# Lone surrogates cannot be written as UTF-8; HTML allows no control characters but white space.
_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_IN_SCRIPT = str.maketrans({c: f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"})


def selection_html(d: dict[str, Any]) -> str:
    """Make the report of a selection.

    Parameters
    ----------
    d : dict
        What `Selection.to_dict()` returns. Every number may be None; parts that are None are left out.

    Returns
    -------
    str
        A self-contained HTML document. Names and values from the data are escaped.

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
        What `Comparison.to_dict()` returns. With several data sets, `ranks` adds a critical difference
        diagram.

    Returns
    -------
    str
        A self-contained HTML document, as for `selection_html`.

    Examples
    --------
    >>> "relieff does best" in comparison_html({"verdict": "relieff does best.", "rows": []})
    True
    """
    return _render("comparison.html", comparison_view.view(d))


def _render(template: str, view: dict[str, Any]) -> str:
    """Fill a template; its policy admits only our style sheet and our script, by their hashes."""
    style, script = _asset("report.css"), _asset("report.js")
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    ours = {"style": style, "script": script, "policy": policy, "in_script": _for_script(view["in_script"])}
    html = _environment().get_template(template).render(view | ours)
    return _UNWRITABLE.sub("\N{REPLACEMENT CHARACTER}", html)


def _for_script(data: Any) -> str:
    """JSON that is safe inside a script element: it can neither end the element nor begin another."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"), ensure_ascii=False).translate(_IN_SCRIPT)
    return _UNWRITABLE.sub(lambda mark: f"\\u{ord(mark.group()):04x}", text)


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
    # Keeps a number and its percent sign on one line.
    environment.filters["typeset"] = lambda text: text.replace(PLAIN.percent, TYPESET.percent)
    # Jinja's own filter writes "Roc auc".
    environment.filters["columns"] = lambda n: "1 column" if n == 1 else f"{TYPESET.count(n)} columns"
    environment.filters["capital"] = lambda text: text[:1].upper() + text[1:]
    return environment


def framed(page: str, title: str) -> str:
    """Put a page into a sandboxed frame, for notebooks.

    Examples
    --------
    >>> framed("<p>Hello</p>", "A greeting")[:41]
    '<iframe srcdoc="&lt;p&gt;Hello&lt;/p&gt;"'
    """
    style = "width: 100%; height: 40em; border: 0"
    document, name = html.escape(page), html.escape(title)
    return f'<iframe srcdoc="{document}" sandbox="allow-scripts" style="{style}" title="{name}"></iframe>'
