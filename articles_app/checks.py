"""Django system checks: the settings of the articles make sense."""

from django.conf import settings
from django.core import checks

from .conf import from_settings
from .errors import InvalidArticleSettings


@checks.register
def check_settings(**_: object) -> list[checks.CheckMessage]:
    try:
        from_settings(getattr(settings, "ARTICLES", {}))
    except InvalidArticleSettings as error:
        return [checks.Error(problem, id="articles.E001") for problem in str(error).split("\n")]
    return []
