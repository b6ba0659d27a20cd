"""How the documentation is built: `make docs`, or `python -m sphinx -W docs build/docs`."""

import sys
from importlib.metadata import version as installed_version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_sphinx"))

project = "foresift"
author = "foresift developers"
copyright = author
version = release = installed_version("foresift")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "api_pages",
    "offline_math",
]
templates_path = ["_templates"]
exclude_patterns = ["_sphinx", "_static", "_templates", "*.py"]

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3

# The pages of the API are made by api_pages.py from what the package calls public.
autosummary_generate = True
autosummary_generate_overwrite = True
autodoc_typehints = "none"  # numpydoc says the same in words
autodoc_default_options = {"member-order": "bysource"}
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
default_role = "py:obj"

html_math_renderer = "mathml"  # made while building, so that pages need no network
html_theme = "furo"
html_theme_options = {  # the colours of the report
    "light_css_variables": {"color-brand-primary": "#17654f", "color-brand-content": "#17654f"},
    "dark_css_variables": {"color-brand-primary": "#74cfae", "color-brand-content": "#74cfae"},
}
html_static_path = ["_static"]
html_css_files = ["home.css"]
html_title = f"foresift {release}"
html_copy_source = False
html_show_sphinx = False
