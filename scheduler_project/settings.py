"""Django settings. What a deployment changes comes from the environment; see docs/configuration.md."""

import os
import secrets

from tasks_app import embedded
from tasks_app.core import session

from . import env

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
        # Asked by whoever watches the process, past the proxy.
        SECURE_REDIRECT_EXEMPT = [r"^api/v1/live$", r"^metrics$"]
        SECURE_HSTS_SECONDS = 30 * 24 * 3600
        SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = True
# Whose word on their clients counts. Once they are named, nobody else's word on TLS counts either.
TRUSTED_PROXIES = env.networks("TRUSTED_PROXIES", "127.0.0.1,::1")
ONLY_TRUSTED_PROXIES = bool(os.environ.get("TRUSTED_PROXIES"))

INSTALLED_APPS = [
    "tasks_app.console.apps.ConsoleAdminConfig",  # Django's admin, and the console is its site
    "unfold.apps.BasicAppConfig",
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
    "django.contrib.messages.middleware.MessageMiddleware",
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
# The web process and commands go by the same limits as beats and workers; what DATABASE_URL says counts instead.
DATABASES["default"]["OPTIONS"] = session.options_for_engine(
    DATABASES["default"]["OPTIONS"], pooled=False, hosts=DATABASES["default"]["HOST"]
)
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

# Beside these Django sends X-Content-Type-Options: nosniff and Cross-Origin-Opener-Policy: same-origin by default.
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "text": {"()": "scheduler_project.logs.LineFormatter", "fmt": "%(asctime)s %(levelname)s %(name)s %(message)s"},
        "json": {"()": "tasks_app.logs.JsonFormatter"},
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": env.log_format()}},
    "root": {"handlers": ["console"], "level": os.environ.get("LOG_LEVEL", "INFO")},
    # One line for every batch, and one of httpx for every call.
    "loggers": {
        "httpx": {"level": "WARNING"},
        "tasks_app.engine.worker.task": {"level": "WARNING"},
    },
}

# Where traces go. Without it nothing of OpenTelemetry is imported, unless somebody else has.
if os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT") or os.environ.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"):
    from . import tracing

    tracing.begin()
    MIDDLEWARE.insert(0, "scheduler_project.tracing.request_middleware")

# For alarms that are told by mail.
EMAIL_HOST, EMAIL_PORT = (
    os.environ.get("EMAIL_HOST", "localhost"),
    env.whole_number("EMAIL_PORT", os.environ.get("EMAIL_PORT", "25")),
)
EMAIL_HOST_USER = os.environ.get("EMAIL_HOST_USER", "")
EMAIL_HOST_PASSWORD = os.environ.get("EMAIL_HOST_PASSWORD", "")
EMAIL_USE_TLS = env.flag("EMAIL_USE_TLS", False)
DEFAULT_FROM_EMAIL = os.environ.get("DEFAULT_FROM_EMAIL", "punctual@localhost")

PUNCTUAL = {
    "REDIS_URL": REDIS_URL,
    "ENVIRONMENT": os.environ.get("PUNCTUAL_ENVIRONMENT", ""),
    "DATABASE_ADDRESSES": env.networks("PUNCTUAL_DATABASE_ADDRESSES", ""),
    "SITE": os.environ.get("SITE", ""),
    "STANDBY": int(env.flag("STANDBY", False)),
    "ARCHIVE_URL": os.environ.get("ARCHIVE_URL", ""),
    "BACKUP_URLS": env.listed("BACKUP_URLS", ""),
    "BACKUP_SPOOL": os.environ.get("BACKUP_SPOOL") or str(env.home() / "spool"),
    "BACKUP_DATABASE_URL": os.environ.get("BACKUP_DATABASE_URL", ""),
    "CONSOLE_URL": f"{_public.scheme}://{_public.netloc}/admin/" if _public else "",
    "API_URL": os.environ.get("PUNCTUAL_API_URL") or (f"{_public.scheme}://{_public.netloc}/api/v1" if _public else ""),
    "RELEASE": os.environ.get("PUNCTUAL_RELEASE", ""),
    "LOG_URL": os.environ.get("PUNCTUAL_LOG_URL", ""),
    "PING_URL": os.environ.get("PUNCTUAL_PING_URL", ""),
    "PING_TROUBLE": os.environ.get("PUNCTUAL_PING_TROUBLE") or "fail",
    "OUTGOING_ALLOW": env.listed("OUTGOING_ALLOW", "public"),
    "OUTGOING_CA_FILE": os.environ.get("OUTGOING_CA_FILE", ""),
    "METRICS_ALLOW": env.networks("METRICS_ALLOW", ""),
    "SECRET_KEYS": env.listed("PUNCTUAL_SECRET_KEYS", ""),
    "SECRET_KEYS_FILE": os.environ.get("PUNCTUAL_SECRET_KEYS_FILE", ""),
    "AUDIT_KEYS": env.listed("PUNCTUAL_AUDIT_KEYS", ""),
    "AUDIT_KEYS_FILE": os.environ.get("PUNCTUAL_AUDIT_KEYS_FILE", ""),
    "AUDIT_ANCHOR_URLS": env.listed("PUNCTUAL_AUDIT_ANCHOR_URLS", ""),
}
for _name in (
    "DISPATCH_LEASE_SECONDS",
    "RUN_LEASE_SECONDS",
    "HEARTBEAT_SECONDS",
    "SHUTDOWN_SECONDS",
    "SHARD_LEASE_SECONDS",
    "SITE_TAKEOVER_SECONDS",
    "READ_AHEAD_SECONDS",
    "TRACE_SHARE",
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
