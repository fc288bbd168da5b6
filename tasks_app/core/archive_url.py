"""PUNCTUAL["ARCHIVE_URL"], or one of its BACKUP_URLS, taken apart: a folder, or a bucket and how to reach it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote, urlsplit

from .errors import InvalidConfiguration, nearest

# Of pyarrow's S3FileSystem; credentials come from the environment, as for every AWS client.
OPTIONS = ("region", "endpoint_override", "scheme", "connect_timeout", "request_timeout")
SECONDS = ("connect_timeout", "request_timeout")
ARCHIVE = 'PUNCTUAL["ARCHIVE_URL"]'


@dataclass(frozen=True, slots=True)
class Address:
    root: str  # the folder, or bucket/prefix
    bucket: bool = False
    options: dict[str, str] = field(default_factory=dict)


def address_of(url: str, setting: str = ARCHIVE) -> Address:
    """Of a URL that is not empty; an error that says what is wrong with it."""
    if problems := list(problems_of(url, setting)):
        raise InvalidConfiguration("\n".join(problems))
    parts = urlsplit(url)
    if parts.scheme == "s3":
        root = f"{parts.netloc}/{unquote(parts.path).strip('/')}".rstrip("/")
        return Address(root, bucket=True, options=dict(parse_qsl(parts.query)))
    return Address((unquote(parts.path) if parts.scheme == "file" else url).rstrip("/"))


def problems_of(url: str, setting: str = ARCHIVE) -> Iterator[str]:
    try:
        parts = urlsplit(url)
    except ValueError as error:
        yield f"{setting} can't be read: {error}. It must be a whole path such as /srv/archive, or s3://bucket/prefix."
        return
    if parts.scheme == "s3":
        # Not shown: somebody may have put a secret into it.
        if not parts.netloc or "@" in parts.netloc:
            yield f"{setting} must be s3://bucket/prefix; keys come from the environment, such as AWS_ACCESS_KEY_ID."
        for name, value in parse_qsl(parts.query, keep_blank_values=True):
            if name not in OPTIONS:
                yield (
                    f"{setting} has the option {name!r}, which is unknown.{nearest(name, OPTIONS)} There are "
                    f"{', '.join(OPTIONS)}."
                )
            elif name in SECONDS and not re.fullmatch(r"[0-9]{1,4}(\.[0-9]+)?", value):
                yield f"{setting} has {name}={value[:20]!r}; it must be seconds, such as 5."
    elif not (url.startswith("/") or (parts.scheme == "file" and not parts.netloc and parts.path.startswith("/"))):
        yield (
            f"{setting} begins with {url[:12]!r}; it must be a whole path such as /srv/archive, file:///srv/archive, "
            "or s3://bucket/prefix."
        )
    elif len(url.rstrip("/")) < 2 or parts.path.strip("/") == "":
        yield f"{setting} is the root of the file system; give it a folder of its own."


def outward(url: str) -> str:
    """To be shown and stored: without the options, which are nobody's business."""
    return url.partition("?")[0]
