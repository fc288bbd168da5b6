"""What a product's row says of its task: how old its stock is, how the last sync went, and when the next one is."""

from datetime import datetime, timedelta

from django.utils.translation import gettext, gettext_lazy, gettext_noop

from django_punctual import Status, TaskInfo
from inventory_app import stock

CAUSES = {
    stock.NOT_FOUND: gettext_lazy("unknown to the stock system"),
    stock.REFUSED: gettext_lazy("refused"),
    stock.MALFORMED: gettext_lazy("malformed answer"),
    stock.BUSY: gettext_lazy("too busy"),
    stock.UNAVAILABLE: gettext_lazy("unavailable"),
    stock.TIMEOUT: gettext_lazy("no answer in time"),
}
# Which `translate_names` asks for, and charts.
NOUNS = (gettext_noop("product"), gettext_noop("products"))
COLUMNS = (gettext_noop("product code"), gettext_noop("stock quantity"))
_PACES = (
    (gettext_lazy("{count} a second"), 1),
    (gettext_lazy("{count} a minute"), 60),
    (gettext_lazy("{count} an hour"), 3_600),
    (gettext_lazy("{count} a day"), 86_400),
)
LEAST = 0.01  # a day, and of a percent: nobody counts what is less
TONES = ("success", "warning", "info", "danger", "primary")  # unfold's colours of an outcome


def cause(code: str) -> str:
    """An error code as people say it; one that is not ours stays as it is."""
    return str(CAUSES.get(code, code))


def span(length: timedelta) -> str:
    """To a unit or two: 10 d, 1 d 12 h, 90 min, 30 s."""
    seconds = round(length.total_seconds())
    for unit, size, below, part in (("d", 86_400, "h", 3_600), ("h", 3_600, "min", 60), ("min", 60, "s", 1)):
        if seconds >= size:
            rest = seconds % size // part
            return f"{seconds // size} {unit}" + (f" {rest} {below}" if rest and seconds < 10 * size else "")
    return f"{seconds} s"


def pace(a_second: float) -> str:
    """How often, by the unit in which that is once or more: 12 a second, 2.08 an hour."""
    words, seconds = next((one for one in _PACES if a_second * one[1] >= 1), _PACES[-1])
    count = a_second * seconds
    if 0 < count < LEAST:
        return str(gettext("less than {count} a day").format(count=LEAST))
    return str(words.format(count=f"{count:,.0f}" if count >= 100 else f"{count:.3g}"))


def share(part: float) -> str:
    """In percent: 12.5%, 120%, <0.01%."""
    percent = 100 * part
    if 0 < percent < LEAST:
        return f"<{LEAST}%"
    return f"{percent:,.0f}%" if percent >= 100 else f"{percent:.3g}%"


def age(synced_at: datetime | None, now: datetime) -> str:
    if synced_at is None:
        return str(gettext("never synced"))
    return str(gettext("{time} ago").format(time=span(max(now - synced_at, timedelta(0)))))


def outcome(task: TaskInfo | None) -> tuple[str, str]:
    """How the last sync went, and which colour that has."""
    if task is None:
        return gettext("no task"), "danger"
    match task.status:
        case Status.SUCCESS:
            return gettext("synced"), "success"
        case Status.FAIL:
            return gettext("failed: {cause}").format(cause=cause(task.error_code)), "warning"
        case Status.RUNNING | Status.AWAY:
            return gettext("being synced"), "info"
        case Status.CANCELLED | Status.DEAD:
            return gettext("no longer synced: {state}").format(state=task.status.lower()), "danger"
    # Given back by a worker that was stopped or lost: it was tried before, and this time did not end.
    return gettext("not yet tried") if task.finish_time is None else gettext("interrupted, will run again"), "primary"


def next_sync(task: TaskInfo | None, now: datetime) -> str:
    if task is None or task.due_at is None:
        return str(gettext("now")) if task is not None and task.status in (Status.RUNNING, Status.AWAY) else "–"
    if task.aside:
        return str(gettext("put aside for now"))
    wait = task.due_at - now
    if wait > timedelta(0):
        return str(gettext("in {time}").format(time=span(wait)))
    return str(gettext("due, waiting for its turn"))
