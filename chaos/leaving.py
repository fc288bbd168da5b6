"""A tenant that is archived during a run: what is in the archive's files, read without the product's own reader."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import pyarrow.parquet
from django.conf import settings
from django.db import connection
from django.test import override_settings

FOLDER = "archive"  # below the folder of the run


class Copied(NamedTuple):
    """A task as one of the files has it."""

    id: int
    key: str
    status: str
    round: int  # a row that changed before it could be removed is written once more in the next


def archive(name: str) -> None:
    from tasks_app.lifecycle import tenant_archive
    from tasks_app.lifecycle.audit import Operator

    connection.close()  # ours may have been cut with the others
    where = Path(os.environ["CHAOS_FOLDER"], FOLDER)
    where.mkdir()
    with override_settings(PUNCTUAL=settings.PUNCTUAL | {"ARCHIVE_URL": str(where)}):  # as the fleet has it
        tenant_archive.begin(name, Operator("chaos", "to see what becomes of it"))


def copies(name: str) -> list[Copied]:
    """All that its manifest knows, of tasks that were live or over."""
    from tasks_app.models import TenantArchive

    row = TenantArchive.objects.get(tenant=name)
    found = []
    for table, path, *_, number in row.parts:
        if table in ("tasks", "past"):
            file = Path(os.environ["CHAOS_FOLDER"], FOLDER, path)
            rows = pyarrow.parquet.read_table(file, columns=["id", "biz_key", "status"]).to_pylist()
            found += [Copied(one["id"], one["biz_key"], one["status"], number) for one in rows]
    return found


def newest(found: Iterable[Copied]) -> dict[int, Copied]:
    """Of each task, the last that was written."""
    return {one.id: one for one in sorted(found, key=lambda one: one.round)}


def wrong_leaving(state: str, left_behind: int, removed: int, found: Mapping[int, Copied], here: set[int]) -> list[str]:
    """What is wrong with a tenant that should have left: its state, its rows here, and those in the files."""
    wrong = [] if state == "ARCHIVED" else [f"the tenant is {state}"]
    if left_behind:
        wrong.append(f"{left_behind} of its tasks are still in the database")
    if both := len(here & found.keys()):
        wrong.append(f"{both} of its tasks are in the archive and in the database")
    if removed < len(found):
        wrong.append(f"{len(found)} of its tasks are in the files, and only {removed} rows were removed")
    return wrong
