"""The settings of a drill's own stack. Nothing of the installation is in them but how long its leases are."""

import json
import os

from tasks_app.core import session

# Written by stack.py, for every process of the stack.
_GIVEN = json.loads(os.environ["PUNCTUAL_DRILL"])

SECRET_KEY = _GIVEN["secret_key"]
DRILL_FOLDER = _GIVEN["folder"]
USE_TZ = True
TIME_ZONE = "UTC"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
INSTALLED_APPS = ["django.contrib.contenttypes", "django.contrib.auth", "django_punctual", "tasks_app.drills"]
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": _GIVEN["name"],
        "USER": _GIVEN["user"],
        "HOST": _GIVEN["hosts"],
        "PORT": _GIVEN["port"],
        "OPTIONS": session.options_for_engine({}, pooled=False, hosts=_GIVEN["hosts"]),
        "CONN_MAX_AGE": None,
        "CONN_HEALTH_CHECKS": True,
    }
}
PUNCTUAL = {
    **_GIVEN["punctual"],
    "REDIS_URL": _GIVEN["redis_url"],
    "ENVIRONMENT": "drill",
    "EVENTS": ["*"],  # what is told is compared with what is kept
    "BACKUP_URLS": _GIVEN["backup_urls"],
    "BACKUP_SPOOL": _GIVEN["backup_spool"],
    "BACKUP_MB_A_SECOND": 0.0,  # a drill waits for its base
}
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"text": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "text"}},
    "root": {"handlers": ["console"], "level": "WARNING"},
}
