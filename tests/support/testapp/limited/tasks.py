"""A task with a limit, which has to be in a module of this name."""

from django_punctual.tasks import task


@task(rate=1000)
def slowly(number: int) -> None: ...
