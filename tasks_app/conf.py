"""Every knob of the scheduler with its unit and default, read from settings.PUNCTUAL and checked."""

import re
from dataclasses import dataclass, field, fields, replace
from datetime import timedelta
from functools import cached_property
from typing import ClassVar

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS

from .core import allow_list, archive_url, audit_keys, events, keyring, log_url, networks, redis_url, retry_budget
from .core.errors import InvalidConfiguration, nearest, shown
from .core.retention import DEFAULT_CLASS, RetentionClass, problems_of
from .core.safeguard_options import problems_of as wrong_safeguards
from .core.safeguards import Peak, Policy, peaks_of, policies_of, wrong_peaks
from .core.sharding import MOST_SHARDS
from .core.wheel import Wheel
from .section import Section, reader


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
    CELERY: dict = field(default_factory=dict)  # options of Punctual's own Celery app that should differ

    # Dispatching.
    LOOK_SECONDS: float = 1.0  # longest wait between two looks; the net under lost wake-ups
    BATCH_TARGET_MS: float = 200.0  # about this much work goes into one batch
    BATCH_MAX: int = 2000  # tasks in a batch, at most
    BATCH_UNSEEN: int = 8  # tasks in a batch of a type whose pace is not known yet
    READ_AHEAD_SECONDS: float = 0.0  # what is due within this time is read ahead into a wheel; 0: nothing is
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
    RETRY_BUDGETS: dict = field(default_factory=dict)

    # Safeguards: rules that act.
    SAFEGUARD_SECONDS: float = 5.0  # how often a beat looks whether one should go on or off; 0: never
    SAFEGUARDS: dict = field(default_factory=dict)  # what differs: {"delay": {"limit": 5000, "mode": "tell"}}
    DAILY_PROFILE: dict = field(default_factory=dict)  # {"peaks": [{"from": "09:00", "to": "18:00", "rate": 20}]}

    # Processes.
    NODE_SECONDS: float = 2.0  # a beat or worker reports itself this often
    NODE_TTL_SECONDS: float = 8.0  # silent for this long: not live

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
    WAKEUP_PAUSE_SECONDS: float = 5.0  # and doesn't try again for this long after a failure

    # Jobs.
    PLAN_AHEAD_SECONDS: float = 60.0  # instances of jobs are made this long before they are due
    PLAN_SECONDS: float = 10.0  # longest wait between two looks of a planner

    # Compensation.
    COMPENSATE_SECONDS: float = 60.0  # how often the apps' scans look for rows whose task was lost

    # Alarms.
    ALARM_SECONDS: float = 5.0  # how often the beats look whether an alarm rule applies, and send what waits; 0: never
    LOOKOUT_SECONDS: float = 15.0  # how often web processes and workers look whether a beat is left; 0: never
    LOG_URL: str = ""  # where the logs of a try are found, with {task}, {worker} and others; empty: nothing links there
    DOCS_URL: str = ""  # where the documentation is, for pages to link to; empty: that of the checkout, if it is one
    CONSOLE_URL: str = ""  # where people find the console, for links in alerts; empty: none has a link
    KEEP_INCIDENTS_DAYS: float = 90.0  # after they were closed, with their alerts
    PING_URL: str = field(default="", repr=False)  # called every minute while a beat looks; its path may be a secret
    PING_TROUBLE: str = "fail"  # what it gets while the scheduler is in trouble: fail, silent or ignore

    # The relay.
    RELAY_MS: float = 50.0  # how often a beat that has subscriptions looks for new events
    RELAY_GIVE_UP_SECONDS: float = 86_400.0  # a subscription that got nothing delivered for this long is suspended
    BROKERS: dict = field(default_factory=dict)  # where events may be queued: {"billing": "amqp://…"}

    # Limits of input.
    PAYLOAD_MAX_BYTES: int = 65_536
    API_URL: str = ""  # where other systems find the API, to report what became of tasks; empty: none can be told
    API_CALLS_PER_MINUTE: int = 6_000  # of one token or user; 0: no limit
    API_ADDRESS_CALLS_PER_MINUTE: int = 30_000  # from one address; 0: no limit

    # What web processes refuse while the database has too much to do.
    SHED_MS: float = 500.0  # if a connection and a small statement take so long, reads; four times: writes; 0: nothing
    SHED_CONNECTIONS: float = 0.95  # the same, by the share of its connections that are in use
    SHED_IN_FLIGHT: int = 6  # and by requests of one process that are stuck; 0: any number

    # Events.
    EVENTS: tuple[str, ...] = events.DEFAULT_EVENTS  # which are kept, as patterns; the last that matches decides
    LATE_SECONDS: float = 60.0  # a run that begins so much later than it could have is told as late

    # Calls to others, and secrets.
    OUTGOING_ALLOW: tuple[str, ...] = (allow_list.PUBLIC,)  # where webhooks and alarms may go
    OUTGOING_CA_FILE: str = ""  # certificates of authorities to trust beside the system's own
    WEBHOOK_TIMEOUT_SECONDS: float = 10.0  # a whole call, from the look-up of the name to the end of the answer
    WEBHOOK_CONNECTIONS: int = 8  # calls at the same time to one subscriber, at most
    CALLBACK_CONNECTIONS: int = 32  # callbacks that one process of a worker makes at the same time
    HOST_FAILURES: int = 5  # callbacks to a host that fail in a row, each of another task: then its tasks wait
    HOST_TRY_SECONDS: float = 15.0  # until one of them tries it again; longer after each try, up to 5 minutes
    SECRET_KEYS: tuple[object, ...] = field(
        default=(), repr=False
    )  # the first seals, all unseal; empty: from SECRET_KEY
    SECRET_KEYS_FILE: str = ""  # more of them, one a line

    # Keeping.
    KEEP_LIVE_SECONDS: float = 600.0  # what is over stays among what is live for this long, then it goes to the past
    MOVE_SECONDS: float = 5.0  # how often a beat looks for what goes there
    KEEP_HOT_DAYS: float = 14.0  # and there it is at hand for this long
    KEEP_COLD_DAYS: float = 90.0  # after that it is in the archive, if there is one, until it is this old
    ARCHIVE_URL: str = ""  # a folder, or s3://bucket/prefix; empty: what is past its hot days is dropped
    KEEP_RESTORED_DAYS: float = 7.0  # a day that was restored from the archive stays for this long
    RETENTION: dict = field(default_factory=dict)  # more classes: {"brief": {"hot_days": 2, "tenants": ["acme"]}}
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
    AUDIT_KEYS: tuple[object, ...] = field(default=(), repr=False)  # the first private one signs, all verify
    AUDIT_KEYS_FILE: str = ""  # more of them, one a line
    AUDIT_ANCHOR_URLS: tuple[str, ...] = field(default=(), repr=False)  # folders, s3://bucket/prefix, or https://…
    AUDIT_ANCHOR_SECONDS: float = 3_600.0  # between two anchors

    # Backups: base backups and the write-ahead log, in one place or more.
    BACKUP_URLS: tuple[str, ...] = ()  # folders, or s3://bucket/prefix; empty: `manage.py backup` does nothing
    BACKUP_SPOOL: str = ""  # the folder in which the log arrives before it is taken to the places
    BACKUP_EVERY_HOURS: float = 24.0  # `backup stream` makes a base backup this often; 0: only `backup run` does
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

    def _problems(self):
        wrong = list(self._wrong_types())
        yield from wrong or self._wrong_values()

    @classmethod
    def _unknown(cls, name, value, known):
        if name in _RENAMED:
            return f'PUNCTUAL["{name}"] is called {_RENAMED[name]} now; docs/history.md says what is kept for how long.'
        words = f'PUNCTUAL["{name}"] is not a setting of Punctual.{nearest(name, known)}'
        return f"{words} docs/configuration.md lists them all."

    def _wrong_values(self):
        yield from self._values_out_of_range()
        if self.REDIS_URL:
            yield from redis_url.problems_of(self.REDIS_URL, 'PUNCTUAL["REDIS_URL"]')
        if self.CONSOLE_URL and not re.fullmatch(r"https?://[^\s/?#]+(/[^\s?#]*)?", self.CONSOLE_URL):
            yield (
                f'PUNCTUAL["CONSOLE_URL"] is {shown(self.CONSOLE_URL)}; it must be the address at which people open '
                "the console, such as https://ops.example.com/admin/."
            )
        if self.DOCS_URL and not re.fullmatch(r"https?://[^\s/?#]+(/[^\s?#]*)?", self.DOCS_URL):
            yield (
                f'PUNCTUAL["DOCS_URL"] is {shown(self.DOCS_URL)}; it must be the address of the folder that has '
                "the pages of the documentation, such as https://docs.example.com/punctual."
            )
        if not re.fullmatch(r"[\w.+-]{0,80}", self.RELEASE, re.ASCII):
            yield (
                f'PUNCTUAL["RELEASE"] is {shown(self.RELEASE)}; it must be at most 80 letters, digits and any of '
                "_ . + -, such as '2026.11.3' or a commit."
            )
        yield from log_url.problems_of(self.LOG_URL)
        if self.PING_URL and not re.fullmatch(r"https?://[^\s/?#]+(/[^\s#]*)?", self.PING_URL):
            # Not its value: the path may be all the secret there is.
            yield (
                'PUNCTUAL["PING_URL"] is not an address that can be called; it must be like '
                "https://hc-ping.com/4d5c2f1e-…, without a fragment."
            )
        if self.PING_TROUBLE not in PING_TROUBLES:
            yield (
                f'PUNCTUAL["PING_TROUBLE"] is {shown(self.PING_TROUBLE)}; it must be one of '
                f"{', '.join(PING_TROUBLES)}: call the address with /fail, don't call it, or call it as always."
            )
        if self.API_URL and not re.fullmatch(r"https?://[^\s/?#]+(/[^\s?#]*)?", self.API_URL):
            yield (
                f'PUNCTUAL["API_URL"] is {shown(self.API_URL)}; it must be the address at which other systems find the '
                "API, such as https://scheduler.example.com/api/v1."
            )
        if self.DATABASE not in (known := {*settings.DATABASES, DEFAULT_DB_ALIAS}):
            yield (
                f'PUNCTUAL["DATABASE"] is {shown(self.DATABASE)}, which is not an alias in DATABASES.'
                f"{nearest(self.DATABASE, known)} There are: {', '.join(sorted(known))}."
            )
        if not re.fullmatch(r"[\w.:{}-]{1,64}", self.PREFIX, re.ASCII):
            yield (
                f'PUNCTUAL["PREFIX"] is {shown(self.PREFIX)}; it must be 1 to 64 letters, digits and any of '
                "_ . : { } -, such as 'shop-punctual'."
            )
        yield from problems_of(self.RETENTION)
        yield from retry_budget.problems_of(self.RETRY_BUDGETS)
        yield from wrong_safeguards(self.SAFEGUARDS)
        yield from wrong_peaks(self.DAILY_PROFILE)
        yield from events.problems_of(self.EVENTS, 'PUNCTUAL["EVENTS"]')
        if self.ARCHIVE_URL:
            yield from archive_url.problems_of(self.ARCHIVE_URL)
        yield from self._wrong_backup()
        yield from allow_list.problems_of(self.OUTGOING_ALLOW)
        yield from networks.problems_of(self.METRICS_ALLOW, 'PUNCTUAL["METRICS_ALLOW"]')
        yield from networks.problems_of(self.DATABASE_ADDRESSES, 'PUNCTUAL["DATABASE_ADDRESSES"]')
        if not re.fullmatch(r"[\w.-]{0,100}", self.ENVIRONMENT, re.ASCII):
            yield (
                f'PUNCTUAL["ENVIRONMENT"] is {shown(self.ENVIRONMENT)}; it must be at most 100 letters, digits and any '
                "of _ . -, such as 'production'."
            )
        if self.SITE and not re.fullmatch(SITE_NAME, self.SITE, re.ASCII):
            yield f'PUNCTUAL["SITE"] is {shown(self.SITE)}; it must be {SITE_RULE}.'
        yield from keyring.problems_of(self.SECRET_KEYS)
        yield from self._wrong_audit()
        if self.KEEP_OUTBOX_MOST_DAYS < self.KEEP_OUTBOX_DAYS:
            yield (
                f'PUNCTUAL["KEEP_OUTBOX_MOST_DAYS"] is {self.KEEP_OUTBOX_MOST_DAYS:g} but KEEP_OUTBOX_DAYS is '
                f"{self.KEEP_OUTBOX_DAYS:g}; events that somebody waits for can't be kept for less than the others. "
                f"Set it to {self.KEEP_OUTBOX_DAYS:g} or more."
            )
        for name, url in self.BROKERS.items():
            if not isinstance(name, str) or not isinstance(url, str) or not re.fullmatch(r"[\w+]+://.*", url):
                # Only its name: the rest may hold a password.
                yield (
                    f'PUNCTUAL["BROKERS"] has {shown(name)} without an address that kombu understands; it must be like '
                    '{"billing": "amqp://user:password@host/"}.'
                )
        for name in self.CELERY:
            if name in _KEPT_CELERY:
                yield f'PUNCTUAL["CELERY"] has {shown(name)}: {_KEPT_CELERY[name]}. Leave it out.'
            elif not isinstance(name, str) or not name.islower():
                yield (
                    f'PUNCTUAL["CELERY"] has {shown(name)}; options have Celery\'s own names in lower case, such as '
                    "'worker_max_memory_per_child'."
                )
        yield from self._wrong_transport()
        if self.RUN_LEASE_SECONDS <= 2 * self.HEARTBEAT_SECONDS:
            yield (
                f'PUNCTUAL["RUN_LEASE_SECONDS"] is {self.RUN_LEASE_SECONDS:g} but HEARTBEAT_SECONDS is '
                f"{self.HEARTBEAT_SECONDS:g}; a lease must outlive two heartbeats. "
                f"Set it to more than {2 * self.HEARTBEAT_SECONDS:g}."
            )
        if self.NODE_TTL_SECONDS <= 2 * self.NODE_SECONDS:
            yield (
                f'PUNCTUAL["NODE_TTL_SECONDS"] is {self.NODE_TTL_SECONDS:g} but NODE_SECONDS is '
                f"{self.NODE_SECONDS:g}; a process must miss two reports before it counts as gone. "
                f"Set it to more than {2 * self.NODE_SECONDS:g}."
            )
        if self.READ_AHEAD_SECONDS and not self.LOOK_SECONDS < self.READ_AHEAD_SECONDS < Wheel.TURN_SECONDS:
            yield (
                f'PUNCTUAL["READ_AHEAD_SECONDS"] is {self.READ_AHEAD_SECONDS:g} and LOOK_SECONDS is '
                f"{self.LOOK_SECONDS:g}; what is read ahead must reach beyond the next look, but not around the wheel "
                f"({Wheel.TURN_SECONDS:g} s). Set it to twice LOOK_SECONDS, or to 0."
            )
        if self.PLAN_AHEAD_SECONDS < 2 * self.PLAN_SECONDS:
            yield (
                f'PUNCTUAL["PLAN_AHEAD_SECONDS"] is {self.PLAN_AHEAD_SECONDS:g} but PLAN_SECONDS is '
                f"{self.PLAN_SECONDS:g}; a planner must look twice before a firing is due. "
                f"Set it to {2 * self.PLAN_SECONDS:g} or more."
            )
        if self.BATCH_UNSEEN > self.BATCH_MAX:
            yield (
                f'PUNCTUAL["BATCH_UNSEEN"] is {self.BATCH_UNSEEN} but BATCH_MAX is {self.BATCH_MAX}; '
                "the first batch of a type can't be larger than any batch. Lower it."
            )

    def _wrong_audit(self):
        yield from audit_keys.problems_of(self.AUDIT_KEYS)
        setting = 'PUNCTUAL["AUDIT_ANCHOR_URLS"]'
        for number, url in enumerate(self.AUDIT_ANCHOR_URLS, start=1):
            if not isinstance(url, str):
                yield f"{setting} has {shown(url)}; each must be a string."
            elif re.match(r"https?://", url):
                if not re.fullmatch(r"https?://[^\s/?#]+(/[^\s#]*)?", url):
                    # Not its value: the path may be all the secret there is.
                    yield f"{setting}: entry {number} can't be called; it must be like https://audit.example.com/in."
            else:
                yield from archive_url.problems_of(url, setting)
        if self.AUDIT_ANCHOR_URLS and not (self.AUDIT_KEYS or self.AUDIT_KEYS_FILE):
            yield (
                f"{setting} is set, but no key signs anchors. Make one with `manage.py audit keys --new`, "
                'and put it into PUNCTUAL["AUDIT_KEYS"] or the file that AUDIT_KEYS_FILE names.'
            )

    def _wrong_backup(self):
        setting = 'PUNCTUAL["BACKUP_URLS"]'
        for url in self.BACKUP_URLS:
            if not isinstance(url, str):
                yield f"{setting} has {shown(url)}; each must be a string."
                return
            yield from archive_url.problems_of(url, setting)
        shown_urls = [archive_url.outward(url) for url in self.BACKUP_URLS]
        if len(set(shown_urls)) < len(shown_urls):
            yield f"{setting} names a place twice; a second copy in the same place protects from nothing."
        if self.BACKUP_URLS and not self.BACKUP_SPOOL:
            yield (
                f'{setting} is set, but PUNCTUAL["BACKUP_SPOOL"] is empty; the log needs a folder in which it arrives '
                "before it is taken to the places. Set it to one such as /var/lib/punctual/spool."
            )
        if self.BACKUP_SPOOL and not self.BACKUP_SPOOL.startswith("/"):
            yield (
                f'PUNCTUAL["BACKUP_SPOOL"] is {shown(self.BACKUP_SPOOL)}; it must be a whole path, such as '
                "/var/lib/punctual/spool."
            )
        if self.BACKUP_PROGRAMS and not self.BACKUP_PROGRAMS.startswith("/"):
            yield (
                f'PUNCTUAL["BACKUP_PROGRAMS"] is {shown(self.BACKUP_PROGRAMS)}; it must be a whole path, such as '
                "/usr/lib/postgresql/18/bin."
            )
        if self.BACKUP_DATABASE_URL and not re.match(r"postgres(ql)?://", self.BACKUP_DATABASE_URL):
            # Not its value: it may hold a password.
            yield 'PUNCTUAL["BACKUP_DATABASE_URL"] must be like postgresql://user:password@host:5432/name.'

    def _wrong_transport(self):
        options = self.CELERY.get("broker_transport_options", {})
        where = 'PUNCTUAL["CELERY"]["broker_transport_options"]'
        if not isinstance(options, dict):
            yield f"{where} is {shown(options)}; it must be a dict."
            return
        for name in _KEPT_OF_TRANSPORT.keys() & options.keys():
            yield f"{where} has {shown(name)}: {_KEPT_OF_TRANSPORT[name]}. Leave it out."

    def _wrong_types(self):
        for knob in fields(self):
            value, kind = getattr(self, knob.name), knob.type
            if isinstance(value, bool) or not isinstance(value, _ACCEPTED[kind]):
                told = shown(value) if knob.repr else f"a {type(value).__name__}"  # some hold secrets
                yield f'PUNCTUAL["{knob.name}"] is {told}; it must be a {_WORDS[kind]}.'

    def _values_out_of_range(self):
        for knob in fields(self):
            if knob.type not in (int, float):
                continue
            value, allowed = getattr(self, knob.name), range_of(knob.name)
            if allowed.allows(value):
                continue
            if value > allowed.most:
                rule = f"at most {allowed.most:,.10g}"
            else:
                rule = "more than 0" if not value > 0 else f"{allowed.least:g} or more"
            yield f'PUNCTUAL["{knob.name}"] is {shown(value)}; it must be {rule}.{_REASONS.get(knob.name, "")}'


@dataclass(frozen=True, slots=True)
class Range:
    """What a knob may be, both ends included."""

    least: float
    most: float
    or_zero: bool = False  # which turns it off

    def allows(self, value: float) -> bool:
        return self.least <= value <= self.most or (self.or_zero and value == 0)


def range_of(name: str) -> Range:
    """By its unit, unless it has one of its own."""
    return _RANGES.get(name) or next(range_ for unit, range_ in _RANGES_BY_UNIT.items() if name.endswith(unit))


# An interval of PostgreSQL has microseconds, and a wait in select() ends after 24 days.
_RANGES_BY_UNIT = {
    "_SECONDS": Range(0.000_001, 7 * 86_400.0),
    "_MS": Range(0.001, 3_600_000.0),
    "_DAYS": Range(0.000_001, 36_500.0),
    "_HOURS": Range(1 / 60, 744.0),
}
_RANGES = {
    "KEEP_AUDIT_DAYS": Range(180.0, 36_500.0),
    "CANARY_SECONDS": Range(0.000_001, 7 * 86_400.0, or_zero=True),
    "READ_AHEAD_SECONDS": Range(0.000_001, 7 * 86_400.0, or_zero=True),
    "ALARM_SECONDS": Range(0.000_001, 7 * 86_400.0, or_zero=True),
    "FAILOVER_SECONDS": Range(0.000_001, 7 * 86_400.0, or_zero=True),
    "STANDBY": Range(1, 1, or_zero=True),
    "SITE_TAKEOVER_SECONDS": Range(0.000_001, 7 * 86_400.0, or_zero=True),
    "BACKLOG_ASK": Range(1, 1_000_000_000, or_zero=True),
    "SHED_MS": Range(0.001, 3_600_000.0, or_zero=True),
    "SHED_CONNECTIONS": Range(0.01, 1.0),
    "SHED_IN_FLIGHT": Range(1, 1_000_000, or_zero=True),
    "AVAILABILITY_GOAL": Range(0.000_001, 1.0),
    "SUCCESS_GOAL": Range(0.000_001, 1.0),
    "LOOKOUT_SECONDS": Range(0.000_001, 7 * 86_400.0, or_zero=True),
    "SAFEGUARD_SECONDS": Range(0.000_001, 7 * 86_400.0, or_zero=True),
    "METRICS_SECONDS": Range(0.000_001, 7 * 86_400.0, or_zero=True),
    "METRICS_TYPES": Range(1, 2_000, or_zero=True),
    "METRICS_TENANTS": Range(1, 2_000, or_zero=True),
    "RUN_LEASE_SECONDS": Range(1.0, 7 * 86_400.0),
    "AUDIT_ANCHOR_SECONDS": Range(1.0, 7 * 86_400.0),
    "BACKUP_EVERY_HOURS": Range(1 / 60, 744.0, or_zero=True),
    "BACKUP_KEEP": Range(1, 10_000),
    "TRACE_SHARE": Range(0.000_001, 1.0, or_zero=True),
    "BATCH_MAX": Range(1, 100_000),
    "BATCH_UNSEEN": Range(1, 100_000),
    "BATCHES_AHEAD": Range(1, 1_000),
    "SHARDS": Range(1, MOST_SHARDS),
    "PAYLOAD_MAX_BYTES": Range(2, 100_000_000),
    "PRUNE_STEP": Range(1, 1_000_000),
    "WEBHOOK_CONNECTIONS": Range(1, 64),
    "CALLBACK_CONNECTIONS": Range(1, 256),
    "HOST_FAILURES": Range(1, 1_000),
    "API_CALLS_PER_MINUTE": Range(1, 1_000_000_000, or_zero=True),
    "API_ADDRESS_CALLS_PER_MINUTE": Range(1, 1_000_000_000, or_zero=True),
}
_REASONS = {
    "KEEP_AUDIT_DAYS": " The database itself refuses to drop what is younger.",
    "SHARDS": " Every look asks each shard; a few times the number of beats is plenty.",
    "SHED_CONNECTIONS": " It is a share, such as 0.95 for 95 %.",
    "AVAILABILITY_GOAL": " It is a share, such as 0.999 for 99.9 %.",
    "SUCCESS_GOAL": " It is a share, such as 0.995 for 99.5 %.",
    "RUN_LEASE_SECONDS": " A worker ends itself when its own watchdog has heard nothing for that long.",
    "PAYLOAD_MAX_BYTES": " The empty payload, {}, has 2.",
}
_RENAMED = {"KEEP_TASKS_DAYS": "KEEP_HOT_DAYS", "KEEP_BATCHES_DAYS": "KEEP_HOT_DAYS"}
MAIN_SITE, STANDBY_SITE = "main", "standby"  # of processes whose site has no name
SITE_NAME, SITE_RULE = r"[\w.-]{1,50}", "at most 50 letters, digits and any of _ . -, such as 'b'"
PING_TROUBLES = ("fail", "silent", "ignore")
_TEXTS, _KEYS = tuple[str, ...], tuple[object, ...]
_ACCEPTED = {str: str, int: int, float: (int, float), dict: dict, _TEXTS: (list, tuple), _KEYS: (list, tuple)}
_WORDS = {
    str: "string",
    int: "whole number",
    float: "number",
    dict: "dict",
    _TEXTS: "list of strings",
    _KEYS: "list of keys",
}
# Options of Celery that hold a promise up, each with what would become of it.
_KEPT_CELERY = {
    "accept_content": "whoever can write to Redis could run code in a worker",
    "beat_scheduler": "nobody would dispatch",
    "beat_schedule": "Punctual's beat doesn't run Celery's schedules; make them jobs, as docs/jobs.md says",
    "broker_read_url": 'beats and workers meet at PUNCTUAL["REDIS_URL"]',
    "broker_transport": "a message that is not ours could end a worker",
    "broker_url": 'beats and workers meet at PUNCTUAL["REDIS_URL"]',
    "broker_write_url": 'beats and workers meet at PUNCTUAL["REDIS_URL"]',
    "imports": "a worker would not know how to run a batch",
    "task_acks_late": "the lease recovers lost work; a late ack would run it twice",
    "task_always_eager": "batches would run inside the dispatcher",
    "task_publish_retry": "a stalled Redis would hold up the dispatcher",
    "task_queues": "there is one queue for each lane",
    "task_reject_on_worker_lost": "a task that kills its worker would be delivered for ever",
    "task_soft_time_limit": "it would end whole batches; give each handler its own timeout",
    "task_time_limit": "it would end whole batches; give each handler its own timeout",
    "worker_consumer": "Celery's own ends the worker if a child ends while the broker is away",
}
# Of its option broker_transport_options; the others are the project's to change, one by one.
_KEPT_OF_TRANSPORT = {
    "ack_emulation": "it loses and doubles messages when a worker is killed, and the lease recovers lost work",
    "global_keyprefix": 'it is PUNCTUAL["PREFIX"], for all keys in Redis',
    "priority_steps": "a lane is one list; its priority is the lane itself",
    "queue_order_strategy": "lanes are served by their weights",
}


from_settings = Conf.from_settings
conf = reader(Conf)
