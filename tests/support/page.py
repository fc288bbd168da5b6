"""The steps of a page of the docs, as somebody follows them who types and pastes what it says."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal


@dataclass(frozen=True)
class Step:
    kind: Literal["console", "sh", "diff", "python"]
    text: str
    file: str  # the file that the text above named last, such as shop/urls.py
    section: str

    def commands(self) -> list[tuple[str, str]]:
        """Each command with the output that the page shows for it."""
        parts = re.split(r"^\$ ", self.text, flags=re.MULTILINE)[1:]
        return [(command, output) for command, _, output in (part.partition("\n") for part in parts)]

    def apply(self, project: Path) -> None:
        path = project / self.file
        if self.kind == "python":
            assert not path.exists(), f"the page makes {self.file}, which is there"
            path.write_text(self.text)
        else:
            self._replace(path, self._lines(" -"), self._lines(" +"))

    def take_back(self, project: Path) -> None:
        path = project / self.file
        if self.kind == "python":
            path.unlink()
        else:
            self._replace(path, self._lines(" +"), self._lines(" -"))

    def _lines(self, kinds: str) -> str:
        return "".join(f"{line[1:]}\n" for line in self.text.splitlines() if line[:1] in kinds)

    def _replace(self, path: Path, before: str, after: str) -> None:
        text = path.read_text()
        assert text.count(before) == 1, f"{self.file} has not once:\n{before}"
        path.write_text(text.replace(before, after))


def steps_of(page: Path) -> list[Step]:
    found, file, section = [], "", ""
    for prose, kind, text in re.findall(r"(.*?)^```(\w+)\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE):
        section = (re.findall(r"^## (?:\d+\. )?(.+)$", prose, re.MULTILINE) or [section])[-1]
        file = (re.findall(r"`([\w-]+/[\w/-]+\.py)`", prose) or [file])[-1]
        found.append(Step(kind, text, file, section))
    return found


def says(page: str, seen: str) -> bool:
    """Whether what was seen is what the page shows: numbers may differ, blanks too, and … is anything."""
    return re.fullmatch(_pattern(page), _plain(seen)) is not None


def _plain(text: str) -> str:
    return "\n".join(re.sub(r"\s+", " ", line).strip() for line in text.strip().splitlines())


def _pattern(page: str) -> str:
    pattern = re.escape(_plain(page)).replace("…", ".*")
    return "(?s)" + re.sub(r"\d+(\\?\.\d+)?", r"[\\d.]+", pattern)
