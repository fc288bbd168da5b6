"""What is encrypted of tasks and jobs: when they are written, when they run, and when somebody may read them.

A payload is encrypted if its tenant or its type asks for that; a task whose payload is encrypted has its results,
errors and log lines encrypted, too, so nothing has to be asked when it is settled. Others pay for nothing: the
statements that write payloads leave out what should be encrypted and is not, and only then anybody asks why.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from tasks_app.core.confidential import (
    LONGEST_NUMBER,
    RESERVED,
    STRANGE,
    DataKey,
    Encrypted,
    KeyOutOfReach,
    Unreadable,
    key_number,
    number_within,
    of_job,
    of_payload,
    of_task,
    of_unit,
    open_json,
)
from tasks_app.core.handlers import REGISTRY
from tasks_app.core.task import Failure, Parents, Returned, Task
from tasks_app.models import JobDefinition, Tenant
from tasks_app.models.schedule_task import TaskFields

from .asking import ASKING
from .data_keys import newest_keys, opened_keys
from .quotas import refuse_large_payload
from .request import Unit

UNREADABLE = "UNREADABLE"  # the code of a task that nobody can run, since its payload can't be opened
KEY_OUT_OF_REACH = "KEY_OUT_OF_REACH"  # of one that this worker can't run, and another, or this one later, may
AGAIN_SECONDS = 30.0


# ---- where payloads are written ----


class Payloads(NamedTuple):
    """What is stored of payloads."""

    texts: list[str | None]  # JSON; None: that of a task that is there stays
    in_bytes: list[bytes | None]  # what is encrypted and not in the text


def hide_payloads(units: Sequence[Unit], texts: Sequence[str | None], *, bound: bool = True) -> Payloads:
    """The payloads of new tasks, JSON texts, each encrypted if its tenant or its type asks for that.

    `bound`: by the quotas of tenants, which are about what was given, and not about what is stored of it.
    """
    found = Payloads(list(texts), [None] * len(texts))
    _hide(found, range(len(texts)), units, [of_unit(*unit) for unit in units], bound=bound)
    return found


def hide_payloads_of(units: Sequence[Unit], texts: Sequence[str | None], jobs: Sequence[int | None]) -> Payloads:
    """The same for tasks that are there, which may be instances of jobs."""
    found = Payloads(list(texts), [None] * len(texts))
    given = [place for place, text in enumerate(texts) if text is not None]
    if given:
        _hide(found, given, units, [of_payload(*unit, job) for unit, job in zip(units, jobs, strict=True)])
    return found


def hide_job_payload(tenant: str, task_type: str, job: int, payload: object) -> object:
    """The payload of a job, or of an instance that somebody triggers, encrypted if that is asked for."""
    if isinstance(payload, Encrypted):
        return payload
    if task_type not in REGISTRY.encrypted and not Tenant.objects.filter(name=tenant, encrypted=True).exists():
        return payload
    newest = newest_keys([tenant])[tenant]
    [found] = newest.key.encrypt([json.dumps(payload, ensure_ascii=False)], [of_job(tenant, job)])
    return found


def asks(tenant: str, task_type: str) -> bool:
    return task_type in REGISTRY.encrypted or Tenant.objects.filter(name=tenant, encrypted=True).exists()


def _hide(
    found: Payloads, places: Sequence[int], units: Sequence[Unit], bound_to: Sequence[bytes], *, bound: bool = True
) -> None:
    """Those at these places, if they are to be."""
    types = REGISTRY.encrypted
    by_type = {units[place][0] for place in places if units[place][1] in types}
    asking = {units[place][0] for place in places} & ASKING - by_type
    keys = newest_keys(by_type) | newest_keys(asking, only_if_asked=True)
    ASKING.difference_update(tenant for tenant, newest in keys.items() if newest is None)
    for tenant, newest in keys.items():
        if newest is None:
            continue
        mine = [p for p in places if units[p][0] == tenant and (newest.asks or units[p][1] in types)]
        texts = [found.texts[place] or "" for place in mine]
        if bound and newest.max_payload_bytes is not None:
            for text in texts:
                refuse_large_payload(tenant, len(text.encode()), newest.max_payload_bytes)
        for place, (text, data) in zip(
            mine, hidden_payloads(newest.key, texts, [bound_to[p] for p in mine]), strict=True
        ):
            found.texts[place], found.in_bytes[place] = text, data


def hidden_payloads(
    key: DataKey, texts: Sequence[str], bound_to: Sequence[bytes]
) -> Iterator[tuple[str, bytes | None]]:
    """Payloads of tasks, JSON texts, as they are stored: as the key says, in the text or in bytes beside it."""
    if not key.in_bytes:
        return ((one.json_text, None) for one in key.encrypt(texts, bound_to))
    beside = key.beside.json_text
    return ((beside, one) for one in key.encrypt_bytes(texts, bound_to))


# ---- where tasks run ----


class Cipher(NamedTuple):
    """Hides what a run of an encrypted task leaves behind."""

    key: DataKey
    tenant: str
    task: int

    def result(self, text: str) -> str:
        """JSON text as it is stored."""
        return self._hide(text, "result").json_text

    def error(self, text: str) -> str:
        return self._hide(text, "error").as_text

    def trace(self, text: str) -> str:
        return self._hide(text, "trace").as_text if text else ""

    def line(self, text: str) -> str:
        return self._hide(text, "log").as_text

    def _hide(self, text: str, what: str) -> Encrypted:
        [found] = self.key.encrypt([text], [of_task(self.tenant, self.task, what)])
        return found


class Opened(NamedTuple):
    """A batch whose payloads were opened, as far as they can be."""

    tasks: list[Task]  # that can run
    ciphers: Mapping[int, Cipher]  # by task, of those that are encrypted
    ended: Sequence[tuple[Task, Failure | Returned]]  # that can't


NOTHING_HIDDEN: Mapping[int, Cipher] = MappingProxyType({})


def open_tasks(tasks: list[Task], in_bytes: Mapping[int, bytes]) -> Opened:
    """Tasks that were loaded to be run, with what they need in the clear; in one statement, if any is encrypted.

    `in_bytes`: by task, what was stored beside its payload.
    """
    hidden = [(task, number) for task in tasks if (number := number_within(task.stored_payload)) is not None]
    results = {task.id: found for task in tasks if task.has_parents and (found := _hidden_results(task.parents.text))}
    if not hidden and not results:
        return Opened(tasks, NOTHING_HIDDEN, ())
    named = {number: _number(number) for number in {number for _, number in hidden}}
    numbers = {*named.values(), *(_number_of(one) for found in results.values() for one in found.values())}
    keys = opened_keys({number for number in numbers if number is not None})
    by_name = {name: keys[number] if number is not None else STRANGE for name, number in named.items()}
    ciphers: dict[int, Cipher] = {}
    ended: dict[int, tuple[Task, Failure | Returned]] = {}
    for task, number in hidden:
        try:
            key = _usable(by_name[number])
            bound_to = of_payload(task.tenant, task.type, task.key, task.job)
            task.stored_payload = open_json(task.stored_payload, key, bound_to, in_bytes.get(task.id))
            ciphers[task.id] = Cipher(key, task.tenant, task.id)
        except (Unreadable, KeyOutOfReach) as error:
            ended[task.id] = task, _end_of(error)
    for task in tasks:
        if task.id in results and task.id not in ended:
            try:
                _open_parents(task, results[task.id], keys)
            except (Unreadable, KeyOutOfReach) as error:
                ended[task.id] = task, _end_of(error)
    runs = [task for task in tasks if task.id not in ended] if ended else tasks
    return Opened(runs, ciphers, list(ended.values()))


def _end_of(error: Unreadable | KeyOutOfReach) -> Failure | Returned:
    if isinstance(error, Unreadable):
        return Failure(UNREADABLE, str(error), final=True)
    return Returned(KEY_OUT_OF_REACH, str(error), delay=AGAIN_SECONDS)


def cipher_of(tenant: str, task: int, envelope: str) -> Cipher:
    """For what is reported about a task whose payload has this envelope. Raises Unreadable and KeyOutOfReach."""
    number = key_number(envelope)
    return Cipher(_key_of(envelope, opened_keys([number])), tenant, task)


def _hidden_results(text: str) -> dict[str, str]:
    """Of the parents of a task, by name, the envelopes of what they returned."""
    if f'"{RESERVED}"' not in text:
        return {}
    found = {}
    for name, (_, _, result) in json.loads(text).items():
        if isinstance(result, dict) and len(result) == 1 and isinstance(result.get(RESERVED), str):
            found[name] = result[RESERVED]
    return found


def _open_parents(
    task: Task, envelopes: Mapping[str, str], keys: Mapping[int, DataKey | Unreadable | KeyOutOfReach]
) -> None:
    if not envelopes:
        return
    parents = json.loads(task.parents.text)
    for name, envelope in envelopes.items():
        number, status, _ = parents[name]
        text = _key_of(envelope, keys).decrypt(envelope, of_task(task.tenant, number, "result"))
        parents[name] = [number, status, json.loads(text)]
    task.parents = Parents(json.dumps(parents))


def _number(name: str) -> int | None:
    """Of a key, by what stands for it; None: nothing that was encrypted here names one so."""
    return int(name) if name.isdecimal() and len(name) <= LONGEST_NUMBER else None


def _number_of(envelope: str) -> int | None:
    try:
        return key_number(envelope)
    except Unreadable:
        return None


def _key_of(envelope: str, keys: Mapping[int, DataKey | Unreadable | KeyOutOfReach]) -> DataKey:
    return _usable(keys[key_number(envelope)])


def _usable(found: DataKey | Unreadable | KeyOutOfReach) -> DataKey:
    if not isinstance(found, DataKey):
        raise found
    return found


# ---- where somebody may read them ----


class Plain(NamedTuple):
    """What was encrypted of a task, in the clear; None: nothing was."""

    payload: object = None
    result: object = None
    error: str | None = None


def is_hidden(row: TaskFields | JobDefinition) -> bool:
    names = ("payload",) if isinstance(row, JobDefinition) else ("payload", "result", "error_msg")
    return any(isinstance(getattr(row, name), Encrypted) for name in names)


def open_row(row: TaskFields) -> Plain:
    """What is encrypted of a task in the clear. Raises Unreadable and KeyOutOfReach. Who may see it is not asked."""
    hidden = {name: getattr(row, name) for name in ("payload", "result", "error_msg")}
    hidden = {name: value for name, value in hidden.items() if isinstance(value, Encrypted)}
    keys = opened_keys({value.key for value in hidden.values()})
    bound_to = {
        "payload": of_payload(row.tenant, row.task_type, row.biz_key, row.job),
        "result": of_task(row.tenant, row.id, "result"),
        "error_msg": of_task(row.tenant, row.id, "error"),
    }
    found = {
        name: _key_of(value.envelope, keys).decrypt(
            value.envelope, bound_to[name], row.payload_bytes if name == "payload" else None
        )
        for name, value in hidden.items()
    }
    return Plain(
        json.loads(found["payload"]) if "payload" in found else None,
        json.loads(found["result"]) if "result" in found else None,
        found.get("error_msg"),
    )


def open_texts(tenant: str, task: int, what: str, texts: Sequence[Encrypted]) -> list[str]:
    """Messages or log lines of a task in the clear. Raises Unreadable and KeyOutOfReach."""
    keys, bound_to = opened_keys({text.key for text in texts}), of_task(tenant, task, what)
    return [_key_of(text.envelope, keys).decrypt(text.envelope, bound_to) for text in texts]


def open_job_payload(job: JobDefinition) -> object:
    """Raises Unreadable and KeyOutOfReach."""
    if not isinstance(job.payload, Encrypted):
        return job.payload
    [text] = _opened_texts([job.payload], of_job(job.tenant, job.id))
    return json.loads(text)


def _opened_texts(values: Sequence[Encrypted], bound_to: bytes) -> list[str]:
    keys = opened_keys({value.key for value in values})
    return [_key_of(value.envelope, keys).decrypt(value.envelope, bound_to) for value in values]
