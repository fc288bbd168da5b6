"""How a snapshot is written: in each format that a scraper can ask for, read back by the library's own parsers."""

import re
from pathlib import Path

import pytest
from prometheus_client import Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.openmetrics.parser import text_string_to_metric_families as read_openmetrics
from prometheus_client.parser import text_string_to_metric_families as read_plain

from tasks_app.core.lateness import BUCKETS, bucket_of, middle_ms, upper_bound_ms
from tasks_app.core.metrics import METRICS, Kind
from tasks_app.metrics.exposition import Families, encoded, families_of, written
from tasks_app.metrics.reading import Histogram, Snapshot
from tests.support.promql import NotUnderstood, parsed

ROOT = Path(__file__).resolve().parents[3]
OPENMETRICS = "application/openmetrics-text; version=1.0.0"
NATIVE = "application/openmetrics-text; version=2.0.0"


def late(*milliseconds: float) -> Snapshot:
    buckets = [0] * BUCKETS
    for one in milliseconds:
        buckets[bucket_of(one)] += 1
    total = sum(middle_ms(bucket_of(one)) for one in milliseconds) / 1000
    return Snapshot(
        {"runs": {("low", 'odd "one"\n', "ok"): 3.0}}, {"lateness_seconds": {("low",): Histogram(buckets, total)}}
    )


def samples(text: bytes, read) -> dict[tuple, float]:
    return {
        (one.name, *sorted(one.labels.items())): one.value for family in read(text.decode()) for one in family.samples
    }


@pytest.mark.parametrize(
    ("accept", "read"), [("", read_plain), ("text/plain", read_plain), (OPENMETRICS, read_openmetrics)]
)
def test_the_same_is_told_in_every_format(accept, read):
    text, content_type = written(late(1.0, 3.0, 5000.0), up=True, accept=accept)

    found = samples(text, read)
    assert content_type.startswith("application/openmetrics-text" if accept == OPENMETRICS else "text/plain")
    assert found["punctual_up",] == 1
    key = ("lane", "low"), ("outcome", "ok"), ("task_type", 'odd "one"\n')
    assert found["punctual_runs_total", *key] == 3
    assert found["punctual_lateness_seconds_bucket", ("lane", "low"), ("le", "0.001953125")] == 1
    assert found["punctual_lateness_seconds_bucket", ("lane", "low"), ("le", "0.00390625")] == 2
    assert found["punctual_lateness_seconds_bucket", ("lane", "low"), ("le", "+Inf")] == 3
    assert found["punctual_lateness_seconds_count", ("lane", "low")] == 3
    assert found["punctual_lateness_seconds_sum", ("lane", "low")] == pytest.approx(5.004, rel=0.1)


@pytest.mark.parametrize(
    "accept",
    [
        *("", "text/plain", "text/plain;version=1.0.0;escaping=allow-utf-8", OPENMETRICS),
        *(f"{OPENMETRICS};escaping=allow-utf-8", f"{OPENMETRICS};escaping=underscores"),
    ],
)
def test_what_we_write_ourselves_is_what_the_library_writes(accept):
    lanes = {("low",): 1, ("odd\\",): 1e21, ("zwölf",): 0.1, ("",): float("inf"), ('"\n"',): float("nan")}
    values = {"due_tasks": lanes, "runs": {("low", '\\n"', "ok"): 12345678.5}, "away_tasks": {(): -1}}
    histogram = Histogram([1] * BUCKETS, 7.25)
    found = Snapshot(values, {"lateness_seconds": {("low",): histogram}, "batch_tasks": {("low",): Histogram([], 0)}})
    families = [*families_of(found, up=True), Metric("punctual_odd", 'with \\ and " and \n in it', "gauge")]
    encode, content_type = choose_encoder(accept)

    assert encoded(families, openmetrics=content_type.startswith("application")) == encode(Families(families))
    written_now = written(found, up=True, accept=accept)
    assert written_now[1] == content_type
    assert b'punctual_due_tasks{lane="zw\xc3\xb6lf"} 0.1\n' in written_now[0]


@pytest.mark.parametrize("scheme", ["dots", "values"])
def test_whoever_wants_names_written_otherwise_gets_them_from_the_library(scheme):
    accept = f"{OPENMETRICS};escaping={scheme}"
    families = list(families_of(Snapshot(), up=True))

    assert written(Snapshot(), up=True, accept=accept)[0] == choose_encoder(accept)[0](Families(families))


def test_whoever_asks_for_openmetrics_2_gets_a_native_histogram_beside_the_classic_one():
    text, content_type = written(late(0.1, 1.0, 1.0, 5000.0), up=True, accept=NATIVE)

    assert "version=2.0.0" in content_type
    [family] = [one for one in read_openmetrics(text.decode()) if one.name == "punctual_lateness_seconds"]
    [native] = [one.native_histogram for one in family.samples if one.native_histogram is not None]
    assert (native.count_value, native.schema, native.zero_count) == (4, 2, 1)
    tasks, counts = 0, {}
    # The library writes a first number below 0, but can't read it.
    first, length = map(int, re.search(rb"positive_spans:\[(-?\d+):(\d+)\]", text).groups())
    assert length == len(native.pos_deltas)
    for number, delta in enumerate(native.pos_deltas, start=first):
        tasks += delta
        if tasks:
            counts[number] = tasks
    bounds = {2 ** (number / 4): tasks for number, tasks in counts.items()}  # the upper one of each bucket, in seconds
    assert list(bounds.values()) == [2, 1]
    assert list(bounds) == pytest.approx([upper_bound_ms(bucket_of(ms)) / 1000 for ms in (1.0, 5000.0)], rel=0.03)
    assert any(one.name.endswith("_bucket") for one in family.samples)


def test_nobody_else_gets_one():
    assert b"schema:" not in written(late(1.0), up=True, accept=OPENMETRICS)[0]
    assert b"schema:" not in written(late(1.0), up=True)[0]


def test_a_process_that_has_read_nothing_yet_says_that_the_database_is_away():
    found = samples(written(Snapshot(), up=False)[0], read_plain)

    assert found["punctual_up",] == 0
    assert {name for name, *_ in found} == {"punctual_up", "punctual_build_info"}


def test_the_page_lists_every_metric_as_it_is():
    page = (ROOT / "docs" / "metrics.md").read_text()
    rows = re.findall(r"^\| `(punctual_\w+)` \| (\w+) \| (.*?) \| (.+) \|$", page, re.MULTILINE)

    told = [(name, kind, tuple(re.findall(r"`(\w+)`", labels)), words) for name, kind, labels, words in rows]
    assert told == [
        (one.sample_names[0] if one.kind is Kind.COUNTER else one.full_name, str(one.kind), one.labels, one.help)
        for one in METRICS
    ]


@pytest.mark.parametrize(
    "wrong",
    [
        *("rate(punctual_runs_total[5m]", "punctual_up)", 'punctual_up{lane="low"', "punctual_up{lane=low}", "1 > 2"),
        *("nonsense(punctual_up)", "punctual_up & 1", "sum by lane (punctual_up)", 'punctual_up{"lane"="low"}'),
    ],
)
def test_an_expression_that_is_none_is_refused(wrong):
    with pytest.raises(NotUnderstood):
        parsed(wrong)
