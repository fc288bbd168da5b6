"""For DATABASE_ROUTERS: Punctual's tables are in PUNCTUAL["DATABASE"] and nowhere else. Other apps' are left alone."""

from django.db.models import Model

from .conf import conf


class Router:
    def db_for_read(self, model: type[Model], **hints: object) -> str | None:
        return conf().DATABASE if _is_ours(model._meta.app_label) else None

    db_for_write = db_for_read

    def allow_relation(self, one: Model, other: Model, **hints: object) -> bool | None:
        return True if _is_ours(one._meta.app_label) and _is_ours(other._meta.app_label) else None

    def allow_migrate(self, db: str, app_label: str, **hints: object) -> bool | None:
        return db == conf().DATABASE if _is_ours(app_label) else None


def _is_ours(app_label: str) -> bool:
    return app_label == "punctual"
