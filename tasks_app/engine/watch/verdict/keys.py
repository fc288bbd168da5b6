"""Rules about the keys that encrypt."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tasks_app.core.said import said, said_of

from .problem import NAMED, Problem, notice, trouble

if TYPE_CHECKING:
    from ..status import SchedulerStatus


def keys_out_of_reach(status: SchedulerStatus) -> Iterator[Problem]:
    """Told by every process that lacks the key; of beats and workers, by all: so also of one that was restarted without
    it before the others."""
    missing, lacking = status.keys.missing, status.keys.lacking
    way_out = said(
        'Put it back into PUNCTUAL["SECRET_KEYS"] before its last copy is gone, run `manage.py secrets rotate`, '
        "and only then take it out."
    )
    if missing:
        yield trouble(
            said(
                "Keys of tenants are sealed with a key of the installation that is missing here: what they have "
                "encrypted can't be read."
            ),
            way_out,
            said("Missing: {keys}.", keys=", ".join(missing)),
        )
    elif lacking:
        nodes = {name for name, _ in lacking}
        yield trouble(
            said_of(
                "A beat or worker lacks a key of the installation that keys of tenants are sealed with: what those "
                "have encrypted can't be read there.",
                "{count} beats and workers lack a key of the installation that keys of tenants are sealed with: what "
                "those have encrypted can't be read there.",
                len(nodes),
                count=len(nodes),
            ),
            way_out,
            f"{'; '.join(f'{name} lacks {master}' for name, master in lacking[:NAMED])}.",
        )


def keys_not_rotated(status: SchedulerStatus) -> Iterator[Problem]:
    """What is told before anybody takes a key away that is still needed."""
    old = [master for master in status.keys.old if master not in status.keys.missing]
    if old and not status.keys.lacking:
        yield notice(
            said("Keys of tenants are still sealed with an older key of the installation."),
            said("Run `manage.py secrets rotate`; until then, leave that key where it is."),
            said("Still needed: {keys}.", keys=", ".join(old)),
        )
