"""A project that keeps Punctual's tables in a database of their own, and has connection settings of its own."""

import json
import os

_SERVER = json.loads(os.environ["HOST_SERVER"])  # as in DATABASES, without a name

SECRET_KEY = "only-for-tests"
ALLOWED_HOSTS = ["*"]
USE_TZ = True
INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_punctual",
    "unfold.apps.BasicAppConfig",
    "django_punctual.api_page.ApiPageConfig",
    "tests.support.hostapp",
]
MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
]
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
ROOT_URLCONF = "tests.support.hostapp.urls"
STATIC_URL = "static/"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
DATABASES = {
    "default": _SERVER | {"NAME": os.environ["HOST_NAME"], "ATOMIC_REQUESTS": True, "CONN_MAX_AGE": None},
    "tasks": _SERVER
    | {
        "NAME": os.environ["HOST_NAME"] + "_tasks",
        "ATOMIC_REQUESTS": True,
        "OPTIONS": {"options": "-c idle_in_transaction_session_timeout=90s", "application_name": "shop"},
    },
}
DATABASE_ROUTERS = ["django_punctual.router.Router"]
PUNCTUAL = {
    "REDIS_URL": os.environ["REDIS_URL"],
    "DATABASE": "tasks",
    "PREFIX": os.environ["HOST_NAME"],
    "CANARY_SECONDS": 0,
    "NODE_SECONDS": 0.3,
    "NODE_TTL_SECONDS": 8.0,
    "WAKEUP_MS": 5000.0,
    "PLAN_SECONDS": 0.5,
    "COMPENSATE_SECONDS": 1,
}
