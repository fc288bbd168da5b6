"""Which transport a worker gets; what it takes from a queue is in tests/attack/test_broker_messages.py."""


def test_every_url_that_names_redis_gets_this_transport():
    from kombu import Connection

    import scheduler_project.celery  # noqa: F401  (names the transport)
    from tasks_app.engine.worker.transport import Transport

    urls = ("redis://localhost/0", "rediss://localhost/0", "redis+socket:///tmp/x.sock?virtual_host=0")
    assert {Connection(url).transport_cls for url in urls} <= {"redis", "rediss"}
    assert {type(Connection(url).transport) for url in urls} == {Transport}
