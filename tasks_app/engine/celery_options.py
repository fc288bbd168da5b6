"""The options of Punctual's Celery app; docs/data-path.md gives the reason for each.

PostgreSQL recovers lost work, so the broker's own redelivery, results, ETAs and remote control are off.
"""

from urllib.parse import parse_qsl, quote, urlsplit

from kombu import Queue
from kombu.transport import TRANSPORT_ALIASES
from redis.backoff import NoBackoff
from redis.retry import Retry

from tasks_app.conf import conf
from tasks_app.core.lanes import DEFAULT_LANE, LANES
from tasks_app.core.redis_url import SENTINEL, Sentinels

# A URL can't name a class, and people should not have to read one in a worker's banner.
_SCHEME, _SENTINEL_SCHEME = "punctual", "punctual-sentinel"
TRANSPORT_ALIASES[_SCHEME] = "tasks_app.engine.worker.transport:Transport"
TRANSPORT_ALIASES[_SENTINEL_SCHEME] = "tasks_app.engine.worker.transport:SentinelTransport"
_sentinels = Sentinels.of(conf().REDIS_URL) if conf().REDIS_URL.startswith(SENTINEL) else None


def _url(redis_url: str) -> str:
    """kombu's spelling of a redis-py URL."""
    if _sentinels is not None:
        return ";".join(_sentinel_url(_sentinels, host, port) for host, port in _sentinels.addresses)
    parts = urlsplit(redis_url)
    if parts.scheme != "unix":
        return redis_url
    database = dict(parse_qsl(parts.query)).get("db", "0")
    return f"{_SCHEME}+socket://{parts.netloc}{parts.path}?virtual_host={database}"


def _sentinel_url(asked: Sentinels, host: str, port: int) -> str:
    secret = ":".join(quote(one or "", safe="") for one in (asked.username, asked.password))
    shown = f"[{host}]" if ":" in host else host
    return f"{SENTINEL}{secret + '@' if secret != ':' else ''}{shown}:{port}/{asked.db}"


broker_url = _url(conf().REDIS_URL)
broker_transport = _SCHEME if _sentinels is None else _SENTINEL_SCHEME
if broker_url.startswith("rediss"):
    broker_use_ssl = {"ssl_cert_reqs": "required"}  # kombu would take any certificate; the URL's own word comes first
broker_transport_options = {
    "ack_emulation": False,
    "global_keyprefix": conf().redis_key(""),
    "socket_timeout": 5,
    "socket_connect_timeout": 3,
    "socket_keepalive": True,
    "health_check_interval": 10,
    "client_name": "punctual",
    "priority_steps": [0],
    "queue_order_strategy": "tasks_app.core.cycle:WeightedCycle",
}
# redis-py's own would ask a sentinel that is gone for most of a minute, before the next one.
_SENTINEL_PATIENCE = {"socket_timeout": 1, "socket_connect_timeout": 1, "retry": Retry(NoBackoff(), 0)}
if _sentinels is not None:
    broker_transport_options |= {
        "master_name": _sentinels.master,
        "sentinel_kwargs": _SENTINEL_PATIENCE | _sentinels.secret,
    }
broker_pool_limit = 4
broker_connection_retry = True
broker_connection_retry_on_startup = True
broker_connection_max_retries = None
broker_channel_error_retry = True
task_acks_late = False
task_reject_on_worker_lost = False
task_ignore_result = True
task_publish_retry = False
task_serializer = "json"
result_serializer = "json"
accept_content = ["json"]
task_create_missing_queues = False
task_queues = [Queue(lane, routing_key=lane) for lane in LANES]
task_default_queue = DEFAULT_LANE
task_send_sent_event = False
imports = ["tasks_app.engine.worker.task"]
worker_send_task_events = False
worker_enable_remote_control = False
worker_consumer = "tasks_app.engine.worker.consumer:Consumer"
worker_disable_prefetch = True
worker_prefetch_multiplier = 1
worker_cancel_long_running_tasks_on_connection_loss = False
worker_proc_alive_timeout = 60  # a child that is spawned imports the project first; Celery would give it 4 s
worker_max_memory_per_child = 400_000  # kB
worker_hijack_root_logger = False
worker_redirect_stdouts = False
beat_scheduler = "tasks_app.engine.beat.process:PunctualBeat"
timezone = "UTC"

_own = dict(conf().CELERY)
broker_transport_options |= _own.pop("broker_transport_options", {})  # one by one: the others hold promises up
globals().update(_own)
