from typing import Any

def __getattr__(name: str) -> Any: ...  # the rest has no types
