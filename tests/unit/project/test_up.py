"""Which processes `make up` keeps running."""

from scheduler_project.up import processes


def names() -> list[str]:
    return [one.name for one in processes(8000, {})]


def test_the_backup_is_streamed_if_there_is_a_place_for_it(monkeypatch):
    monkeypatch.delenv("BACKUP_URLS", raising=False)
    assert names() == ["web", "beat", "worker"]
    monkeypatch.setenv("BACKUP_URLS", "/mnt/a,/mnt/b")
    assert names() == ["web", "beat", "worker", "backup"]
