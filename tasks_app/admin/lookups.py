"""Django's own lists of users and groups, which answer to what they offer and to nothing else, like all of ours."""

from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.db.models import Model

from tasks_app.pages.lists import OwnLookups


def guard(model: type[Model]) -> None:
    """OwnLookups for a list of somebody else's that is registered already."""
    if admin.site.is_registered(model):
        given = type(admin.site.get_model_admin(model))
        admin.site.unregister(model)
        admin.site.register(model, type(given.__name__, (OwnLookups, given), {}))


for _model in (User, Group):
    guard(_model)
