"""How much of the disk the embedded PostgreSQL takes for its write-ahead log between two checkpoints."""

import shutil
from pathlib import Path

GB = 1024**3
SHARE = 8  # the disk is not the log's alone
LEAST, MOST = 1 * GB, 16 * GB


def max_wal_size(place: Path) -> str:
    """An eighth of what is free: the first write to a page after a checkpoint logs the whole page, so at 40 MB/s of log
    and a checkpoint after every 2 GB most of the log would be such pages."""
    return f"{min(max(shutil.disk_usage(place).free // SHARE, LEAST), MOST) // GB}GB"
