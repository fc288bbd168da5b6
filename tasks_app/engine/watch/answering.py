"""Which server answers while nobody takes writes, and how old is what it knows: for commands that only read."""

from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta

from tasks_app.core.phrases import counted, span
from tasks_app.database import our_connection
from tasks_app.engine.primaries import where
from tasks_app.sql import run


@dataclass(frozen=True, slots=True)
class Answering:
    server: str  # host:port, as DATABASES names it
    standby: bool  # False: it takes writes, and another one was promoted past it
    last_change: datetime | None  # None: it can't tell
    last_change_seconds_ago: float | None
    unapplied_bytes: int | None  # of the log, that it has got

    def __str__(self) -> str:
        if not self.standby:
            return (
                f"Read from {self.server}, which another server was promoted past, since no other one answers. It may "
                "be long out of date."
            )
        return f"Read from the standby {self.server}, since no server of the database takes writes. {self._age}"

    def as_json(self) -> dict[str, object]:
        return asdict(self) | {"last_change": self.last_change and self.last_change.isoformat()}

    @property
    def _age(self) -> str:
        if self.last_change is None or self.last_change_seconds_ago is None:
            return "How old its last change is can't be told."
        ago = span(timedelta(seconds=max(1, round(self.last_change_seconds_ago))))
        at = f"{self.last_change.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
        left = self.unapplied_bytes or 0
        rest = f"; {counted(left, 'byte')} of the log that it has got are not applied yet" if left else ""
        return f"Its last change was committed {ago} ago, at {at}{rest}."


def read_answering() -> Answering:
    return Answering(where(our_connection()), *run("read_answering", {})[0])
