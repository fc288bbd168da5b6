"""The lists whose filters people can save under a name; an app adds its own."""

from collections.abc import Callable
from typing import NamedTuple

from django import forms
from django.http import HttpRequest


class FilteredList(NamedTuple):
    address: str  # its name
    form: type[forms.Form]  # what can be filtered by
    allowed: Callable[[HttpRequest], bool]  # to see it


# By a short name. `{% saved_filters "name" %}` of the library `punctual` shows them above the list.
LISTS: dict[str, FilteredList] = {}
