"""All rules at once, over all that is there and in one snapshot: for tests, chaos and drills, where little is there."""

from tasks_app.conf import conf
from tasks_app.sql import _text, execute

from .checks import ANYWHERE, CHECKS, Check
from .examine import END, params
from .told import EVENTS, TOLD


def broken_rules() -> list[tuple[str, str, str]]:
    """(rule, id, detail) of every row that breaks one. What is not kept can't be missed."""
    kept = conf().kept_events
    rules = [(one.rule, text) for one in CHECKS for text in _texts(one)]
    rules += [(rule, query) for rule, (kinds, query) in TOLD.items() if all(kind in kept for kind in kinds)]
    parts = [
        f"SELECT '{rule}' AS rule, id::text, detail FROM (\n{query}\n) AS broken(id, detail)" for rule, query in rules
    ]
    # Planning so long a statement costs more than running it, and some tests ask after every step: its plan is kept.
    return execute(EVENTS + " UNION ALL ".join(parts), params(0, END, None), long=True)


def assert_consistent() -> None:
    """Raises AssertionError with all that is wrong."""
    broken = broken_rules()
    if broken:
        raise AssertionError("\n".join(f"{rule}: not so for {id_} ({detail})" for rule, id_, detail in broken))


def _texts(check: Check) -> list[str]:
    text = _text(check.statement)
    if "--rows" not in text:
        return [text]
    tables = check.tables if check.walks else (ANYWHERE,)
    return [text.replace("--rows", table) for table in tables]
