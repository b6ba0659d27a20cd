"""Print pip constraints that pin every library to the oldest version pyproject.toml allows."""

import tomllib
from pathlib import Path


def lower_bounds(project: dict) -> list[str]:
    """Return ``name==version`` for each ``name>=version`` among the run-time and `dev` dependencies."""
    requirements = project["dependencies"] + project["optional-dependencies"]["dev"]
    return [requirement.replace(">=", "==") for requirement in requirements]


if __name__ == "__main__":
    pyproject = Path(__file__).parents[1] / "pyproject.toml"
    print(*lower_bounds(tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]), sep="\n")
