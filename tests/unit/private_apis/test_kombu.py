"""What we use of kombu that it never promised."""

import ast
import hashlib
import inspect
import textwrap
from types import SimpleNamespace

import redis
from kombu.transport import TRANSPORT_ALIASES, memory, resolve_transport, virtual
from kombu.transport import redis as kombu_redis
from kombu.utils.encoding import bytes_to_str
from kombu.utils.scheduling import cycle_by_name


def test_kombu_finds_a_transport_by_its_alias(monkeypatch):
    monkeypatch.setitem(TRANSPORT_ALIASES, "redis", "kombu.transport.memory:Transport")

    assert resolve_transport("redis") is memory.Transport


def test_kombu_reads_a_message_as_our_copy_does():
    """If this fails: compare kombu's method with tasks_app/engine/worker/transport.py, then write its new sum here."""
    source = ast.unparse(ast.parse(textwrap.dedent(inspect.getsource(kombu_redis.Channel._brpop_read))))

    flushes = hasattr(kombu_redis.Channel, "_flush_brpop_reauth")  # from kombu 5.7 on
    assert hashlib.sha256(source.encode()).hexdigest()[:16] == ("61a2bfc9294c1c8c" if flushes else "0fdd83797ce09567")


def test_kombu_asks_for_nothing_without_a_queue():
    channel = SimpleNamespace(brpop_timeout=1, active_queues=(), _queue_cycle=cycle_by_name("round_robin")())

    kombu_redis.Channel._brpop_start(channel)  # it has no client that could be asked

    assert list(inspect.signature(kombu_redis.Channel._brpop_start).parameters) == ["self", "timeout"]


def test_kombu_pops_from_the_queues_of_its_cycle():
    channel = SimpleNamespace(active_queues=["a", "b"], _queue_cycle=cycle_by_name("round_robin")())

    kombu_redis.Channel._update_queue_cycle(channel)
    first = list(channel._queue_cycle.consume(2))
    channel._queue_cycle.rotate("a")

    assert (first, list(channel._queue_cycle.consume(2))) == (["a", "b"], ["b", "a"])
    assert isinstance(kombu_redis.Channel.active_queues, property)


def test_kombu_asks_for_the_size_of_a_queue():
    assert list(inspect.signature(kombu_redis.Channel._size).parameters) == ["self", "queue"]
    assert "_size" in virtual.Channel.queue_declare.__code__.co_names
    assert kombu_redis.Channel._get_response_error(None) is redis.ResponseError
    assert "ResponseError" in kombu_redis.Channel.__init__.__code__.co_names


def test_kombu_delivers_to_the_consumer_of_the_queue():
    delivered = []

    virtual.Transport._deliver(SimpleNamespace(_callbacks={"lane": delivered.append}), {"body": ""}, "lane")

    assert delivered == [{"body": ""}]
    assert kombu_redis.Transport._deliver is virtual.Transport._deliver


def test_kombu_hands_out_a_client_that_prefixes_keys_in_a_pipeline():
    made = kombu_redis.PrefixedStrictRedis(global_keyprefix="punctual:")

    with kombu_redis.Channel.conn_or_acquire(SimpleNamespace(_create_client=lambda: made)) as client:
        with client.pipeline(transaction=False) as pipeline:
            pipeline.lpush("lane", "message")
            [(words, _)] = pipeline.command_stack
            assert words == ("LPUSH", "punctual:lane", "message")


def test_kombu_reads_names_and_messages_with_these():
    priority = f"lane{kombu_redis.Channel.sep}3".encode()

    assert bytes_to_str(priority).rsplit(kombu_redis.Channel.sep, 1)[0] == "lane"
    assert kombu_redis.loads('{"a": 1}') == {"a": 1}
