"""Imported at startup where Punctual is the backend of Django's tasks."""
