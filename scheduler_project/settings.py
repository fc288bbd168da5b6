"""Django settings. What a deployment changes comes from the environment; see docs/configuration.md."""

import os
import secrets

from django.templatetags.static import static
from kombu import Queue

from tasks_app.core.lanes import DEFAULT_LANE, LANES

from . import embedded, env

BASE_DIR = env.BASE_DIR
DATABASE_URL, REDIS_URL = env.service_urls()


def _secret_key() -> str:
    """SECRET_KEY from the environment, else one made up once and kept beside the embedded data."""
    given = os.environ.get("SECRET_KEY")
    if given:
        return given
    try:
        return embedded.kept_secret(embedded.open_home(env.home()), "secret-key", secrets.token_urlsafe(50))
    except (embedded.EmbeddedError, OSError) as error:
        raise env.EnvironmentProblem(f"SECRET_KEY is not set, and none can be kept: {error}") from None


SECRET_KEY = _secret_key()
DEBUG = env.flag("DEBUG", False)
ALLOWED_HOSTS = os.environ.get("ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]").split(",")

# Behind a proxy, one variable says all that follows from the address that people type; docs/deploy.md shows the proxy.
if _public := env.public_url():
    ALLOWED_HOSTS.append(f"[{_public.hostname}]" if ":" in _public.hostname else _public.hostname)
    CSRF_TRUSTED_ORIGINS = [f"{_public.scheme}://{_public.netloc}"]
    if _public.scheme == "https":
        SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
        SECURE_SSL_REDIRECT = True
        SECURE_SSL_HOST = _public.netloc
        SECURE_REDIRECT_EXEMPT = [r"^api/v1/live$"]  # asked by whoever watches the process, past the proxy
        SECURE_HSTS_SECONDS = 30 * 24 * 3600
        SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = True
# Whose word on their clients counts. Once they are named, nobody else's word on TLS counts either.
TRUSTED_PROXIES = env.networks("TRUSTED_PROXIES", "127.0.0.1,::1")
ONLY_TRUSTED_PROXIES = bool(os.environ.get("TRUSTED_PROXIES"))

INSTALLED_APPS = [
    "unfold",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "tasks_app.api_page.ApiPageConfig",  # from here and not from somebody else's server
    "tasks_app",
    "articles_app",
    "inventory_app",
    *(["demo_app"] if env.plays_demo() else []),
]

MIDDLEWARE = [
    "scheduler_project.security.policy_middleware",
    "scheduler_project.proxy.proxy_middleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "tasks_app.admin.login.access_middleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "tasks_app.pages.typed.keep_typed",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "scheduler_project.web.SlowStatements",
]

ROOT_URLCONF = "scheduler_project.urls"
WSGI_APPLICATION = "scheduler_project.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

# With no database named and no stack running, Django starts anyway; the first query says what is missing.
_NOWHERE = "/no-stack-is-running-and-DATABASE_URL-is-not-set"
DATABASES = {"default": env.database_settings(DATABASE_URL or f"postgresql:///punctual?host={_NOWHERE}")}
DATABASES["default"] |= {
    # Beats and workers keep their connections and replace a dead one themselves; the check is for web requests.
    "CONN_MAX_AGE": None,
    "CONN_HEALTH_CHECKS": True,
    "DISABLE_SERVER_SIDE_CURSORS": True,
}
# A process that hangs must not hold row locks for ever, nor wait for them for ever.
# The engine's statements are written so that one plan fits every parameter; planning takes longer than running them.
DATABASES["default"]["OPTIONS"].setdefault(
    "options",
    "-c lock_timeout=5s -c idle_in_transaction_session_timeout=60s -c plan_cache_mode=force_generic_plan",
)
DATABASES["default"]["OPTIONS"].setdefault("connect_timeout", 5)
# A server that vanished without a word (a power cut, a firewall) is noticed within half a minute, not within hours.
for _name, _value in (("keepalives_idle", 10), ("keepalives_interval", 5), ("keepalives_count", 3)):
    DATABASES["default"]["OPTIONS"].setdefault(_name, _value)
DATABASES["default"]["OPTIONS"].setdefault("tcp_user_timeout", 20_000)  # ms
DATABASES["default"]["OPTIONS"].setdefault("application_name", "punctual")
# The engine's statements are planned once per connection. Behind a pooler that can't keep them, set it to None.
DATABASES["default"]["OPTIONS"].setdefault("prepare_threshold", 1)
# For web requests alone, see web.py: no page may keep the database busy for ever. 0: no limit.
WEB_STATEMENT_SECONDS = env.seconds("WEB_STATEMENT_SECONDS", 15.0)
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("MinimumLengthValidator", "CommonPasswordValidator", "NumericPasswordValidator")
]

LANGUAGE_CODE = "en-us"
TIME_ZONE = "UTC"
USE_I18N = True
USE_TZ = True
FORMAT_MODULE_PATH = ["scheduler_project.formats"]
LOGIN_REDIRECT_URL = "admin:index"

STATIC_URL = "static/"
# Static files are served from where they are installed; set STATIC_ROOT and run collectstatic to serve copies.
STATIC_ROOT = os.environ.get("STATIC_ROOT")
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = DEBUG

UNFOLD = {
    "SITE_TITLE": "Punctual",
    "SITE_HEADER": "Punctual",
    "SITE_SYMBOL": "schedule",
    "SITE_FAVICONS": [{"rel": "icon", "type": "image/svg+xml", "href": lambda request: static("tasks_app/icon.svg")}],
    "DASHBOARD_CALLBACK": "tasks_app.admin.overview.dashboard",
}

# Beside these Django sends X-Content-Type-Options: nosniff and Cross-Origin-Opener-Policy: same-origin by default.
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CSRF_FAILURE_VIEW = "tasks_app.pages.typed.csrf_failure"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {"()": "scheduler_project.logs.LineFormatter", "fmt": "%(asctime)s %(levelname)s %(name)s %(message)s"}
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": os.environ.get("LOG_LEVEL", "INFO")},
    # Celery would log two lines for every batch, and httpx one for every call.
    "loggers": {
        "httpx": {"level": "WARNING"},
        "celery.worker.strategy": {"level": "WARNING"},
        "celery.app.trace": {"level": "WARNING"},
    },
}

PUNCTUAL = {"REDIS_URL": REDIS_URL}
for _name in (
    "DISPATCH_LEASE_SECONDS",
    "RUN_LEASE_SECONDS",
    "HEARTBEAT_SECONDS",
    "SHUTDOWN_SECONDS",
    "SHARD_LEASE_SECONDS",
    "READ_AHEAD_SECONDS",
):
    if _value := os.environ.get(f"PUNCTUAL_{_name}"):
        PUNCTUAL[_name] = env.number(f"PUNCTUAL_{_name}", _value)

ARTICLES = {
    "MODERATION_URL": os.environ.get("MODERATION_URL", ""),
    "MODERATION_TOKEN": os.environ.get("MODERATION_TOKEN", ""),
}
if _value := os.environ.get("AUDIT_LEAD_SECONDS"):
    ARTICLES["AUDIT_LEAD_SECONDS"] = env.number("AUDIT_LEAD_SECONDS", _value)

STOCK = {name: os.environ.get(name, "") for name in ("STOCK_URL", "STOCK_TOKEN")}
for _name in ("ROUND", "ROUND_SECONDS"):  # the second is told to be gone
    if _value := os.environ.get(f"STOCK_{_name}"):
        STOCK[_name] = _value
for _name in ("WINDOW_SECONDS", "TIMEOUT_SECONDS", "RETRY_MAX_SECONDS", "RATE"):
    if _value := os.environ.get(f"STOCK_{_name}"):
        STOCK[_name] = env.number(f"STOCK_{_name}", _value)
for _name in ("BURST", "CONCURRENCY", "BATCH_MAX"):
    if _value := os.environ.get(f"STOCK_{_name}"):
        STOCK[_name] = env.whole_number(f"STOCK_{_name}", _value)

# Celery carries batch numbers and nothing else. PostgreSQL recovers lost work, so the broker's own
# redelivery, results, ETAs and remote control are off; docs/data-path.md gives the reason for each line.
CELERY_BROKER_URL = env.broker_url(REDIS_URL or "unix:///nonexistent/valkey.sock")
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "ack_emulation": False,
    "global_keyprefix": "punctual:",
    "socket_timeout": 5,
    "socket_connect_timeout": 3,
    "socket_keepalive": True,
    "health_check_interval": 10,
    "client_name": "punctual",
    "priority_steps": [0],
    "queue_order_strategy": "tasks_app.core.cycle:WeightedCycle",
}
CELERY_BROKER_POOL_LIMIT = 4
CELERY_BROKER_CONNECTION_RETRY = True
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_BROKER_CHANNEL_ERROR_RETRY = True
CELERY_TASK_ACKS_LATE = False
CELERY_TASK_REJECT_ON_WORKER_LOST = False
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_PUBLISH_RETRY = False
CELERY_TASK_SERIALIZER = "json"
CELERY_RESULT_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_CREATE_MISSING_QUEUES = False
CELERY_TASK_QUEUES = [Queue(lane, routing_key=lane) for lane in LANES]
CELERY_TASK_DEFAULT_QUEUE = DEFAULT_LANE
CELERY_TASK_SEND_SENT_EVENT = False
CELERY_WORKER_SEND_TASK_EVENTS = False
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
CELERY_WORKER_CONSUMER = "tasks_app.engine.worker.consumer:Consumer"
CELERY_WORKER_DISABLE_PREFETCH = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = False
CELERY_WORKER_MAX_MEMORY_PER_CHILD = 400_000  # kB
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_REDIRECT_STDOUTS = False
CELERY_BEAT_SCHEDULER = "tasks_app.engine.beat.process:PunctualBeat"
CELERY_TIMEZONE = "UTC"
# Celery's Django fixup would close the database connection around every batch.
CELERY_DB_REUSE_MAX = 10_000
