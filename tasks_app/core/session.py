"""What the engine needs of its sessions with PostgreSQL, as OPTIONS for Django; docs/data-path.md gives the reasons."""

from collections.abc import Mapping

# Known to the server. The engine's statements are written so that one plan fits every parameter; planning takes longer
# than running them.
LIMITS = {
    "lock_timeout": "5s",
    "idle_in_transaction_session_timeout": "60s",
    "plan_cache_mode": "force_generic_plan",
}
# Known to libpq.
CLIENT = {
    "connect_timeout": 5,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,  # ms
}
# Of several servers one is the primary; one that swallows packets holds nobody up for long.
SEVERAL = {
    "target_session_attrs": "read-write",
    "connect_timeout": 3,  # for each of them
    "keepalives_idle": 5,
    "keepalives_interval": 3,
    "keepalives_count": 2,
    "tcp_user_timeout": 10_000,  # ms
}
NAME = {"application_name": "punctual"}
PREPARE_AFTER = 1  # runs of a statement


def options_for_engine(
    given: Mapping[str, object], environment: str = "", *, pooled: bool, hosts: str = ""
) -> dict[str, object]:
    """OPTIONS with what is missing; what is given counts. `environment` is PGOPTIONS, which `options` would hide.
    `hosts` is HOST, with a comma if there are several.

    Behind a pooler that hands a session on after each transaction, nothing is asked of the session: no limits, which
    many refuse to pass on, no prepared statements, and no name, which PgBouncer leaves to whoever comes next. A service
    file says what it wants, so nothing is put above it.
    """
    options = dict(given)
    options.pop("pool", None)  # a process of ours has as many connections as it has threads, and keeps them
    if "service" not in options:
        options = CLIENT | (SEVERAL if "," in hosts else {}) | options
        if not pooled:
            options = NAME | options
            own = " ".join(f"-c {name}={value}" for name, value in LIMITS.items())
            theirs = options.get("options") or environment  # of two values for one name the last counts
            options["options"] = f"{own} {theirs}".strip()
    if not pooled:
        options.setdefault("prepare_threshold", PREPARE_AFTER)
    return options
