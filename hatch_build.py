"""What the distribution has beside tasks_app: the pages of docs/, addresses, and a README whose links work anywhere."""

import re
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

PROJECT_PAGES = {"Documentation": "docs/README.md", "Changelog": "CHANGELOG.md", "Security": "SECURITY.md"}
LINK = re.compile(r"(!?)(\[(?:[^][]|\[[^]]*\])*\])\((?!\w+:|#)([^)\s]+)\)")


class Pages(BuildHookInterface):
    """For `manage.py punctual_help` and the console. An editable install reads them where they are."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        docs = Path(self.root, "docs")
        for file in docs.rglob("*.md"):
            name = file.relative_to(docs)
            if name.parts[0] != "contributing":
                build_data["force_include"][str(file)] = f"tasks_app/docs/{name.as_posix()}"


class Addresses(MetadataHookInterface):
    """All are made from the one in pyproject.toml."""

    def update(self, metadata: dict[str, Any]) -> None:
        repository = self.config["repository"].rstrip("/")
        text = Path(self.root, "tasks_app", "__init__.py").read_text()
        release = "v" + re.search(r'__version__ = "(.+)"', text)[1]  # the tag of the release

        def absolute(found: re.Match[str]) -> str:
            picture, words, path = found.groups()
            return f"{picture}{words}({repository}/{'raw' if picture else 'blob'}/{release}/{path})"

        readme = LINK.sub(absolute, Path(self.root, "README.md").read_text())
        metadata["readme"] = {"content-type": "text/markdown", "text": readme}
        metadata["urls"] = {"Source": repository} | {
            name: f"{repository}/blob/{release}/{path}" for name, path in PROJECT_PAGES.items()
        }
