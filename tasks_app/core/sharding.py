"""Which shard a unit belongs to."""

import zlib
from collections.abc import Iterable
from functools import lru_cache

MOST_SHARDS = 1024


def shard_of(tenant: str, task_type: str, biz_key: str, shards: int) -> int:
    """One of `shards` numbers from 0 on, the same one each time."""
    return zlib.crc32(biz_key.encode(), _of_type(tenant, task_type)) % shards


def shards_of_keys(tenant: str, task_type: str, biz_keys: Iterable[bytes], shards: int) -> list[int]:
    """shard_of for many keys, encoded, of one type."""
    crc32, of_type = zlib.crc32, _of_type(tenant, task_type)
    return [crc32(biz_key, of_type) % shards for biz_key in biz_keys]


def home_of(task_type: str, shards: int) -> int:
    """The one shard of a type that has a limit: then one beat dispatches all of it, and counts."""
    return zlib.crc32(task_type.encode()) % shards


@lru_cache(maxsize=1000)
def _of_type(tenant: str, task_type: str) -> int:
    return zlib.crc32(f"{tenant}\0{task_type}\0".encode())
