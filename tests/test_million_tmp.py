import time, pytest
from django.db import connection
from tasks_app.engine.watch.letters import *
from tasks_app.engine.watch import letters as L
from tasks_app.engine.operations.letters import foresee
from tests.support.browser import person
from tests.support.clients import client_of
pytestmark = pytest.mark.django_db(transaction=True)

def timed(name, call):
    call()
    t=time.perf_counter(); r=call(); print(f"{name:45} {1000*(time.perf_counter()-t):8.1f} ms", flush=True); return r

@pytest.mark.parametrize("causes_", [3, 50_000])
def test_million(causes_):
    with connection.cursor() as c:
        t=time.perf_counter()
        c.execute("""INSERT INTO punctual_dead_letter (task_id, tenant, task_type, error_code, error_msg, fingerprint, tags, created_at)
          SELECT n, CASE WHEN n %% 100000 = 0 THEN 'acme' ELSE 'default' END, 'T_QUIET', 'X', 'it broke', substr(md5((n %% %s)::text),1,16),
                 CASE WHEN n %% 50000 = 0 THEN ARRAY['odd'] ELSE '{}'::text[] END, now() - (n || ' ms')::interval * 500
          FROM generate_series(1, 1000000) n""", [causes_])
        print(f"\ninsert 1M letters of {causes_} causes: {time.perf_counter()-t:.1f} s")
        c.execute("VACUUM ANALYZE punctual_dead_letter") if not connection.in_atomic_block else None
        c.execute("SELECT fingerprint FROM punctual_dead_letter LIMIT 1"); fp=c.fetchone()[0]
    timed("list", lambda: page_of_letters(LetterFilter(), None, 50))
    timed("list of tenant", lambda: page_of_letters(LetterFilter("acme"), None, 50))
    timed("list of cause", lambda: page_of_letters(LetterFilter(fingerprint=fp), None, 50))
    timed("list by rare tag (one look)", lambda: page_of_letters(LetterFilter(tag="odd"), None, 50))
    timed("list by rare tag, all of it", lambda: list(walk_tasks(LetterFilter(tag="odd"))))
    f=timed("causes", lambda: causes(LetterFilter(), 50))
    print(len(f.causes), f.complete)
    timed("causes of a tenant", lambda: causes(LetterFilter("acme"), 50))
    timed("causes by tag", lambda: causes(LetterFilter(tag="odd"), 50))
    timed("causes, one", lambda: causes(LetterFilter(fingerprint=fp), 50))
    timed("curve", lambda: curve(LetterFilter(), f.causes))
    timed("foresee all", lambda: foresee(LetterFilter(), 5000))
    timed("foresee one cause", lambda: foresee(LetterFilter(fingerprint=fp), 5000))
    viewer = client_of(person("vera", "tasks_app.view_scheduletask"))
    timed("page", lambda: viewer.get("/admin/tasks_app/dlqentry/"))
    timed("page of a cause", lambda: viewer.get("/admin/tasks_app/dlqentry/", {"cause": fp}))
