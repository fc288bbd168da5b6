"""Which shard a unit belongs to."""

import zlib

SHARD_COUNT = 16


def shard_of(tenant: str, task_type: str, biz_key: str) -> int:
    return zlib.crc32(f"{tenant}\0{task_type}\0{biz_key}".encode()) % SHARD_COUNT
