"""Operators: people who act on tasks, with a reason."""

from django.contrib.auth.models import Permission, User

from tasks_app.client import Operator

VIEW, OPERATE = "view_scheduletask", "operate_scheduletask"


def operator(reason: str = "it has to be", **options) -> Operator:
    return Operator("olga", reason, **options)


def staff(name: str, *rights: str) -> User:
    """A member of staff with these rights and no others."""
    user = User.objects.create_user(name, password="secret", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(content_type__app_label="tasks_app", codename__in=rights))
    return user
