"""Punctual: a distributed task scheduler for Django. Other apps import `tasks_app.client`."""

__version__ = "0.1.0"
