"""Print the lowest versions that pyproject.toml allows, as constraints for pip.

    python scripts/lowest_versions.py > lowest.txt
    pip install --constraint lowest.txt .

With names of extras, their dependencies are printed too.  `--skip` names packages to leave out,
such as torch where the index has no build of its lowest version for processors.
"""

from __future__ import annotations

import argparse
import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

PROJECT = Path(__file__).parent.parent / "pyproject.toml"
BOUND = re.compile(r"(?P<name>[A-Za-z0-9._-]+)(?:\[[^]]*\])?\s*>=\s*(?P<version>[^,;\s]+)")


def lowest(requirements: Iterable[str]) -> Iterator[str]:
    """Yield ``name==version`` of each requirement with a lower bound."""
    for requirement in requirements:
        if found := BOUND.match(requirement):
            yield f"{found['name']}=={found['version']}"


def main() -> None:
    """Read the arguments and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("extras", nargs="*", help="extras whose dependencies are included")
    parser.add_argument("--skip", action="append", default=[], help="a package to leave out")
    options = parser.parse_args()
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    requirements = list(project["dependencies"])
    for extra in options.extras:
        requirements += project["optional-dependencies"][extra]
    for line in lowest(requirements):
        if line.partition("==")[0] not in options.skip:
            print(line)


if __name__ == "__main__":
    main()
