"""Somebody else's project: its own admin, plain or themed, and whatever it has; with or without Punctual.

HOST_THEME is "plain" or "themed", HOST_PUNCTUAL is "" or what is installed of it: "core", "admin", "api", "all".
"""

import os
from pathlib import Path

from scheduler_project import env

THEMED = os.environ.get("HOST_THEME") == "themed"
PUNCTUAL_PARTS = os.environ.get("HOST_PUNCTUAL", "")

SECRET_KEY = os.environ["SECRET_KEY"]
ALLOWED_HOSTS = ["127.0.0.1", "testserver"]
USE_TZ = True
DATABASES = {"default": env.database_settings(os.environ["DATABASE_URL"]) | {"ATOMIC_REQUESTS": True}}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
INSTALLED_APPS = [
    *(["unfold"] if THEMED else []),
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "tests.support.host.shop.ShopConfig",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [] if THEMED else [Path(__file__).parent / "templates"],  # a headline of the shop over every page
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
ROOT_URLCONF = "tests.support.host.urls"
LOGIN_URL = "/accounts/login/"
STATIC_URL = "files/"
WHITENOISE_USE_FINDERS = True
if THEMED:
    UNFOLD = {"SITE_TITLE": "The shop", "SITE_HEADER": "The shop", "COLORS": {"primary": {"600": "#b91c1c"}}}

if PUNCTUAL_PARTS:
    PUNCTUAL = {"REDIS_URL": os.environ["REDIS_URL"]}
    INSTALLED_APPS += ["django_punctual"]
if PUNCTUAL_PARTS in ("admin", "all") and not THEMED:
    INSTALLED_APPS += ["unfold.apps.BasicAppConfig"]
if PUNCTUAL_PARTS in ("api", "all"):
    INSTALLED_APPS += ["django_punctual.api_page.ApiPageConfig"]
