"""Punctual: a distributed task scheduler for Django. Projects import `django_punctual`."""

__version__ = "0.1.0"
