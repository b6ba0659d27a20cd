"""`foresift reproduce`: what is written is whole, and so is every repeat that is shown."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from foresift.cli.app import app
from foresift.cli.errors import FAILED

QUICK = ("rogers-gunn", "--quick", "--only", "Simple")


def command(*arguments, **environment):
    return CliRunner().invoke(app, ["reproduce", *map(str, arguments)], env=environment)


@pytest.mark.parametrize("last", ["rogers-gunn.md", "rogers-gunn.html", "rogers-gunn-figure-5.png"])
def test_a_full_disk_leaves_the_old_results(tmp_path, monkeypatch, last):
    """A new CSV beside old tables would be a lie; /dev/full is made to be full."""
    out, store = tmp_path / "out", tmp_path / "a.sqlite"
    result = command(*QUICK, "--store", store, "--out", out)
    assert result.exit_code == 0, result.output
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    assert {f"rogers-gunn.{ending}" for ending in ("csv", "md", "html")} < set(before)
    assert last in before
    really = Path.write_text

    def full(self, text, **options):
        return really(Path("/dev/full") if last in self.name else self, text, **options)

    def draw(table, rows, path):
        full(path, "a picture")

    monkeypatch.setattr(Path, "write_text", full)
    monkeypatch.setattr("foresift.papers.figures.draw_curves", draw)
    result = command(*QUICK, "--store", store, "--repeats", 3, "--out", out)
    assert result.exit_code == FAILED
    assert f"Cannot write {out / last}: no space left" in result.stderr
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
