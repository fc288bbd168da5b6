"""Receivers on this machine, and an installation that may call them."""

import django
import pytest


@pytest.fixture
def may_call_here(settings):
    from tests.support.alarms import LOCAL

    settings.PUNCTUAL = settings.PUNCTUAL | {
        "OUTGOING_ALLOW": LOCAL,
        "CONSOLE_URL": "https://ops.example.com/admin/",
    }


@pytest.fixture
def hook(may_call_here):
    from tests.support.http_receiver import http_receiver

    with http_receiver() as receiver:
        yield receiver


@pytest.fixture
def mailbox(settings):
    from tests.support.mail_receiver import mail_receiver

    with mail_receiver() as box:
        smtp = "django.core.mail.backends.smtp.EmailBackend"
        if django.VERSION >= (6, 1):
            settings.MAILERS = {"default": {"BACKEND": smtp, "OPTIONS": {"host": "127.0.0.1", "port": box.port}}}
        else:
            settings.EMAIL_BACKEND, settings.EMAIL_HOST, settings.EMAIL_PORT = smtp, "127.0.0.1", box.port
        settings.DEFAULT_FROM_EMAIL = "punctual@example.com"
        yield box
