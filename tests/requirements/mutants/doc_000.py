"""Document 000: publish-time rules."""

from tests.requirements.mutants import Mutant

SQL = "tasks_app/sql/schedule"

MUTANTS = [
    Mutant("000 §1 task type", "articles_app/units.py", '"ARTICLE_PUBLISH"', '"PUBLISH_ARTICLE"'),
    Mutant(
        "000 §1 one current task of a unit",
        "tasks_app/migrations/0001_initial.py",
        'fields=("biz_key", "task_type", "tenant"),\n                        name="punctual_task_unit"',
        'fields=("biz_key", "task_type", "tenant", "id"),\n                        name="punctual_task_unit"',
    ),
    Mutant(
        "000 §2 the column changes",
        "articles_app/lifecycle/publish_time.py",
        "SET publish_time = %(at)s::timestamptz, revision",
        "SET publish_time = own.publish_time, revision",
    ),
    Mutant(
        "000 §2 the event's name", "articles_app/events.py", '"article.publish_time_changed"', '"article.time_changed"'
    ),
    Mutant(
        "000 §2 the event is kept by default",
        "tasks_app/core/events.py",
        'DEFAULT_EVENTS = ("*",',
        'DEFAULT_EVENTS = ("task.*",',
    ),
    # Rule 1 of one article alone: what its one statement leaves out, the statements for several articles do.
    Mutant(
        "000 §3 rule 1, INIT",
        "tasks_app/lifecycle/decisions.py",
        "        return Outcome.IGNORED\n    return Outcome.UPDATED",
        "        return Outcome.IGNORED\n    return Outcome.CREATED",
    ),
    Mutant(
        "000 §3 rule 2, RUNNING is never updated, in one statement",
        f"{SQL}/moved_one.sql",
        "t.status IN ('INIT', 'FAIL')",
        "t.status IN ('INIT', 'FAIL', 'RUNNING')",
    ),
    Mutant(
        "000 §3 rule 1, FAIL of several articles",
        f"{SQL}/move.sql",
        "t.status IN ('INIT', 'FAIL', 'BLOCKED')",
        "t.status IN ('INIT', 'BLOCKED')",
    ),
    Mutant(
        "000 §3 rule 1, INIT of several articles",
        f"{SQL}/move.sql",
        "t.status IN ('INIT', 'FAIL', 'BLOCKED')",
        "t.status IN ('FAIL', 'BLOCKED')",
    ),
    Mutant(
        "000 §3 rule 1, no retries left",
        "tasks_app/lifecycle/decisions.py",
        "row.status in (Status.CANCELLED, Status.DEAD)",
        "row.status in (Status.CANCELLED,)",
    ),
    Mutant(
        "000 §3 rule 2, RUNNING is never updated",
        "tasks_app/lifecycle/decisions.py",
        "        return Outcome.REPLACED\n    if row.status == Status.SUCCESS",
        "        return Outcome.UPDATED\n    if row.status == Status.SUCCESS",
    ),
    Mutant(
        "000 §3 rule 2, the old task is cancelled",
        f"{SQL}/retired.sql",
        "status = CASE WHEN t.status IN ('RUNNING', 'AWAY') THEN 'CANCELLED'",
        "status = CASE WHEN t.status IN ('RUNNING', 'AWAY') THEN 'SUCCESS'",
    ),
    Mutant(
        "000 §3 rule 3, in one statement",
        "articles_app/lifecycle/publish_time.py",
        "status = 'AUDIT_SUCCESS' AND (%(revision)s",
        "(%(revision)s",
    ),
    Mutant(
        "000 §3 rule 3, in several statements",
        "articles_app/lifecycle/publish_time.py",
        "AND locked.status = ANY (%(sources)s)\n",
        "\n",
    ),
    Mutant(
        "000 §3 rule 3, a task that succeeded too early",
        "articles_app/lifecycle/publish_time.py",
        "    if lost:\n",
        "    if not lost:\n",
    ),
    # What replaces a task asks for the version that was seen, which implies its status: neither can go alone.
    Mutant(
        "000 §4 an UPDATE that matches no row",
        "articles_app/lifecycle/publish_time.py",
        "return None if changed.task is None and row.status in sources_of(VERB) else _answer(",
        "return _answer(",
    ),
    Mutant("000 §4 decide again", "tasks_app/lifecycle/schedule.py", "ROUNDS = 10\n", "ROUNDS = 1\n"),
    Mutant(
        "000 §4 CANCELLED is inserted again",
        "tasks_app/lifecycle/decisions.py",
        "row.status in (Status.CANCELLED, Status.DEAD)",
        "row.status in (Status.DEAD,)",
    ),
    Mutant(
        "000 §5 published once",
        "articles_app/lifecycle/publish.py",
        "locked.status = 'AUDIT_SUCCESS' AND",
        "locked.status IN ('AUDIT_SUCCESS', 'PUBLISHED') AND",
    ),
    Mutant(
        "000 §5 a live article's task succeeds",
        "articles_app/handlers.py",
        "elif one.moved or one.status == ArticleStatus.PUBLISHED:",
        "elif one.moved:",
    ),
    Mutant(
        "000 §6 the article decides",
        "articles_app/lifecycle/publish.py",
        " AND locked.publish_time <= clock_timestamp()",
        "",
    ),
]
