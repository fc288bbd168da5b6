"""What is encrypted of a task, shown to somebody who may see it: each look is audited. Who may, the caller says."""

import json
from enum import StrEnum
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


class Hidden(StrEnum):
    """What there is to see."""

    PAYLOAD = "payload"
    RESULT = "result"
    ERROR = "error"
    LOG = "log"


class Part(NamedTuple):
    what: Hidden
    value: object  # a payload or a result as it was given; else a text
    attempt: int | None = None  # the try that it is of; None: the task

    @property
    def title(self) -> str:
        match self.what, self.attempt:
            case Hidden.ERROR, None:
                return "Last error"
            case Hidden.ERROR, attempt:
                return f"Try {attempt}, which failed"
            case Hidden.LOG, attempt:
                return f"Log of try {attempt}"
        return self.what.capitalize()

    @property
    def text(self) -> str:
        is_json = self.what in (Hidden.PAYLOAD, Hidden.RESULT)
        return json.dumps(self.value, indent=2, ensure_ascii=False) if is_json else str(self.value)


def reveal(row: TaskFields, operator: Operator) -> list[Part]:
    """Raises Unreadable and KeyOutOfReach, and NothingToDo if nothing of it is encrypted: then nobody has looked."""
    with atomic():
        plain, parts = open_row(row), []
        if isinstance(row.payload, Encrypted):
            parts.append(Part(Hidden.PAYLOAD, plain.payload))
        if isinstance(row.result, Encrypted):
            parts.append(Part(Hidden.RESULT, plain.result))
        if plain.error is not None:
            parts.append(Part(Hidden.ERROR, plain.error))
        parts += [*_tries(row), *_logs(row)]
        if not parts:
            raise NothingToDo(f"nothing of task {row.id} is encrypted.")
        detail = {"shown": [part.title for part in parts]}
        entry = Entry(f"task {row.id}", "decrypted", row.id, detail, row.tenant, row.task_type)
        audit(operator, "decrypt", [entry])
    return parts


def _tries(row: TaskFields) -> list[Part]:
    tries = TaskAttempt.objects.filter(task_id=row.id).order_by("-id")[:TRIES]
    hidden = [one for one in tries if isinstance(one.error_msg, Encrypted)]
    texts = open_texts(row.tenant, row.id, "error", [one.error_msg for one in hidden])
    return [Part(Hidden.ERROR, text, one.attempt) for one, text in zip(hidden, texts, strict=True)]


def _logs(row: TaskFields) -> list[Part]:
    found = []
    for one in TaskLog.objects.filter(task_id=row.id).order_by("-id")[:LOGS]:
        hidden = [(line, line.text) for line in lines_of(one) if isinstance(line.text, Encrypted)]
        texts = open_texts(row.tenant, row.id, "log", [sealed for _, sealed in hidden])
        lines = [f"{line.at:%H:%M:%S} {line.level} {text}" for (line, _), text in zip(hidden, texts, strict=True)]
        if lines:
            found.append(Part(Hidden.LOG, "\n".join(lines), one.attempt))
    return found
