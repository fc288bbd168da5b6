"""New rows for many tasks that are alike: column by column, part by part."""

from collections.abc import Iterator

from tasks_app.conf import conf
from tasks_app.core.handlers import REGISTRY
from tasks_app.core.lately import Lately
from tasks_app.core.tokens import packed_uuids
from tasks_app.database import atomic, unless_taken
from tasks_app.sql import run_in_parts
from tasks_app.sql.binary import instant_array, smallint_array, utf8_array, uuid_array

from .alike import PART, Alike
from .shards import shards_alike

# Tenants and types of which units were taken. Rows of others are inserted without a look for taken units first, in four
# fifths of PostgreSQL's time. If one is taken after all, that is an error, and they are inserted once more.
TAKEN = Lately()


def insert_alike(many: Alike) -> list[tuple[str, int, float]]:
    """Key, id and due time of each row that is new. Units that are in the way are left out, and all are if their tenant
    is bound. Unlike, and nothing is written, if one of them is wrong."""
    told = "task.created" in conf().kept_events
    statement = "insert_told_alike" if told else "insert_alike"
    if len(many) <= PART:
        return run_in_parts(statement, list(_parts(many)))
    tenant, task_type, _ = many.like.unit
    if (tenant, task_type) not in TAKEN:
        at_once = "insert_told_new_alike" if told else "insert_new_alike"
        rows = unless_taken(lambda: run_in_parts(at_once, _parts(many)))
        if rows is not None:
            return rows
        TAKEN.note((tenant, task_type))
    with atomic():
        return run_in_parts(statement, _parts(many))


def _parts(many: Alike) -> Iterator[dict[str, object]]:
    """What the statement is given for each part."""
    (tenant, task_type, _), at, delay, payload, lane, max_retry, repeat_after, expires_after, _ = many.like
    always = {
        "tenant": tenant,
        "task_type": task_type,
        "at": at,
        "delay": delay,
        "payload": payload or "{}",
        "lane": lane,
        "max_retry": max_retry,
        "repeat_after": repeat_after,
        "expires_after": expires_after,
        "limited": REGISTRY.is_limited(task_type),
        "kept": conf().kept_kinds,
    }
    for part in many.parts():
        yield always | {
            "biz_keys": utf8_array(part.keys),
            "shards": smallint_array(shards_alike(tenant, task_type, part.keys)),
            "tokens": uuid_array(packed_uuids(len(part.keys))),
            "ats": instant_array(part.ats),
            "payloads": utf8_array(part.payloads),
        }
