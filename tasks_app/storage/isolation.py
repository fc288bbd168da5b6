"""Row-level security: the roles, the policies of our tables and the rights, as statements that are still to be run.

`migrate` runs them if it may, and `manage.py database roles` shows or runs them. They are worked out from PostgreSQL's
catalogue, so they can be run again at any time, and a table that is new is never forgotten.
"""

import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from django.db import OperationalError
from psycopg import sql

from tasks_app.core.isolation import ENGINE, OPEN_POLICY, SETTING, TENANT_POLICY, WEB, WEB_ALL
from tasks_app.core.tenants import DEFAULT_TENANT, INTERNAL_TENANT
from tasks_app.database import atomic, our_connection
from tasks_app.documentation import page
from tasks_app.sql import execute

from .rights import RESTRICTED, missing_rights

ROLES = (ENGINE, WEB, WEB_ALL)
# Whoever is a member of the engine may become one of the web's roles, and is free of their policies until then.
_KINDS = {ENGINE: " NOINHERIT", WEB: "", WEB_ALL: ""}
MONITOR = "pg_monitor"  # PostgreSQL's own: sees sessions and standbys, for the pages that show them
LOCK_MS, PAUSE_SECONDS, TRIES = 500, 0.2, 50

# What hangs off something that has a tenant: who sees that sees this. By the name of the whole table, with partitions.
# The functions ask with the rights of who asks, so the policies of what they look into decide.
CHILDREN = {
    "punctual_tenant": f"name = current_setting('{SETTING}', true)",
    "punctual_attempt": "punctual_sees_task(task_id)",
    "punctual_log": "punctual_sees_task(task_id)",
    "punctual_progress": "punctual_sees_task(task)",
    "punctual_trace": "punctual_sees_task(task)",
    "punctual_wait": "punctual_sees_task(task)",
    "punctual_away": "punctual_sees_task(task)",
    "punctual_early_report": "punctual_sees_task(task)",
    "punctual_rehearsed": "punctual_sees_task(task)",
    "punctual_turn": "punctual_sees_job(job)",
    "punctual_job_parent": "punctual_sees_job(job)",
    "punctual_firing_override": "punctual_sees_job(job)",
    "punctual_backfill": "punctual_sees_campaign(campaign_id)",
    "punctual_campaign_chunk": "punctual_sees_campaign(campaign_id)",
    "punctual_delivery": "punctual_sees_subscription(subscription_id)",
    "punctual_alarm_alert": "punctual_sees_channel(channel)",
}
# What belongs to nobody in particular, and why a request of any tenant may see it.
SHARED = {
    "punctual_alarm_reader": "how far the alarms have read",
    "punctual_audit_anchor": "signed heads of all trails",
    "punctual_audit_missing": "numbers of entries",
    "punctual_audit_place": "where anchors are kept",
    "punctual_audit_unchained": "numbers of entries",
    "punctual_away_outcome": "figures by type",
    "punctual_backup_place": "where backups are kept",
    "punctual_batch": "numbers and times; one has tasks of many tenants",
    "punctual_chore": "what beats do",
    "punctual_count": "figures of /metrics",
    "punctual_count_pass": "how far they are counted",
    "punctual_curb": "what safeguards hold back, for all",
    "punctual_curb_permit": "batches that run under them",
    "punctual_host": "limits of hosts, for all",
    "punctual_host_permit": "the same",
    "punctual_hour_figures": "figures of the installation",
    "punctual_installation": "the installation's one row",
    "punctual_job_cursor": "schedules, which jobs share",
    "punctual_key_walk": "how far a rotation is",
    "punctual_lane_pause": "lanes, which all share",
    "punctual_lane_resume": "the same",
    "punctual_leaving": "partitions on their way to the archive",
    "punctual_minute_figures": "figures by type",
    "punctual_node": "beats and workers",
    "punctual_outbox_window": "stretches of the outbox",
    "punctual_past_batch": "as punctual_batch",
    "punctual_pulse": "figures by type",
    "punctual_pulse_reader": "how far they are read",
    "punctual_recovery": "recoveries, for all",
    "punctual_safeguard": "for all",
    "punctual_safeguard_incident": "for all",
    "punctual_service_minute": "figures of the installation",
    "punctual_shard_lease": "who holds which shard",
    "punctual_sieve": "partitions of the past",
    "punctual_sieve_late": "hashes of units that came to them later",
    "punctual_sieve_part": "two bytes of a hash of each unit in them",
    "punctual_sign": "signs of life",
    "punctual_stall": "what beats hung on",
    "punctual_timetable": "how far the timetables of shards lie behind",
    "punctual_type_limit": "limits of types, for all",
}
READ, WRITE = ("SELECT",), ("INSERT", "UPDATE", "DELETE")

_TABLES = """
WITH RECURSIVE ours AS (
    SELECT c.oid, c.relname AS root, c.oid AS part FROM pg_class c
    WHERE c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = to_regclass('punctual_task'))
      AND c.relkind IN ('r', 'p') AND starts_with(c.relname, 'punctual_') AND NOT c.relispartition
    UNION ALL
    SELECT ours.oid, ours.root, i.inhrelid FROM ours JOIN pg_inherits i ON i.inhparent = ours.part
)
SELECT o.root, c.relname, c.relrowsecurity AND c.relforcerowsecurity,
       EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'tenant' AND NOT a.attisdropped),
       ARRAY(SELECT polname::text FROM pg_policy p WHERE p.polrelid = c.oid ORDER BY 1)
FROM ours o JOIN pg_class c ON c.oid = o.part
ORDER BY 1, c.oid
"""
_FACTS = """
SELECT current_user::text, rolsuper OR rolcreaterole, rolsuper,
       ARRAY(SELECT rolname::text FROM pg_roles WHERE rolname = ANY (%(roles)s)),
       n.nspname::text, pg_get_userbyid(c.relowner)::text,
       ARRAY(SELECT DISTINCT pg_get_userbyid(a.grantee)::text FROM aclexplode(c.relacl) a
             WHERE a.privilege_type = 'INSERT' AND a.grantee NOT IN (0, c.relowner)),
       pg_has_role(current_user, c.relowner, 'USAGE')
FROM pg_roles r CROSS JOIN pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE r.rolname = current_user AND c.oid = to_regclass('punctual_task') AND to_regclass('punctual_tenant') IS NOT NULL
"""
_MEMBERS = """
SELECT g.rolname::text, m.rolname::text FROM pg_auth_members a
JOIN pg_roles g ON g.oid = a.roleid JOIN pg_roles m ON m.oid = a.member
WHERE g.rolname = ANY (%(roles)s) AND (to_jsonb(a)->>'set_option') IS DISTINCT FROM 'false'
"""
# Only what this role may give; what is given is not given again.
_RIGHTS = """
SELECT r.rolname::text, c.relkind::text, array_agg(c.oid::regclass::text ORDER BY c.relname)
FROM pg_class c CROSS JOIN pg_roles r
WHERE c.relnamespace = to_regnamespace(quote_ident(%(schema)s)) AND pg_has_role(current_user, c.relowner, 'USAGE')
  AND CASE WHEN c.relkind = 'S'
           THEN r.rolname = ANY (%(roles)s) AND NOT has_sequence_privilege(r.oid, c.oid, 'USAGE')
           WHEN c.relkind IN ('r', 'p', 'v', 'm') AND r.rolname = %(engine)s
           THEN NOT (has_table_privilege(r.oid, c.oid, 'SELECT') AND has_table_privilege(r.oid, c.oid, 'INSERT')
                     AND has_table_privilege(r.oid, c.oid, 'UPDATE') AND has_table_privilege(r.oid, c.oid, 'DELETE'))
           END
GROUP BY 1, 2
"""
_FUNCTIONS = """
SELECT array_agg(p.oid::regprocedure::text ORDER BY p.oid) FROM pg_proc p
WHERE p.pronamespace = to_regnamespace(quote_ident(%(schema)s)) AND starts_with(p.proname, 'punctual_')
  AND pg_has_role(current_user, p.proowner, 'USAGE') AND NOT has_function_privilege(%(role)s, p.oid, 'EXECUTE')
"""
# Default privileges for tables made later: all for the engine, none for the web's roles, which have a list.
_DEFAULTS = """
SELECT coalesce(bool_or(r.rolname = %(engine)s), FALSE),
       coalesce(array_agg(DISTINCT r.rolname::text) FILTER (WHERE r.rolname <> %(engine)s), '{}')
FROM pg_default_acl d CROSS JOIN LATERAL aclexplode(d.defaclacl) a JOIN pg_roles r ON r.oid = a.grantee
WHERE d.defaclnamespace = to_regnamespace(quote_ident(%(schema)s)) AND d.defaclrole = %(owner)s::regrole
  AND d.defaclobjtype = 'r' AND r.rolname = ANY (%(all)s)
"""

_LOGIN = """
SELECT pg_has_role(session_user, %(role)s, 'MEMBER'), pg_has_role(session_user, %(role)s, 'USAGE') AND NOT r.rolsuper,
       CASE WHEN r.rolsuper THEN 'is a superuser' WHEN r.rolbypassrls THEN 'has BYPASSRLS'
            WHEN c.relowner = r.oid THEN 'owns the tables' ELSE '' END
FROM pg_roles r CROSS JOIN pg_class c WHERE r.rolname = session_user AND c.oid = to_regclass('punctual_task')
"""
_SEVERAL_TENANTS = f"""
SELECT EXISTS (SELECT FROM punctual_tenant WHERE name NOT IN ('{DEFAULT_TENANT}', '{INTERNAL_TENANT}'))
"""
_CODE_ONLY = "Punctual's own code keeps tenants apart, but the database doesn't: {}."


class Table(NamedTuple):
    root: str  # the table it is a part of, or itself
    name: str
    forced: bool  # row-level security is on, for its owner too
    has_tenant: bool
    policies: list[str]

    @property
    def rule(self) -> str | None:
        """Which rows a request of one tenant may see and write; None: all."""
        if self.root in CHILDREN:
            return CHILDREN[self.root]
        return f"tenant = current_setting('{SETTING}', true)" if self.has_tenant else None


class Facts(NamedTuple):
    login: str
    may_make_roles: bool
    is_superuser: bool
    roles: list[str]
    schema: str
    owner: str  # of our tables
    users: list[str]  # who was given the right to write to them
    acts_for_owner: bool


class Finding(NamedTuple):
    words: str
    way_out: str


def tables() -> list[Table]:
    """All of ours, with their partitions."""
    return [Table(*row) for row in execute(_TABLES)]


def facts() -> Facts | None:
    """None: our tables are not there."""
    found = execute(_FACTS, {"roles": list(ROLES)})
    return Facts(*found[0]) if found else None


def missing_steps(logins: Sequence[str] = (), *, all_roles: bool = False) -> list[list[str]]:
    """What is still to be run; each step is a transaction. `logins` get the roles, as do those that use the tables.

    Which rights a role lacks can be asked only once it is there; `all_roles` gives all of them to one that isn't.
    """
    known = facts()
    if known is None:
        return []
    steps = [[f"CREATE ROLE {name}{_KINDS[name]}"] for name in ROLES if name not in known.roles]
    steps += [[one] for one in _memberships(known, logins)]
    steps += list(_policies())
    new = [name for name in ROLES if name not in known.roles] if all_roles else []
    return steps + list(_rights(known)) + list(_all_rights(known, new))


def unknown_logins(logins: Sequence[str]) -> list[str]:
    there = {name for (name,) in execute("SELECT rolname::text FROM pg_roles")}
    return [one for one in logins if one not in there]


def set_up(logins: Sequence[str] = ()) -> list[str]:
    """Run what is missing; returns it. A lock is waited for shortly, and again: nobody waits behind us for long."""
    done: list[str] = []
    for _ in range(3):  # rights can only be looked at for roles that are there
        steps = missing_steps(logins)
        if not steps:
            break
        for step in steps:
            briefly(step)
            done += step
    return done


def can_set_up() -> bool:
    """Whether this login may: only who has made the roles, or a superuser, can give them to anybody."""
    known = facts()
    if known is None or not known.acts_for_owner:
        return False
    return known.may_make_roles or (set(known.roles) == set(ROLES) and not list(_memberships(known, ())))


def finding() -> Finding | None:
    """What keeps the database from protecting tenants from each other's requests, or could; None: nothing, or there is
    one tenant only."""
    known = facts()
    if known is None or not execute(_SEVERAL_TENANTS)[0][0]:
        return None
    if set(known.roles) != set(ROLES) or any(one.rule is not None and not one.forced for one in tables()):
        way_out = f"Run `manage.py database roles` as the owner of the tables or a superuser; see {page('isolation')}."
        return Finding(_CODE_ONLY.format("it lacks roles or policies"), way_out)
    ((member, inherits, strong),) = execute(_LOGIN, {"role": WEB})
    if not member:
        way_out = f"Run `manage.py database roles --login {known.login}` as the owner of the tables or a superuser."
        return Finding(_CODE_ONLY.format(f"{known.login} may not become {WEB}"), way_out)
    if inherits:
        words = (
            f"{known.login} inherits the rights of {WEB}, so that its policies hide rows from beats and workers too."
        )
        return Finding(words, f"REVOKE {WEB} FROM {_name(known.login)}; then run `manage.py database roles`.")
    if strong:
        words = f"{known.login} {strong}: a statement that somebody smuggles into a request could see all tenants."
        return Finding(words, f"Give the processes a login that is only a member of {ENGINE}; see {page('isolation')}.")
    return None


def _memberships(known: Facts, logins: Sequence[str]) -> Iterator[str]:
    there = set(execute(_MEMBERS, {"roles": [*ROLES, MONITOR]}))
    wanted = [(WEB, ENGINE), (WEB_ALL, ENGINE)]
    users = {*logins, *known.users} | (set() if known.is_superuser else {known.login})
    wanted += [(ENGINE, one) for one in sorted(users - set(ROLES))]
    if known.is_superuser:
        wanted.append((MONITOR, WEB_ALL))
    for role, member in wanted:
        if (role, member) not in there:
            yield f"GRANT {role} TO {_name(member)}"


def _policies() -> Iterator[list[str]]:
    for table in tables():
        if table.rule is None or (table.forced and {OPEN_POLICY, TENANT_POLICY} <= set(table.policies)):
            continue
        name, step = _name(table.name), []
        if OPEN_POLICY not in table.policies:
            step.append(f"CREATE POLICY {OPEN_POLICY} ON {name} USING (true)")
        if TENANT_POLICY not in table.policies:
            step.append(f"CREATE POLICY {TENANT_POLICY} ON {name} AS RESTRICTIVE TO {WEB} USING ({table.rule})")
        if not table.forced:
            step.append(f"ALTER TABLE {name} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
        yield step


def _rights(known: Facts) -> Iterator[list[str]]:
    """To use the tables, ours and those of the project beside them: pages and endpoints ask for both in one request."""
    there = [one for one in ROLES if one in known.roles]
    schema = _name(known.schema)
    given = {"schema": known.schema, "roles": there, "owner": _name(known.owner), "engine": ENGINE, "all": list(ROLES)}
    if not there:
        return
    ((usable,),) = execute(
        "SELECT bool_and(has_schema_privilege(one, %(schema)s, 'USAGE')) FROM unnest(%(roles)s::text[]) AS one", given
    )
    if not usable:
        yield [f"GRANT USAGE ON SCHEMA {schema} TO {', '.join(there)}"]
    for role, kind, names in execute(_RIGHTS, given):
        if kind == "S":
            yield [f"GRANT USAGE, SELECT ON SEQUENCE {', '.join(names)} TO {role}"]
        else:
            yield [f"GRANT {', '.join(READ + WRITE)} ON {', '.join(names)} TO {role}"]
    yield from missing_rights(known.schema, [one for one in RESTRICTED if one in there])
    if ENGINE in there:
        ((names,),) = execute(_FUNCTIONS, {"schema": known.schema, "role": ENGINE})
        if names:
            yield [f"GRANT EXECUTE ON FUNCTION {', '.join(names)} TO {ENGINE}"]
    ((engine_gets, others),) = execute(_DEFAULTS, given)
    begin = f"ALTER DEFAULT PRIVILEGES FOR ROLE {_name(known.owner)} IN SCHEMA {schema}"
    if others:
        yield [f"{begin} REVOKE ALL ON TABLES FROM {', '.join(others)}"]
    if ENGINE in there and not engine_gets:
        yield _defaults(begin)


def _all_rights(known: Facts, roles: Sequence[str]) -> Iterator[list[str]]:
    """Of roles that are yet to be made."""
    if not roles:
        return
    schema, names = _name(known.schema), ", ".join(roles)
    yield [f"GRANT USAGE ON SCHEMA {schema} TO {names}"]
    yield [f"GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA {schema} TO {names}"]
    yield from missing_rights(known.schema, [one for one in RESTRICTED if one in roles])
    if ENGINE in roles:
        yield [f"GRANT {', '.join(READ + WRITE)} ON ALL TABLES IN SCHEMA {schema} TO {ENGINE}"]
        yield [f"GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA {schema} TO {ENGINE}"]
        yield _defaults(f"ALTER DEFAULT PRIVILEGES FOR ROLE {_name(known.owner)} IN SCHEMA {schema}")


def _defaults(begin: str) -> list[str]:
    return [
        f"{begin} GRANT {', '.join(READ + WRITE)} ON TABLES TO {ENGINE}",
        f"{begin} GRANT USAGE, SELECT ON SEQUENCES TO {', '.join(ROLES)}",
    ]


def briefly(step: Sequence[str]) -> None:
    for left in reversed(range(TRIES)):
        try:
            with atomic():
                execute(f"SET LOCAL lock_timeout = '{LOCK_MS}ms'")
                for statement in step:
                    execute(statement)
                return
        except OperationalError as error:
            if not left or getattr(error.__cause__, "sqlstate", "") not in ("55P03", "40P01"):
                raise
            time.sleep(PAUSE_SECONDS)


def _name(text: str) -> str:
    return sql.Identifier(text).as_string(our_connection().connection)
