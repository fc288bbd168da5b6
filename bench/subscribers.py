"""The subscriber that is measured: it writes down when it was called, with how many events, and how old they were."""

import os
import time

from django_punctual import subscriber

FILE = "BENCH_EVENTS"  # the variable that names the file


@subscriber("bench")
def note(events) -> None:
    now = time.time()
    rows: dict[int, list] = {}  # by row: its events have one time
    for event in events:
        rows.setdefault(event.row, [event.time, 0])[1] += 1
    with open(os.environ[FILE], "a") as file:
        file.writelines(f"{now!r} {count} {now - moment.timestamp():.6f}\n" for moment, count in rows.values())
