"""A Python environment that has what some requirements ask for, and nothing else.

What it has are links to the packages that the tests run on: their versions are the locked ones, nothing is downloaded,
and it is made in a second. What nobody asks for can't be imported.
"""

import sys
import venv
from collections.abc import Iterable
from email import message_from_bytes
from importlib.metadata import Distribution, distribution
from pathlib import Path
from zipfile import ZipFile

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

_SCRIPT = "#!{python}\nimport sys\n\nfrom {module} import {function}\n\nsys.exit({function}())\n"


def clean_environment(folder: Path, wanted: Iterable[str]) -> Path:
    """Make it in this folder; returns where its programs are."""
    venv.create(folder, with_pip=False, symlinks=True)
    programs = folder / "bin"
    packages = folder / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
    for found in _closure(wanted):
        _link(found, packages)
        for script in found.entry_points.select(group="console_scripts"):
            path = programs / script.name
            path.write_text(_SCRIPT.format(python=programs / "python", module=script.module, function=script.attr))
            path.chmod(0o755)
    return programs


def asked_by(wheel: Path, *extras: str) -> list[str]:
    """What the wheel itself asks for."""
    with ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        lines = message_from_bytes(archive.read(name)).get_all("Requires-Dist")
    return [
        line.partition(";")[0]
        for line in lines
        if (marker := Requirement(line).marker) is None or any(marker.evaluate({"extra": extra}) for extra in extras)
    ]


def _closure(wanted: Iterable[str]) -> list[Distribution]:
    """All that these requirements ask for, directly or not."""
    found: dict[str, Distribution] = {}
    asked: set[tuple[str, str]] = set()
    waiting = [Requirement(line) for line in wanted]
    while waiting:
        one = waiting.pop()
        for extra in ("", *one.extras):
            if (one.name, extra) in asked:
                continue
            asked.add((one.name, extra))
            package = found.setdefault(canonicalize_name(one.name), distribution(one.name))
            waiting += [
                needed
                for line in package.requires or []
                if (needed := Requirement(line)).marker is None or needed.marker.evaluate({"extra": extra})
            ]
    return list(found.values())


def _link(package: Distribution, packages: Path) -> None:
    for name in {file.parts[0] for file in package.files or []} - {"..", "__pycache__"}:
        link = packages / name
        if not link.exists():
            link.symlink_to(Path(str(package.locate_file(name))))
