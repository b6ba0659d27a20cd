"""The package as pip installs it: what it requires, what it brings, and what works without the extras."""

import ast
import re
import subprocess
import sys
import sysconfig
from importlib.metadata import distribution, packages_distributions
from pathlib import Path

import pytest

import foresift
from foresift.plots import CurveDisplay

SOURCE = Path(foresift.__file__).parent
# Imported inside functions, for those who have them; without them one sentence says what to install.
OPTIONAL = {"dask", "distributed", "matplotlib", "pandas", "polars"}
HIDE = """
import sys
class Missing:
    def find_spec(self, name, *_):
        if name in {names}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Missing())
"""
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def required(extra=None):
    """Names of the distributions that pip installs with the package, or in addition with an extra."""
    marker = f'extra == "{extra}"' if extra else None
    wanted = (requirement.partition(";") for requirement in distribution("foresift").requires)
    return {
        re.match(r"[\w-]+", name)[0].lower() for name, _, when in wanted if (when.strip() or None) == marker
    }


def run(*args, without=()):
    """Run the command line where some libraries are not installed."""
    script = HIDE.format(names=sorted(without)) + "import foresift.__main__; foresift.__main__.main()"
    command = [sys.executable, "-c", script, *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def imports(tree, at_import):
    """Top-level names of the modules that a file imports: when it is imported, or inside functions."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.Import):
            yield from ((alias.name.partition(".")[0], at_import) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module.partition(".")[0], at_import
        else:
            yield from imports(node, at_import and not isinstance(node, FUNCTIONS))


def test_the_command_and_the_extras_are_those_of_the_documentation():
    package = distribution("foresift")
    assert [(e.name, e.value) for e in package.entry_points] == [("foresift", "foresift.__main__:main")]
    extras = {"bench", "dask", "dev", "docs", "heads", "plots"}
    assert set(package.metadata.get_all("Provides-Extra")) == extras
    assert required("plots") == {"matplotlib"}
    assert {"pyarrow", "python-calamine"} <= required()
    assert required().isdisjoint({"matplotlib", "pandas", "polars", "openpyxl"})


def test_the_wheel_brings_one_extension_with_its_types():
    package = distribution("foresift")
    names = [file.name for file in package.files]
    assert {"_core.pyi", "py.typed", "bikeshare.csv", "null_gains.npz", "LICENSE"} <= set(names)
    (extension,) = (name for name in names if name.startswith("_core.") and name != "_core.pyi")
    stable = sys.version_info >= (3, 12) and not sysconfig.get_config_var("Py_GIL_DISABLED")
    assert ("Tag: cp312-abi3-" in package.read_text("WHEEL")) == stable
    assert extension == "_core.pyd" or (".abi3." in extension) == stable


def test_no_module_imports_what_pip_did_not_install():
    distributions = packages_distributions()
    for path in SOURCE.rglob("*.py"):
        for name, at_import in imports(ast.parse(path.read_text(encoding="utf-8")), True):
            known = name == "foresift" or name in sys.stdlib_module_names
            known |= name in OPTIONAL and not at_import
            owners = {owner.lower().replace("_", "-") for owner in distributions.get(name, [])}
            assert known or owners & required(), f"{path} imports {name}"


def test_select_and_compare_need_no_extra(tmp_path):
    table = SOURCE / "datasets/_data/bikeshare.csv"
    missing = OPTIONAL | {"openpyxl", "lightgbm", "IPython"}
    quick = ("--target", "cancelled", "--trees", 20)
    done = run("select", table, *quick, "--no-check", "--out", tmp_path, without=missing)
    assert done.returncode == 0, done.stderr
    assert "<html" in (tmp_path / "report.html").read_text(encoding="utf-8")
    methods = ("--methods", "info-gain", "--estimators", "nb", "--cv", "2")
    done = run("compare", table, *quick[:2], *methods, "--out", tmp_path / "c", without=missing)
    assert done.returncode == 0, done.stderr


def test_without_matplotlib_one_sentence_says_what_to_install(tmp_path, monkeypatch):
    sentence = "Figures need matplotlib: pip install 'foresift[plots]'."
    done = run("reproduce", "opitz", "--quick", "--out", tmp_path, without={"matplotlib"})
    assert (done.returncode, done.stderr) == (2, f"foresift: {sentence}\n")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False)
    with pytest.raises(ImportError) as error:
        CurveDisplay([1, 2], [0.5, 0.6]).plot()
    assert str(error.value) == sentence
