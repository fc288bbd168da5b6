"""PUNCTUAL["ARCHIVE_URL"]: what it may be, and what is said of what it may not."""

import pytest

from tasks_app.conf import from_settings
from tasks_app.core.archive_url import Address, address_of, outward, problems_of
from tasks_app.core.errors import InvalidConfiguration


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("/srv/cold/", Address("/srv/cold")),
        ("file:///srv/my%20cold", Address("/srv/my cold")),
        ("s3://bucket", Address("bucket", bucket=True)),
        ("s3://bucket/a/b/", Address("bucket/a/b", bucket=True)),
        (
            "s3://bucket/a?region=eu-west-1&scheme=http&endpoint_override=minio:9000",
            Address("bucket/a", True, {"region": "eu-west-1", "scheme": "http", "endpoint_override": "minio:9000"}),
        ),
    ],
)
def test_a_folder_or_a_bucket(url, address):
    assert address_of(url) == address


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("cold", "must be a whole path"),
        ("http://host/x", "must be a whole path"),
        ("file://host/x", "must be a whole path"),
        ("/", "a folder of its own"),
        ("file:///", "a folder of its own"),
        ("s3:///prefix", "must be s3://bucket/prefix"),
        ("s3://key:secret@bucket/x", "keys come from the environment"),
        ("s3://bucket?regio=x", "has the option 'regio', which is unknown"),
        ("s3://bucket?connect_timeout=soon", "must be seconds"),
    ],
)
def test_what_it_may_not_be(url, words):
    [problem] = problems_of(url)
    assert words in problem
    assert "secret" not in problem
    with pytest.raises(InvalidConfiguration):
        from_settings({"ARCHIVE_URL": url})


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"BACKUP_URLS": ["here"]}, "PUNCTUAL[\"BACKUP_URLS\"] begins with 'here'; it must be a whole path"),
        ({"BACKUP_URLS": ["/a", "/a"]}, "names a place twice"),
        ({"BACKUP_URLS": ["/a"], "BACKUP_SPOOL": ""}, 'PUNCTUAL["BACKUP_SPOOL"] is empty'),
        ({"BACKUP_SPOOL": "spool"}, "it must be a whole path, such as /var/lib/punctual/spool"),
        ({"BACKUP_PROGRAMS": "bin"}, "it must be a whole path, such as /usr/lib/postgresql/18/bin"),
        ({"BACKUP_DATABASE_URL": "secret"}, 'PUNCTUAL["BACKUP_DATABASE_URL"] must be like postgresql://'),
        ({"BACKUP_KEEP": 0}, "BACKUP_KEEP"),
    ],
)
def test_what_places_for_backups_may_not_be(given, words):
    with pytest.raises(InvalidConfiguration) as told:
        from_settings({"BACKUP_SPOOL": "/spool"} | given)
    assert words in str(told.value) and "'secret'" not in str(told.value)


def test_a_place_is_shown_without_its_options():
    assert [outward(url) for url in ("/a", "s3://b/c?region=x")] == ["/a", "s3://b/c"]
