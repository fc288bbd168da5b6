"""What a caller gives for an HTTP_CALLBACK, checked when it is scheduled or saved."""

from collections.abc import Mapping

from tasks_app import outgoing
from tasks_app.conf import conf
from tasks_app.core.callbacks import Callback, checked_callback
from tasks_app.core.errors import InvalidTask
from tasks_app.core.hosts import host_of
from tasks_app.core.phrases import figure

from .named_secrets import refuse_unknown, refuse_unsigned


def refuse_bad_callback(tenant: str, payload: object) -> None:
    """Raises InvalidTask if this call could not be made. The payload fits the handler, or there is none."""
    if not isinstance(payload, Mapping):
        return
    callback = Callback(**payload)
    receiver = checked_callback(callback)
    outgoing.checked(callback.url)
    refuse_unknown(tenant, {one["secret"] for one in callback.secrets.values()}, host_of(receiver))
    if callback.later is not None and not conf().API_URL:
        raise InvalidTask(
            f'later={figure(callback.later)}: PUNCTUAL["API_URL"] is empty, so nobody can be told where to report. Set '
            "it to the address at which other systems find the API, or leave `later` out."
        )
    if callback.sign:
        refuse_unsigned(tenant, callback.sign)
