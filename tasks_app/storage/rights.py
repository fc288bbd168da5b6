"""What a request may do with each table: a list of verbs. What is not listed is not granted.

`punctual_web` is a request of one tenant, `punctual_web_all` one of an operator. Policies (isolation.py) say which rows
they see; this says which verbs they have at all. The engine has every verb on every table.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from tasks_app.conf import conf
from tasks_app.core.isolation import WEB, WEB_ALL
from tasks_app.sql import execute

RESTRICTED = (WEB, WEB_ALL)
READ = "SELECT"
WRITE = "INSERT, UPDATE, DELETE"

# A table of ours needs a line in one of these four, or no request may use it; a test names those that have none.
# An operator's request may do what one of a tenant may, and more where OPERATORS has a line too.
TENANTS = {
    "punctual_alarm_alert": "INSERT, UPDATE",
    "punctual_alarm_channel": WRITE,
    "punctual_alarm_incident": "UPDATE",
    "punctual_alarm_rule": WRITE,
    "punctual_api_token": "INSERT, UPDATE",
    "punctual_attempt": "INSERT",  # a report says that a try has failed
    # No number, and no time: both are given by the database, so nothing can be dated back.
    "punctual_audit_entry": (
        "INSERT (operation), INSERT (actor), INSERT (verb), INSERT (subject), INSERT (task_id), INSERT (tenant), "
        "INSERT (task_type), INSERT (outcome), INSERT (reason), INSERT (detail), INSERT (address)"
    ),
    "punctual_away": "UPDATE, DELETE",
    "punctual_away_outcome": "INSERT",
    "punctual_backfill": "INSERT, DELETE",
    "punctual_calendar": WRITE,
    "punctual_campaign": "INSERT, UPDATE",
    "punctual_campaign_chunk": "INSERT",
    "punctual_dead_letter": "INSERT, UPDATE",
    "punctual_delivery": "INSERT, DELETE",
    "punctual_early_report": "INSERT, UPDATE",
    "punctual_firing_override": WRITE,
    "punctual_host_health": "UPDATE",
    "punctual_idempotency_record": "INSERT",
    "punctual_job": WRITE,
    "punctual_job_cursor": "INSERT, UPDATE (calendar_version)",  # a column: locking a row needs UPDATE
    "punctual_job_parent": "INSERT, DELETE",
    "punctual_membership": WRITE,
    "punctual_outbox": "INSERT",
    "punctual_owned_unit": "INSERT, UPDATE",
    "punctual_past": "UPDATE (solo), DELETE",  # a task that runs again leaves it; a column: locking a row needs UPDATE
    "punctual_progress": WRITE,
    "punctual_run": WRITE,
    "punctual_saved_filter": WRITE,
    "punctual_schedule_count": "INSERT",
    "punctual_scope_outcome": "INSERT",
    "punctual_secret": WRITE,
    "punctual_subscription": WRITE,
    "punctual_task": WRITE,
    "punctual_tenant": "INSERT (name)",  # its own, when it is named for the first time; never its quotas
    "punctual_tenant_key": "INSERT",  # its first; commands rotate and destroy keys
    "punctual_turn": WRITE,
    "punctual_unit_revision": "INSERT, UPDATE",
    "punctual_trace": "INSERT, UPDATE",
    "punctual_wait": WRITE,
    "django_admin_log": "INSERT",
}
OPERATORS = {
    "punctual_batch": "UPDATE (finished_at)",  # a worker is drained: what it has not begun goes back
    "punctual_chore": "UPDATE",
    "punctual_curb": WRITE,
    "punctual_host": WRITE,
    "punctual_host_permit": WRITE,
    "punctual_installation": "INSERT, UPDATE",
    "punctual_key_walk": "INSERT, UPDATE",
    "punctual_lane_pause": WRITE,
    "punctual_lane_resume": WRITE,
    "punctual_node": "UPDATE",
    "punctual_recovery": "INSERT, UPDATE",
    "punctual_safeguard": "INSERT, UPDATE",
    "punctual_safeguard_incident": "INSERT, UPDATE",
    "punctual_shard_lease": "UPDATE",
    "punctual_sign": "INSERT, UPDATE",
    "punctual_tenant": "INSERT, UPDATE",
    "punctual_tenant_archive": WRITE,
    "punctual_type_limit": WRITE,
    "django_migrations": "",
}
ONLY_READ = {
    "punctual_alarm_reader",
    "punctual_any_batch",
    "punctual_any_task",
    "punctual_audit_anchor",
    "punctual_audit_link",
    "punctual_audit_missing",
    "punctual_audit_place",
    "punctual_audit_skipped",
    "punctual_audit_trail",
    "punctual_audit_unchained",
    "punctual_backup_place",
    "punctual_count",
    "punctual_count_pass",
    "punctual_declared_job",
    "punctual_dlq_entry",
    "punctual_held",
    "punctual_hour_figures",
    "punctual_imported_schedule",
    "punctual_job_definition",
    "punctual_job_instance",
    "punctual_leaving",
    "punctual_log",
    "punctual_minute_figures",
    "punctual_outbox_window",
    "punctual_past_batch",
    "punctual_pulse",
    "punctual_pulse_reader",
    "punctual_quota_use",
    "punctual_rehearsed",
    "punctual_retry_entry",
    "punctual_scope_minute",
    "punctual_service_minute",
    "punctual_sieve",
    "punctual_sieve_late",
    "punctual_sieve_part",
    "punctual_stall",
    "punctual_timetable",
}
ENGINE_ONLY = {"punctual_curb_permit"}  # no request may even read them
HIDDEN_FROM_TENANTS = {"django_session"}  # a session key is as good as a password
OURS = "punctual_"

# The rights that the owner has given the web's roles, on tables and views that this login may act for.
_HELD = """
SELECT role, c.oid::regclass::text, c.relname::text, c.relispartition,
       ARRAY(SELECT a.privilege_type FROM aclexplode(c.relacl) a
             WHERE a.grantee = to_regrole(role) AND a.grantor = c.relowner
             UNION ALL
             SELECT a.privilege_type || ' (' || quote_ident(attname) || ')'
             FROM pg_attribute CROSS JOIN LATERAL aclexplode(attacl) a
             WHERE attrelid = c.oid AND NOT attisdropped AND a.grantee = to_regrole(role) AND a.grantor = c.relowner)
FROM pg_class c CROSS JOIN unnest(%(roles)s::text[]) AS role
WHERE c.relnamespace = to_regnamespace(quote_ident(%(schema)s)) AND c.relkind IN ('r', 'p', 'v', 'm')
  AND pg_has_role(current_user, c.relowner, 'USAGE')
ORDER BY c.relname
"""


class Held(NamedTuple):
    role: str
    name: str  # as SQL names it
    plain: str  # without its schema
    is_part: bool
    rights: frozenset[str]


def allowed(role: str, table: str) -> frozenset[str]:
    """What this role may do with a table, such as SELECT or UPDATE (name)."""
    if table.startswith(OURS):
        return _of_ours(role, table)
    if role == WEB:
        if table in HIDDEN_FROM_TENANTS:
            return frozenset()
        return _rights(READ, TENANTS.get(table, ""), WRITE if table in conf().TENANT_WRITES else "")
    return _rights(READ, OPERATORS.get(table, WRITE))


def missing_rights(schema: str, roles: Sequence[str]) -> Iterator[list[str]]:
    """Steps that give what is on the list and take away what is not. What another role than the owner has given stays:
    only that role or a superuser can take it away."""
    more: dict[tuple[str, str], list[str]] = {}
    less: dict[tuple[str, str], list[str]] = {}
    for one in _held(schema, roles):
        wanted = frozenset() if one.is_part else allowed(one.role, one.plain)
        extra = one.rights - wanted
        # To take a verb from a table takes it from all of its columns, too.
        again = {right for right in wanted if right.partition(" ")[0] in extra}
        if missing := (wanted - one.rights) | again:
            more.setdefault((one.role, _joined(missing)), []).append(one.name)
        if extra:
            less.setdefault((one.role, _joined(extra)), []).append(one.name)
    if less or more:
        yield [
            *(f"REVOKE {rights} ON {', '.join(names)} FROM {role}" for (role, rights), names in less.items()),
            *(f"GRANT {rights} ON {', '.join(names)} TO {role}" for (role, rights), names in more.items()),
        ]


def _of_ours(role: str, table: str) -> frozenset[str]:
    listed = table in TENANTS or table in OPERATORS or table in ONLY_READ
    if not listed or table in ENGINE_ONLY:
        return frozenset()
    return _rights(READ, TENANTS.get(table, ""), OPERATORS.get(table, "") if role == WEB_ALL else "")


def _rights(*lists: str) -> frozenset[str]:
    found = {right for one in lists for right in one.split(", ") if right}
    return frozenset(right for right in found if " " not in right or right.partition(" ")[0] not in found)


def _joined(rights: Iterable[str]) -> str:
    return ", ".join(sorted(rights))


def _held(schema: str, roles: Sequence[str]) -> Iterator[Held]:
    for role, name, plain, is_part, rights in execute(_HELD, {"schema": schema, "roles": list(roles)}):
        yield Held(role, name, plain, is_part, frozenset(rights))
