"""Django settings. Settings that differ between deployments come from the environment; see docs/configuration.md."""

import os
import secrets

import django

from tasks_app import embedded
from tasks_app.core import session

from . import env

BASE_DIR = env.BASE_DIR
DATABASE_URL, REDIS_URL = env.service_urls()


def _secret_key() -> str:
    """SECRET_KEY from the environment, or else a random key that is stored beside the embedded data."""
    if given := os.environ.get("SECRET_KEY"):
        return given
    try:
        return embedded.kept_secret(embedded.open_home(env.home()), "secret-key", secrets.token_urlsafe(50))
    except (embedded.EmbeddedError, OSError) as error:
        raise env.EnvironmentProblem(f"SECRET_KEY is not set, and none can be kept: {error}") from None


SECRET_KEY = _secret_key()
DEBUG = env.flag("DEBUG", False)
ALLOWED_HOSTS = os.environ.get("ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]").split(",")

# Behind a proxy, set PUBLIC_URL to the address that people type. docs/deploy.md shows how to configure the proxy.
if _public := env.public_url():
    ALLOWED_HOSTS.append(f"[{_public.hostname}]" if ":" in _public.hostname else _public.hostname)
    CSRF_TRUSTED_ORIGINS = [f"{_public.scheme}://{_public.netloc}"]
    if _public.scheme == "https":
        SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
        SECURE_SSL_REDIRECT = True
        SECURE_SSL_HOST = _public.netloc
        # Probes and scrapers connect to the process itself, without TLS.
        SECURE_REDIRECT_EXEMPT = [r"^api/v1/live$", r"^metrics$"]
        SECURE_HSTS_SECONDS = 30 * 24 * 3600
        SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = True
# Proxies whose X-Forwarded headers are trusted. If they are set, TLS headers from other hosts are ignored as well.
TRUSTED_PROXIES = env.networks("TRUSTED_PROXIES", "127.0.0.1,::1")
ONLY_TRUSTED_PROXIES = bool(os.environ.get("TRUSTED_PROXIES"))

INSTALLED_APPS = [
    "django_punctual.console.ConsoleAdminConfig",  # Django's admin, with the console as its site
    "unfold.apps.BasicAppConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "django_punctual.api_page.ApiPageConfig",  # serves its scripts from this host, not from a CDN
    "django_punctual",
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

# Without a database, Django still starts. The first query then fails with this path in its message.
_NOWHERE = "/no-stack-is-running-and-DATABASE_URL-is-not-set"
DATABASES = {"default": env.database_settings(DATABASE_URL or f"postgresql:///punctual?host={_NOWHERE}")}
DATABASES["default"] |= {
    # Connections stay open. Web requests check them first, and beats and workers replace broken ones themselves.
    "CONN_MAX_AGE": None,
    "CONN_HEALTH_CHECKS": True,
    "DISABLE_SERVER_SIDE_CURSORS": True,
}
# Web processes and commands have the same lock and idle limits as beats and workers, unless DATABASE_URL sets others.
DATABASES["default"]["OPTIONS"] = session.options_for_engine(
    DATABASES["default"]["OPTIONS"], pooled=False, hosts=DATABASES["default"]["HOST"]
)
# Limits the time that a web request can keep the database busy (web.py). 0 means no limit.
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
# Static files are served from the installed packages. To serve copies, set STATIC_ROOT and run collectstatic.
STATIC_ROOT = os.environ.get("STATIC_ROOT")
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = DEBUG

# Django adds X-Content-Type-Options: nosniff and Cross-Origin-Opener-Policy: same-origin by default.
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "text": {"()": "scheduler_project.logs.LineFormatter", "fmt": "%(asctime)s %(levelname)s %(name)s %(message)s"},
        "json": {"()": "django_punctual.logs.JsonFormatter"},
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": env.log_format()}},
    "root": {"handlers": ["console"], "level": os.environ.get("LOG_LEVEL", "INFO")},
    # At INFO level, these loggers log each batch and each HTTP call.
    "loggers": {
        "httpx": {"level": "WARNING"},
        "tasks_app.engine.worker.task": {"level": "WARNING"},
    },
}

# Traces. OpenTelemetry is only imported if an endpoint is set.
if os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT") or os.environ.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"):
    from . import tracing

    tracing.begin()
    MIDDLEWARE.insert(0, "scheduler_project.tracing.request_middleware")

# Alarms by mail.
_mailer = {
    "host": env.text("EMAIL_HOST", "localhost"),
    "port": env.whole_number("EMAIL_PORT", env.text("EMAIL_PORT", "25")),
    "username": env.text("EMAIL_HOST_USER"),
    "password": env.text("EMAIL_HOST_PASSWORD"),
    "use_tls": env.flag("EMAIL_USE_TLS", False),
}
if django.VERSION >= (6, 1):
    MAILERS = {"default": {"BACKEND": "django.core.mail.backends.smtp.EmailBackend", "OPTIONS": _mailer}}
else:
    EMAIL_HOST, EMAIL_PORT, EMAIL_USE_TLS = _mailer["host"], _mailer["port"], _mailer["use_tls"]
    EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = _mailer["username"], _mailer["password"]
DEFAULT_FROM_EMAIL = env.text("DEFAULT_FROM_EMAIL", "punctual@localhost")

_origin = f"{_public.scheme}://{_public.netloc}" if _public else ""
PUNCTUAL = {
    "REDIS_URL": REDIS_URL,
    # The name of this installation, and its region.
    "ENVIRONMENT": env.text("PUNCTUAL_ENVIRONMENT"),
    "DATABASE_ADDRESSES": env.networks("PUNCTUAL_DATABASE_ADDRESSES", ""),
    "SITE": env.text("SITE"),
    "STANDBY": int(env.flag("STANDBY", False)),
    "RELEASE": env.text("PUNCTUAL_RELEASE"),
    # Archive and backups.
    "ARCHIVE_URL": env.text("ARCHIVE_URL"),
    "BACKUP_URLS": env.listed("BACKUP_URLS", ""),
    "BACKUP_SPOOL": env.text("BACKUP_SPOOL") or str(env.home() / "spool"),
    "BACKUP_DATABASE_URL": env.text("BACKUP_DATABASE_URL"),
    # Addresses for links, and addresses of other systems.
    "CONSOLE_URL": f"{_origin}/admin/" if _origin else "",
    "API_URL": env.text("PUNCTUAL_API_URL") or (f"{_origin}/api/v1" if _origin else ""),
    "LOG_URL": env.text("PUNCTUAL_LOG_URL"),
    "PING_URL": env.text("PUNCTUAL_PING_URL"),
    "PING_TROUBLE": env.text("PUNCTUAL_PING_TROUBLE") or "fail",
    "OUTGOING_ALLOW": env.listed("OUTGOING_ALLOW", "public"),
    "OUTGOING_CA_FILE": env.text("OUTGOING_CA_FILE"),
    "METRICS_ALLOW": env.networks("METRICS_ALLOW", ""),
    # Keys.
    "SECRET_KEYS": env.listed("PUNCTUAL_SECRET_KEYS", ""),
    "SECRET_KEYS_FILE": env.text("PUNCTUAL_SECRET_KEYS_FILE"),
    "AUDIT_KEYS": env.listed("PUNCTUAL_AUDIT_KEYS", ""),
    "AUDIT_KEYS_FILE": env.text("PUNCTUAL_AUDIT_KEYS_FILE"),
    "AUDIT_ANCHOR_URLS": env.listed("PUNCTUAL_AUDIT_ANCHOR_URLS", ""),
    # Numbers that can be set with PUNCTUAL_… variables. Their defaults are in tasks_app/conf.
    **env.numbers(
        "PUNCTUAL_",
        "DISPATCH_LEASE_SECONDS",
        "RUN_LEASE_SECONDS",
        "HEARTBEAT_SECONDS",
        "SHUTDOWN_SECONDS",
        "SHARD_LEASE_SECONDS",
        "SITE_TAKEOVER_SECONDS",
        "TRACE_SHARE",
    ),
}

ARTICLES = {
    "MODERATION_URL": env.text("MODERATION_URL"),
    "MODERATION_TOKEN": env.text("MODERATION_TOKEN"),
    **env.numbers("", "AUDIT_LEAD_SECONDS"),
}

STOCK = {
    "STOCK_URL": env.text("STOCK_URL"),
    "STOCK_TOKEN": env.text("STOCK_TOKEN"),
    **env.texts("STOCK_", "ROUND", "ROUND_SECONDS"),  # ROUND_SECONDS is rejected with a hint at its replacement
    **env.numbers("STOCK_", "WINDOW_SECONDS", "TIMEOUT_SECONDS", "RETRY_MAX_SECONDS", "RATE"),
    **env.whole_numbers("STOCK_", "BURST", "CONCURRENCY", "BATCH_MAX"),
}
