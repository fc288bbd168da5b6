"""Django system checks: the configuration and the declared handlers make sense together."""

from django.conf import settings
from django.core import checks

from .conf import from_settings
from .core.errors import InvalidConfiguration
from .core.handlers import REGISTRY

_FORBIDDEN_CELERY = {
    "CELERY_TASK_ACKS_LATE": "the lease recovers lost work; a late ack would run it twice",
    "CELERY_TASK_ALWAYS_EAGER": "batches would run inside the dispatcher",
    "CELERY_TASK_REJECT_ON_WORKER_LOST": "a task that kills its worker would be delivered for ever",
    "CELERY_TASK_PUBLISH_RETRY": "a stalled Redis would hold the dispatcher",
}


@checks.register()
def check_configuration(**_: object) -> list[checks.CheckMessage]:
    found = []
    try:
        from_settings(getattr(settings, "PUNCTUAL", {}))
    except InvalidConfiguration as error:
        found += [checks.Error(line, id="punctual.E001") for line in str(error).splitlines()]
    for name, why in _FORBIDDEN_CELERY.items():
        if getattr(settings, name, False):
            found.append(checks.Error(f"{name} is on: {why}. Turn it off.", id="punctual.E002"))
    if getattr(settings, "CELERY_BEAT_SCHEDULE", None):
        found.append(
            checks.Warning(
                "CELERY_BEAT_SCHEDULE has entries, but Punctual's beat does not run them. "
                "Make them jobs; docs/jobs.md says how.",
                id="punctual.W001",
            )
        )
    if not getattr(settings, "USE_TZ", True):
        found.append(checks.Error("USE_TZ is off; due times are instants. Turn it on.", id="punctual.E003"))
    return found


@checks.register()
def check_handlers(**_: object) -> list[checks.CheckMessage]:
    return [
        checks.Error(f"handler {handler.name!r} ({handler.declared_at}): {problem}", id="punctual.E004")
        for handler in REGISTRY
        for problem in handler.contradictions()
    ]
