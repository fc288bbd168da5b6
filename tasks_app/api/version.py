"""/version: which Punctual answers, and whether it reaches its servers."""

from typing import Literal

from django.http import HttpRequest
from ninja import Router, Schema
from pydantic import Field

from tasks_app import __version__
from tasks_app.engine.watch.alive import redis_answers

router = Router(tags=["scheduler"])


class VersionOut(Schema):
    version: str = Field(description="Of the software")
    api: Literal["v1"]
    redis: bool = Field(
        description="Whether this process can reach Redis. It has reached PostgreSQL, or it would not know the caller"
    )


@router.get("/version", response=VersionOut, summary="Which version this is")
def read_version(request: HttpRequest) -> VersionOut:
    return VersionOut(version=__version__, api="v1", redis=redis_answers())
