"""After `migrate`: the tables, new ones too, have their policies, and the roles their rights."""

import logging
from collections.abc import Sequence

from django.db import DatabaseError
from django.db.migrations import Migration

from .conf import conf
from .core.errors import InvalidConfiguration
from .database import our_connection
from .storage.isolation import can_set_up, set_up

log = logging.getLogger(__name__)


def isolate_tenants(
    using: str, plan: Sequence[tuple[Migration, bool]] | None = None, verbosity: int = 1, **_: object
) -> None:
    """If this login may; if not, a check tells what is missing. Without a plan it was `flush`, and no migration."""
    try:
        ours = conf().DATABASE
    except InvalidConfiguration:
        return  # the checks tell
    if using != ours or our_connection().vendor != "postgresql" or plan is None or any(back for _, back in plan):
        return
    try:
        if not can_set_up():
            return
        done = set_up()
    except DatabaseError as error:
        log.warning("isolation.not_set_up error=%r hint='manage.py database roles'", str(error).strip())
        return
    if done and verbosity > 0:
        log.info("isolation.set_up statements=%d", len(done))
