"""How often each chore of the beats comes, in seconds; 0 is never. What a chore does is in beat/chores.py."""

from collections.abc import Callable

from tasks_app.conf import conf
from tasks_app.lifecycle.quotas import COUNT_SECONDS

from .canary import CHORE_EVERY

INTERVALS: dict[str, Callable[[], float]] = {
    "reap": lambda: conf().REAP_SECONDS,
    "lose": lambda: conf().REAP_SECONDS,
    "move": lambda: conf().MOVE_SECONDS,
    "partition": lambda: min(600.0, conf().partition_span.total_seconds() / 4),
    "tend": lambda: min(3600.0, conf().partition_span.total_seconds() / 4),
    "archive": lambda: min(600.0, conf().partition_span.total_seconds() / 4) if conf().ARCHIVE_URL else 0.0,
    "campaign": lambda: 1.0,
    "overdue": lambda: 1.0,
    "site": lambda: 5.0,
    "tenants": lambda: 1.0,
    "tenant_archive": lambda: 5.0 if conf().ARCHIVE_URL else 0.0,
    "quotas": lambda: COUNT_SECONDS,
    "prune": lambda: conf().PRUNE_SECONDS,
    "roll_up": lambda: 20.0,
    "hours": lambda: 60.0,
    "count": lambda: conf().METRICS_SECONDS,
    "levels": lambda: 30.0,  # twice a minute, so that a minute is not judged much later than it can be
    "rescue": lambda: 60.0,  # goes on with its walk, and should never find anything
    "release": lambda: 2.0,
    "unfreeze": lambda: 10.0,
    "canary": lambda: CHORE_EVERY * conf().CANARY_SECONDS,
    "compensate": lambda: conf().COMPENSATE_SECONDS,
    "safeguard": lambda: conf().SAFEGUARD_SECONDS,
    "alarm": lambda: conf().ALARM_SECONDS,
    "alert": lambda: conf().ALARM_SECONDS,
    "chain": lambda: 1.0,
    "anchor": lambda: min(60.0, conf().AUDIT_ANCHOR_SECONDS) if conf().AUDIT_KEYS or conf().AUDIT_KEYS_FILE else 0.0,
    "ping": lambda: 60.0 if conf().PING_URL else 0.0,
}
