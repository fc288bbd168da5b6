"""Every knob of the scheduler with its unit and default, read from settings.PUNCTUAL and checked."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cached_property
from typing import Any, ClassVar

from django.db import DEFAULT_DB_ALIAS

from tasks_app.core import allow_list, events, networks, retry_budget
from tasks_app.core.errors import InvalidConfiguration, nearest
from tasks_app.core.imports import when_called
from tasks_app.core.retention import DEFAULT_CLASS, RetentionClass
from tasks_app.core.safeguards import Peak, Policy, peaks_of, policies_of
from tasks_app.section import Section

from .rules import problems_of

MAIN_SITE, STANDBY_SITE = "main", "standby"  # of processes whose site has no name
page = when_called("tasks_app.documentation:page")
_RENAMED = {"KEEP_TASKS_DAYS": "KEEP_HOT_DAYS", "KEEP_BATCHES_DAYS": "KEEP_HOT_DAYS"}


@dataclass(frozen=True)
class Conf(Section):
    SETTING: ClassVar[str] = "PUNCTUAL"
    ERROR: ClassVar[type[Exception]] = InvalidConfiguration

    REDIS_URL: str = ""  # the broker's and the wake-ups'
    DATABASE: str = DEFAULT_DB_ALIAS  # the alias in DATABASES that has Punctual's tables
    PREFIX: str = "punctual"  # every key in Redis begins with it and a colon
    ENVIRONMENT: str = ""  # such as "production": processes of another one do nothing in its database
    DATABASE_ADDRESSES: tuple[str, ...] = ()  # addresses and networks where our databases may be; empty: anywhere
    FAILOVER_SECONDS: float = 300.0  # a standby that is promoted later than this is taken for a copy; 0: always
    SITE: str = ""  # where these processes are, such as "b"; empty: "main", or "standby" with STANDBY
    STANDBY: int = 0  # 1: this site waits for its activation, also if no site was ever activated
    SITE_TAKEOVER_SECONDS: float = 0.0  # a site that stands by takes over after so long without a beat; 0: never
    RELEASE: str = ""  # of the project, such as a tag or a commit: the fleet shows which processes have which
    CELERY: dict[str, Any] = field(default_factory=dict)  # options of Punctual's own Celery app that should differ

    # Dispatching.
    LOOK_SECONDS: float = 1.0  # longest wait between two looks; the net under lost wake-ups
    BATCH_TARGET_MS: float = 200.0  # about this much work goes into one batch
    BATCH_MAX: int = 4000  # tasks in a batch, at most
    BATCH_UNSEEN: int = 8  # tasks in a batch of a type whose pace is not known yet
    BATCHES_AHEAD: int = 4  # claimed but not started batches per worker slot, at most
    BACKLOG_SECONDS: float = 600.0  # nobody has dispatched for this long: what is overdue for longer is counted
    BACKLOG_ASK: int = 100_000  # and if it is more than this, an operator is asked what to do with it; 0: never

    # Shards.
    SHARDS: int = 16  # tasks are spread over this many, and the beats share them
    SHARD_LEASE_SECONDS: float = 8.0  # a beat silent for this long loses its shards; renewed at a third of it

    # Leases.
    DISPATCH_LEASE_SECONDS: float = 15.0  # claimed but not started for this long: due again
    RUN_LEASE_SECONDS: float = 30.0  # started, and no heartbeat for this long: due again
    HEARTBEAT_SECONDS: float = 7.0
    REAP_SECONDS: float = 2.0

    # Workers.
    SHUTDOWN_SECONDS: float = 10.0  # after SIGTERM a handler may go on for this long
    TIMEOUT_GRACE_SECONDS: float = 2.0  # a handler that ignores its interruption for this long ends its process
    UNKNOWN_HANDLER_SECONDS: float = 5.0  # a type this worker doesn't know is due again after this

    # Retries beyond a share of all attempts wait: {"all": {"share": 0.2, "burst": 1000}, "types": …, "tenants": …}
    RETRY_BUDGETS: dict[str, Any] = field(default_factory=dict)

    # Safeguards: rules that act.
    SAFEGUARD_SECONDS: float = 5.0  # how often a beat looks whether one should go on or off; 0: never
    SAFEGUARDS: dict[str, Any] = field(default_factory=dict)  # what differs: {"delay": {"limit": 5000, "mode": "tell"}}
    # {"peaks": [{"from": "09:00", "to": "18:00", "rate": 20}]}
    DAILY_PROFILE: dict[str, Any] = field(default_factory=dict)

    # Processes.
    NODE_SECONDS: float = 2.0  # a beat or worker reports itself this often
    NODE_TTL_SECONDS: float = 8.0  # silent for this long: not live
    STALL_SECONDS: float = 30.0  # a beat that hangs for this long is ended, and what it hung on is noted; 0: never

    # Health.
    CANARY_SECONDS: float = 10.0  # a canary goes through every lane this often; 0: none
    FORECAST_SECONDS: float = 60.0  # a process keeps the load forecast this long before it computes it anew

    # Service levels: what docs/service-levels.md promises of the whole installation.
    AVAILABILITY_GOAL: float = 0.999  # of the minutes in which a lane is served, all of its canaries come back in time
    DELAY_GOAL_MS: float = 2_000.0  # 95 % of the tasks start within this time, and each canary comes back
    SUCCESS_GOAL: float = 0.995  # of the runs succeed

    # What /metrics shows.
    METRICS_SECONDS: float = 5.0  # how often a beat counts for it; 0: never, and it shows processes and canaries alone
    METRICS_TYPES: int = 100  # types that have series of their own, at most; the smaller ones are "other"
    METRICS_TENANTS: int = 100  # and tenants
    METRICS_ALLOW: tuple[str, ...] = ()  # addresses and networks that may read it without a token

    # Traces, where the project has set OpenTelemetry up.
    TRACE_SHARE: float = 0.01  # of the tasks that no traced request has scheduled; 0: none of them

    # Wake-ups.
    WAKEUP_MS: float = 50.0  # schedule() waits for Redis no longer than this
    WAKEUP_PAUSE_SECONDS: float = 5.0  # and doesn't try again for up to so long after failures

    # Jobs.
    PLAN_AHEAD_SECONDS: float = 60.0  # instances of jobs are made this long before they are due
    PLAN_SECONDS: float = 10.0  # longest wait between two looks of a planner

    # Compensation.
    COMPENSATE_SECONDS: float = 60.0  # how often the apps' scans look for rows whose task was lost

    # Alarms.
    ALARM_SECONDS: float = 5.0  # how often the beats look whether an alarm rule applies, and send what waits; 0: never
    LOOKOUT_SECONDS: float = 15.0  # how often web processes and workers look whether a beat is left; 0: never
    LOG_URL: str = ""  # where the logs of a try are found, with {task}, {worker} and others; empty: nothing links there
    DOCS_URL: str = ""  # where the documentation is, for pages and messages; empty: the pages that are installed
    CONSOLE_URL: str = ""  # where people find the console, for links in alerts; empty: none has a link
    KEEP_INCIDENTS_DAYS: float = 90.0  # after they were closed, with their alerts
    PING_URL: str = field(default="", repr=False)  # called every minute while a beat looks; its path may be a secret
    PING_TROUBLE: str = "fail"  # what it gets while the scheduler is in trouble: fail, silent or ignore

    # The relay.
    RELAY_MS: float = 50.0  # how often a beat that has subscriptions looks for new events
    RELAY_GIVE_UP_SECONDS: float = 86_400.0  # a subscription that got nothing delivered for this long is suspended
    BROKERS: dict[str, Any] = field(default_factory=dict)  # where events may be queued: {"billing": "amqp://…"}

    # Limits of input.
    PAYLOAD_MAX_BYTES: int = 65_536
    API_URL: str = ""  # where other systems find the API, to report what became of tasks; empty: none can be told
    API_CALLS_PER_MINUTE: int = 6_000  # of one token or user; 0: no limit
    API_ADDRESS_CALLS_PER_MINUTE: int = 30_000  # from one address; 0: no limit

    # What web processes refuse while the database has too much to do.
    SHED_MS: float = 500.0  # if a connection and a small statement take so long, reads; four times: writes; 0: nothing
    SHED_CONNECTIONS: float = 0.95  # the same, by the share of its connections that are in use
    SHED_IN_FLIGHT: int = 6  # and by requests of one process that are stuck; 0: any number

    # What requests may write.
    TENANT_WRITES: tuple[str, ...] = ()  # tables of yours that requests of one tenant write; see docs/isolation.md

    # Events.
    EVENTS: tuple[str, ...] = events.DEFAULT_EVENTS  # which are kept, as patterns; the last that matches decides
    LATE_SECONDS: float = 60.0  # a run that begins so much later than it could have is told as late

    # Calls to others, and secrets.
    OUTGOING_ALLOW: tuple[str, ...] = (allow_list.PUBLIC,)  # where webhooks and alarms may go
    OUTGOING_CA_FILE: str = ""  # certificates of authorities to trust beside the system's own
    WEBHOOK_TIMEOUT_SECONDS: float = 10.0  # a whole call, from the look-up of the name to the end of the answer
    WEBHOOK_CONNECTIONS: int = 8  # calls at the same time to one subscriber, at most
    CALLBACK_CONNECTIONS: int = 64  # callbacks that one process of a worker makes at the same time
    HOST_FAILURES: int = 5  # callbacks to a host that fail in a row, each of another task: then its tasks wait
    HOST_TRY_SECONDS: float = 15.0  # until one of them tries it again; longer after each try, up to 25 s
    SECRET_KEYS: tuple[Any, ...] = field(default=(), repr=False)  # the first seals, all unseal; empty: from SECRET_KEY
    SECRET_KEYS_FILE: str = ""  # more of them, one a line

    # Keeping.
    KEEP_LIVE_SECONDS: float = 600.0  # what is over stays among what is live for this long, then it goes to the past
    MOVE_SECONDS: float = 5.0  # how often a beat looks for what goes there
    KEEP_HOT_DAYS: float = 14.0  # and there it is at hand for this long
    KEEP_COLD_DAYS: float = 90.0  # after that it is in the archive, if there is one, until it is this old
    ARCHIVE_URL: str = ""  # a folder, or s3://bucket/prefix; empty: what is past its hot days is dropped
    KEEP_RESTORED_DAYS: float = 7.0  # a day that was restored from the archive stays for this long
    # More classes: {"brief": {"hot_days": 2, "tenants": ["acme"]}}
    RETENTION: dict[str, Any] = field(default_factory=dict)
    PARTITION_HOURS: float = 24.0  # of the past that lie in one table and go together
    KEEP_OUTBOX_DAYS: float = 7.0
    KEEP_OUTBOX_MOST_DAYS: float = 30.0  # events that a subscription has not got stay, but no longer than this
    KEEP_AUDIT_DAYS: float = 180.0  # who did what and why; no less
    KEEP_REVISIONS_DAYS: float = 90.0  # longer than any change of a unit can be late
    KEEP_CAMPAIGNS_DAYS: float = 30.0  # after they were done or cancelled
    PRUNE_STEP: int = 5_000  # rows deleted in one statement, at most
    PRUNE_SECONDS: float = 60.0
    VACUUM_HELD_SECONDS: float = 1_800.0  # who keeps vacuum from cleaning for longer is told; eight times: in alarm

    # The audit trail: what signs it, and where that is kept.
    AUDIT_KEYS: tuple[Any, ...] = field(default=(), repr=False)  # the first private one signs, all verify
    AUDIT_KEYS_FILE: str = ""  # more of them, one a line
    AUDIT_ANCHOR_URLS: tuple[str, ...] = field(default=(), repr=False)  # folders, s3://bucket/prefix, or https://…
    AUDIT_ANCHOR_SECONDS: float = 3_600.0  # between two anchors

    # Backups: base backups and the write-ahead log, in one place or more.
    BACKUP_URLS: tuple[str, ...] = ()  # folders, or s3://bucket/prefix; empty: `manage.py backup` does nothing
    BACKUP_SPOOL: str = ""  # the folder in which the log arrives before it is taken to the places
    BACKUP_EVERY_HOURS: float = 24.0  # `backup stream` makes a base backup this often; 0: only `backup run` does
    BACKUP_MB_A_SECOND: float = 32.0  # a base backup is read no faster, for tasks to be punctual; 0: without a limit
    BACKUP_KEEP: int = 7  # base backups in each place, and the log since the oldest of them
    BACKUP_BEHIND_SECONDS: float = 60.0  # trouble if no place has what was committed longer ago than this
    BACKUP_PROGRAMS: str = ""  # the folder of pg_basebackup and the others; empty: they are looked for
    BACKUP_DATABASE_URL: str = field(default="", repr=False)  # past a pooler, or as another user; empty: DATABASE's

    @property
    def site(self) -> str:
        """The name of the site that this process belongs to."""
        return self.SITE or (STANDBY_SITE if self.STANDBY else MAIN_SITE)

    def redis_key(self, name: str) -> str:
        return f"{self.PREFIX}:{name}"

    @cached_property
    def retention_classes(self) -> dict[str, RetentionClass]:
        """By name; the default first."""
        default = RetentionClass(DEFAULT_CLASS, self.KEEP_HOT_DAYS, self.KEEP_COLD_DAYS)
        return {DEFAULT_CLASS: default} | {
            name: replace(default, name=name, **given) for name, given in self.RETENTION.items()
        }

    @cached_property
    def retry_budgets(self) -> dict[tuple[str, str], retry_budget.RetryBudget]:
        return retry_budget.budgets_of(self.RETRY_BUDGETS)

    @cached_property
    def safeguards(self) -> dict[str, Policy]:
        return policies_of(self.SAFEGUARDS)

    @cached_property
    def peaks(self) -> list[Peak]:
        return peaks_of(self.DAILY_PROFILE)

    @cached_property
    def metrics_allow(self) -> tuple[networks.Network, ...]:
        return networks.parsed(self.METRICS_ALLOW)

    @cached_property
    def database_addresses(self) -> tuple[networks.Network, ...]:
        return networks.parsed(self.DATABASE_ADDRESSES)

    @cached_property
    def kept_events(self) -> events.Patterns:
        return events.Patterns(self.EVENTS)

    @cached_property
    def kept_kinds(self) -> str:
        """Of the scheduler's own events those that are kept, as statements take them."""
        return "{" + ",".join(name for name in events.KINDS if name in self.kept_events) + "}"

    @property
    def partition_span(self) -> timedelta:
        return timedelta(hours=self.PARTITION_HOURS)

    def _problems(self) -> Iterator[str]:
        yield from problems_of(self)

    @classmethod
    def _unknown(cls, name: str, value: object, known: set[str]) -> str:
        if name in _RENAMED:
            return (
                f'PUNCTUAL["{name}"] is called {_RENAMED[name]} now; {page("history")} says what is kept for how long.'
            )
        words = f'PUNCTUAL["{name}"] is not a setting of Punctual.{nearest(name, known)}'
        return f"{words} {page('configuration')} lists them all."
