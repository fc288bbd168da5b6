"""The console: an admin site of our own, with its own templates, beside or instead of the project's."""
