"""Which transport a worker gets; what it takes from a queue is in tests/attack/test_broker_messages.py."""

import os
import ssl

import pytest
from kombu import Connection
from kombu.transport.redis import Transport as Kombus

from tests.support import nursery

LOOK = """
from scheduler_project.celery import app
from tasks_app.engine.worker.transport import Transport
with app.connection_for_read() as connection:
    print(type(connection.transport) is Transport, connection.transport.client.ssl)
"""


@pytest.mark.parametrize(
    ("url", "certificates"),
    [
        ("redis://localhost/0", None),
        ("unix:///tmp/x.sock?db=3", None),
        ("rediss://localhost/0", "required"),
        ("rediss://localhost/0?ssl_cert_reqs=none", ssl.CERT_NONE),
    ],
)
def test_every_url_that_names_redis_gets_this_transport(url, certificates):
    environment = os.environ | {"DATABASE_URL": "postgresql:///none", "REDIS_URL": url}
    looked = nursery.run("manage", "shell", "--no-imports", "--command", LOOK, env=environment, ours=True)

    assert looked.returncode == 0, looked.stderr
    assert looked.stdout.startswith("True ")
    assert (certificates is None) == (looked.stdout.strip() in ("True False", "True None"))
    assert certificates is None or repr(certificates) in looked.stdout


def test_the_transport_of_others_is_kombus_own():
    import scheduler_project.celery  # noqa: F401  (which names ours)

    for url in ("redis://localhost/0", "rediss://localhost/0?ssl_cert_reqs=none", "redis+socket:///tmp/x.sock"):
        assert type(Connection(url).transport) is Kombus
