"""How the documentation is built: `make docs`, or `python -m sphinx -W docs build/docs`."""

import sys
from importlib.metadata import version as installed_version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_sphinx"))

from gallery_style import ORDER
from sphinx_gallery.sorting import ExplicitOrder

project = "foresift"
author = "foresift developers"
copyright = author
version = release = installed_version("foresift")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "api_pages",
    "offline_math",
]
templates_path = ["_templates"]
exclude_patterns = ["_sphinx", "_static", "_templates", "*.py", "gallery/*.ipynb", "gallery/*.py"]

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

# The worked examples: each runs once while building, and one that fails fails the build.
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_\w+\.py$",
    "within_subsection_order": ExplicitOrder(ORDER),
    "abort_on_example_error": True,
    "reset_modules": ("matplotlib", "gallery_style.use_style"),
    "capture_repr": ("_repr_html_",),
    "image_srcset": ["2x"],
    "remove_config_comments": True,
    "download_all_examples": False,
    "show_signature": False,
    "show_memory": False,
    "min_reported_time": 600,
    "write_computation_times": False,
}

html_math_renderer = "mathml"  # made while building, so that pages need no network
html_theme = "furo"
html_theme_options = {  # the colours of the report
    "light_css_variables": {"color-brand-primary": "#17654f", "color-brand-content": "#17654f"},
    "dark_css_variables": {"color-brand-primary": "#74cfae", "color-brand-content": "#74cfae"},
}
html_static_path = ["_static"]
html_css_files = ["home.css", "gallery.css"]
html_title = f"foresift {release}"
html_copy_source = False
html_show_sphinx = False
