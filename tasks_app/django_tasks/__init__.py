"""Punctual behind the interface of Django's tasks. Nothing here is imported unless a project configures the backend."""
