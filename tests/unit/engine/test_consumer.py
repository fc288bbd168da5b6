"""How often a worker looks for a broker that is away."""

from types import SimpleNamespace

import pytest
from celery.app.defaults import NAMESPACES
from kombu.exceptions import OperationalError
from kombu.utils import functional

from scheduler_project.celery import app
from tasks_app.engine.worker.consumer import Consumer

TRIES = 12


def test_a_worker_looks_for_its_broker_every_two_seconds_however_long_it_is_away(monkeypatch, tmp_path):
    waited = []
    monkeypatch.setattr(functional, "sleep", waited.append)
    consumer = Consumer.__new__(Consumer)
    consumer.first_connection_attempt, consumer.broker_connection_retry_attempt = False, 0
    consumer.app = SimpleNamespace(conf=SimpleNamespace(broker_connection_max_retries=TRIES))
    consumer.app.conf.broker_connection_retry = consumer.app.conf.broker_connection_retry_on_startup = True

    with pytest.raises(OperationalError):
        consumer.ensure_connected(app.connection_for_read(f"punctual+socket://{tmp_path}/nobody-listens.sock"))

    assert 0 < sum(waited) <= 2 * TRIES


def test_the_project_uses_this_consumer():
    assert "consumer" in NAMESPACES["worker"]
    assert app.conf.worker_consumer == "tasks_app.engine.worker.consumer:Consumer"
