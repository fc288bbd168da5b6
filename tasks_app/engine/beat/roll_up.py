"""The roll-up: figures of batches become figures of minutes and types, so that no chart has to read batches."""

from tasks_app.sql import run

SETTLED_SECONDS = 10.0  # a minute is rolled up so long after its end
MINUTES = 24 * 60  # so far back it looks for what a beat that was away has left


def roll_up() -> str:
    """Returns what it did, for the log."""
    return f"{len(run('roll_up', {'minutes': MINUTES, 'settled': SETTLED_SECONDS}))} rows"
