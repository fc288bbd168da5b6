"""Operators: people who act on tasks, with a reason."""

from django_punctual import Operator


def operator(reason: str = "it has to be", **options) -> Operator:
    return Operator("olga", reason, **options)
