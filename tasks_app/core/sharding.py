"""Which shard a unit belongs to."""

import zlib
from functools import lru_cache

SHARD_COUNT = 16


def shard_of(tenant: str, task_type: str, biz_key: str) -> int:
    return zlib.crc32(biz_key.encode(), _of_type(tenant, task_type)) % SHARD_COUNT


@lru_cache(maxsize=1000)
def _of_type(tenant: str, task_type: str) -> int:
    return zlib.crc32(f"{tenant}\0{task_type}\0".encode())
