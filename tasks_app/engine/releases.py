"""What waits for others is looked at as soon as those are over: after their commit. Then the dispatchers are told.

Whoever is killed before that changes nothing: the beats find all that is to be released (beat/releaser.py).
"""

from collections.abc import Sequence

from tasks_app.database import on_commit
from tasks_app.lifecycle.release import release_children

from .wakeup import SENDER


def release_on_commit(parents: Sequence[int]) -> None:
    """After the commit of the caller's transaction; now, if there is none. The caller does not hear of an error."""
    if parents:
        on_commit(lambda: SENDER.wake(release_children(parents).dues))
