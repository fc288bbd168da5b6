"""The shards whose tasks a dispatcher may claim."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class HeldShards:
    holder: str  # the name of the dispatcher
    fences: Mapping[int, int] = field(default_factory=dict)  # by shard: its fencing number
    total: int = 0  # shards of all dispatchers

    def __len__(self) -> int:
        return len(self.fences)

    @property
    def part(self) -> float:
        """Of all shards, and so of the workers' free slots."""
        return len(self) / max(self.total, 1)
