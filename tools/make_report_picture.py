"""Take the picture of a report that the README shows.

    foresift select src/foresift/datasets/_data/bikeshare.csv --target cancelled --out build/demo
    python tools/make_report_picture.py build/demo/report.html docs/images/report.png

It needs Chromium (Debian: apt-get install chromium).
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

FLAGS = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
COLOURS = 128  # the page has few, so that many will do


def main() -> None:
    """Open the report, take the picture, make it small."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("report", type=Path)
    parser.add_argument("picture", type=Path)
    parser.add_argument("--width", type=int, default=1080)
    parser.add_argument("--height", type=int, default=1790)
    options = parser.parse_args()
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        sys.exit("There is no Chromium: apt-get install chromium.")
    with tempfile.TemporaryDirectory() as folder:
        raw = Path(folder, "raw.png")
        size = f"--window-size={options.width},{options.height}"
        more = [f"--user-data-dir={folder}/profile", f"--screenshot={raw}", "--hide-scrollbars", size]
        page = options.report.resolve().as_uri()
        quiet = subprocess.DEVNULL
        subprocess.run([browser, *FLAGS.split(), *more, page], check=True, stdout=quiet, stderr=quiet)
        options.picture.parent.mkdir(parents=True, exist_ok=True)
        Image.open(raw).convert("RGB").quantize(COLOURS).save(options.picture, optimize=True)
    print(f"{options.picture}: {os.path.getsize(options.picture) / 1000:.0f} kB")


if __name__ == "__main__":
    main()
