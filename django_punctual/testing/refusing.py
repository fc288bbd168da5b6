"""The helpers here run due tasks, so they work on test databases only."""

from django.apps import apps

from tasks_app.database import alias, our_connection


class NoTestDatabase(RuntimeError):
    """The database was not made by a test runner."""


def refuse_real_database() -> None:
    """Whether a test runner has given the connection another name than the settings, or they name it for tests."""
    settings, name = our_connection().settings_dict, our_connection().settings_dict["NAME"]
    configured = apps.get_app_config("punctual").database_names.get(alias())
    if name != configured or name == settings["TEST"].get("NAME"):
        return
    others = "" if alias() == "default" else f'(databases=["default", "{alias()}"])'
    raise NoTestDatabase(
        f"django_punctual.testing works on test databases only, but this is {str(name)!r}, which "
        f'DATABASES["{alias()}"] names. pytest-django makes a test database if it sees at collection that a test needs '
        f"one: let the test have the fixture punctual or db as a parameter, or mark it with "
        f"@pytest.mark.django_db{others}; request.getfixturevalue() comes too late. With Django's runner, use "
        f"django.test.TestCase. If {str(name)!r} is there for tests alone, say so in the settings: "
        f'DATABASES["{alias()}"]["TEST"] = {{"NAME": {str(name)!r}}}.'
    )
