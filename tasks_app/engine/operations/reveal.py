"""What is encrypted of a task, shown to somebody who may see it: each look is audited. Who may, the caller says."""

import json
from collections.abc import Sequence
from typing import NamedTuple

from tasks_app.core.confidential import Encrypted
from tasks_app.core.errors import NothingToDo
from tasks_app.database import atomic
from tasks_app.lifecycle.audit import Entry, Operator, audit
from tasks_app.lifecycle.confidential import open_row, open_texts
from tasks_app.lifecycle.logs import lines_of
from tasks_app.models import TaskAttempt, TaskLog
from tasks_app.models.schedule_task import TaskFields

TRIES = 50
LOGS = 10


class Revealed(NamedTuple):
    parts: Sequence[tuple[str, str]]  # what it is, and its text


def reveal(row: TaskFields, operator: Operator) -> Revealed:
    """Raises Unreadable and KeyOutOfReach, and NothingToDo if nothing of it is encrypted: then nobody has looked."""
    with atomic():
        plain, parts = open_row(row), []
        if isinstance(row.payload, Encrypted):
            parts.append(("Payload", _pretty(plain.payload)))
        if isinstance(row.result, Encrypted):
            parts.append(("Result", _pretty(plain.result)))
        if plain.error is not None:
            parts.append(("Last error", plain.error))
        parts += [*_tries(row), *_logs(row)]
        if not parts:
            raise NothingToDo(f"nothing of task {row.id} is encrypted.")
        detail = {"shown": [what for what, _ in parts]}
        entry = Entry(f"task {row.id}", "decrypted", row.id, detail, row.tenant, row.task_type)
        audit(operator, "decrypt", [entry])
    return Revealed(parts)


def _tries(row: TaskFields) -> list[tuple[str, str]]:
    tries = TaskAttempt.objects.filter(task_id=row.id).order_by("-id")[:TRIES]
    hidden = [one for one in tries if isinstance(one.error_msg, Encrypted)]
    texts = open_texts(row.tenant, row.id, "error", [one.error_msg for one in hidden])
    return [(f"Try {one.attempt}, which failed", text) for one, text in zip(hidden, texts, strict=True)]


def _logs(row: TaskFields) -> list[tuple[str, str]]:
    found = []
    for one in TaskLog.objects.filter(task_id=row.id).order_by("-id")[:LOGS]:
        hidden = [line for line in lines_of(one) if isinstance(line.text, Encrypted)]
        texts = open_texts(row.tenant, row.id, "log", [line.text for line in hidden])
        lines = [f"{line.at:%H:%M:%S} {line.level} {text}" for line, text in zip(hidden, texts, strict=True)]
        if lines:
            found.append((f"Log of try {one.attempt}", "\n".join(lines)))
    return found


def _pretty(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
