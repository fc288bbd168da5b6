"""Django's own lists of users and groups, which answer to what they offer and to nothing else, like all of ours.

Only where they are pages of the console: the lists of a project's own site stay as they are.
"""

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.db.models import Model

from tasks_app.console.site import console
from tasks_app.pages.lists import OwnLookups


def guard(model: type[Model]) -> None:
    """OwnLookups for a list of somebody else's that is registered already."""
    if console().is_registered(model):
        given = type(console().get_model_admin(model))
        console().unregister(model)
        console().register(model, type(given.__name__, (OwnLookups, given), {}))


for _model in (get_user_model(), Group):
    guard(_model)
