"""Who looks at the pages: one who operates it all, and an editor."""

from functools import cache

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission

from tasks_app.lifecycle.audit import Operator

OLGA, ANN = "olga", "ann"


@cache
def person(name: str):
    user = get_user_model().objects.create_user(name, is_staff=True, is_superuser=name == OLGA)
    if name == ANN:
        user.user_permissions.set(Permission.objects.filter(content_type__app_label="articles_app"))
    return user


def olga(reason: str) -> Operator:
    return Operator(OLGA, reason)
