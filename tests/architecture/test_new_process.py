"""What our code remembers for the life of its process is put back after each test, or stays for a reason."""

import ast
from pathlib import Path

from tasks_app.engine import lookout
from tasks_app.engine.beat import mover, quotas, tenants
from tasks_app.lifecycle import named_secrets
from tests.support.new_process import REMEMBERED, STAYS, assigned, forget

ROOT = Path(__file__).resolve().parent.parent.parent
# What is made by calling one of these can be changed.
CHANGEABLE = {"Counter", "Event", "OrderedDict", "WeakSet", "count", "defaultdict", "deque", "dict", "local", "mmap"}


def test_whatever_a_module_remembers_is_put_back_after_each_test_or_stays_for_a_reason():
    found = {
        (module, name)
        for app in ("django_punctual", "tasks_app", "articles_app", "inventory_app", "demo_app")
        for path in (ROOT / app).rglob("*.py")
        if "migrations" not in path.parts
        for module in [".".join(path.relative_to(ROOT).with_suffix("").parts)]
        for name in _changeable(ast.parse(path.read_bytes()))
    }
    known = {(module, name) for table in (REMEMBERED, STAYS) for module, names in table.items() for name in names}

    assert found - known == set()
    assert {one for one in known - found if one[1].islower()} == set()  # no longer there


def test_it_is_as_in_a_process_that_has_just_begun():
    stopped, known, looks = tenants._stopped, named_secrets._known_at, lookout.LOOKOUT
    stopped.set()
    known["acme", "a secret"] = 1.0
    looks._next_at = 1e9
    quotas._jobs_at = mover._walked_at = 7.0

    forget()

    assert not tenants._stopped.is_set() and tenants._stopped is stopped
    assert named_secrets._known_at == {} and named_secrets._known_at is known
    assert lookout.LOOKOUT._next_at == 0.0 and lookout.LOOKOUT is looks
    assert (mover._walked_at, quotas._jobs_at) == (float("-inf"), float("-inf"))


def _changeable(tree: ast.Module) -> set[str]:
    changed = {name for one in ast.walk(tree) if isinstance(one, ast.Global) for name in one.names}
    return {
        name
        for name, value in assigned(tree)
        if name in changed or (_empty(value) and name != "urlpatterns") or (_private(name) and _can_change(value))
    }


def _private(name: str) -> bool:
    return name.islower() and name.startswith("_") and not name.startswith("__")


def _empty(value: ast.expr) -> bool:
    """To be filled by somebody."""
    match value:
        case ast.Dict([], []) | ast.List([]) | ast.Call(ast.Name("set" | "dict" | "list"), [], []):
            return True
    return False


def _can_change(value: ast.expr) -> bool:
    match value:
        case ast.Dict() | ast.List() | ast.Set():
            return True
        case ast.Call(ast.Name(name) | ast.Attribute(_, name)):
            return name in CHANGEABLE
    return False
