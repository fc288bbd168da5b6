"""How much of the table of tasks is read to guess what no index counts."""

from tasks_app.sql import run

ROWS = 20_000
# Of 8 kB. After a backlog most of them are empty, and to find so many rows all of a large file would be read.
PAGES = 10_000


def sample_percent() -> float:
    """The share of its pages on which about ROWS lie, but no more than PAGES."""
    ((rows, pages),) = run("table_size", {})
    share: float = min(1.0, ROWS / max(rows, 1), PAGES / max(pages, 1))
    return 100.0 * share
