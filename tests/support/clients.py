"""Django's test client, logged in: a person at a browser, without the browser."""

from django.test import Client


def client_of(user, **options: object) -> Client:
    """A client logged in as the user; `options` are Django's, such as `enforce_csrf_checks`."""
    client = Client(**options)
    client.force_login(user)
    return client
