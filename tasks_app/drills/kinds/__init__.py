"""The drills there are, one a module, in the order in which `all` does them."""

from __future__ import annotations

from tasks_app.drills.drill import Drill

from .broker import BROKER
from .database import DATABASE
from .dispatcher import DISPATCHER
from .failover import FAILOVER
from .restore import RESTORE, RESTORE_SYNC
from .site import SITE
from .worker import WORKER

DRILLS: dict[str, Drill] = {
    one.name: one for one in (DISPATCHER, WORKER, BROKER, DATABASE, FAILOVER, SITE, RESTORE, RESTORE_SYNC)
}
