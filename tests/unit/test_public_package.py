"""The public package imports its names when they are first used."""

import importlib

import pytest

LAZY = ("django_punctual", "django_punctual.console", "django_punctual.pages", "django_punctual.testing")


@pytest.mark.parametrize("name", LAZY)
def test_each_public_name_can_be_imported_and_no_other(name):
    module = importlib.import_module(name)

    assert [one for one in module.__all__ if getattr(module, one, None) is None] == []
    with pytest.raises(AttributeError, match=f"module '{name}' has no attribute 'shedule'"):
        module.shedule  # noqa: B018
