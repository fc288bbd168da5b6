"""Refuses to build the client without its generated part."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class GeneratedFirst(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        generated = Path(self.root) / "punctual_client" / "generated"
        if not (generated / "operations.py").exists():
            raise RuntimeError(
                f"{generated} is missing. Run `make clients` in the checkout first: it generates this part."
            )
