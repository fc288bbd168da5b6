"""A recovery for people, as a page in Markdown that can be sent on; and for machines."""

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from tasks_app.core.phrases import span
from tasks_app.core.recovery import COMPLETED, LIMITS, RECOVERING, STEPS, WORDS, Grade, Step
from tasks_app.models import Recovery

_MARKDOWN = str.maketrans({"|": "\\|", "\n": " ", "\r": " ", "<": "&lt;", "`": "'"})


def as_result(recovery: Recovery) -> dict[str, Any]:
    """What the standard asks for."""
    return {
        "incident": recovery.incident,
        "resumed": recovery.resumed,
        "replayed": recovery.replayed,
        "dlqMoved": recovery.letters_moved,
        "status": COMPLETED if recovery.finished_at else RECOVERING,
    }


def as_dict(recovery: Recovery) -> dict[str, Any]:
    """The same, with all that is known of it."""
    moments = {name: _moment(getattr(recovery, name)) for name in ("began_at", "started_at", "finished_at")}
    about = {"grade": recovery.grade, "runs": recovery.runs, "by": recovery.actor, "reason": recovery.reason}
    done = [{"step": str(step), **recovery.steps[step]} for step in _steps(recovery) if step in recovery.steps]
    figures = {"seconds": seconds_of(recovery), **goals_of(recovery)}
    return as_result(recovery) | about | moments | figures | {"steps": done}


def goals_of(recovery: Recovery) -> dict[str, Any]:
    """What the trouble has cost: how long it took, from its first sign on, and how much of what was committed."""
    trouble = recovery.trouble
    since = datetime.fromisoformat(trouble["since"]) if trouble else recovery.began_at
    ended = recovery.finished_at
    return {
        "trouble_since": since.isoformat(),
        "trouble_sign": trouble.get("sign", "command"),
        "rto_seconds": ended and round((ended - since).total_seconds(), 3),
        "rpo_seconds": trouble.get("rpo_seconds"),
        "lanes_resumed": lanes_of(recovery),
    }


def lanes_of(recovery: Recovery) -> list[str]:
    """Those that it held, and that go on."""
    in_turn = (recovery.steps.get(Step.RESUME) or {}).get("lanes") or {}
    at_last = (recovery.steps.get(Step.UNFREEZE) or {}).get("lanes") or []
    return [*(lane for lane, told in in_turn.items() if told.get("held")), *at_last]


def as_page(recovery: Recovery) -> str:
    took = seconds_of(recovery)
    ended = f"Done after {_span(took)}" if took is not None else "Not done yet"
    lines = [
        f"# Recovery from {_cell(recovery.incident)}",
        "",
        f"{ended}, grade {recovery.grade}. The incident began at {recovery.began_at:%Y-%m-%d %H:%M:%S} UTC; "
        f"{_cell(recovery.actor)} began the recovery at {recovery.started_at:%H:%M:%S}"
        f"{f' and went on with it {recovery.runs - 1} times' if recovery.runs > 1 else ''}: {_cell(recovery.reason)}",
        "",
        f"- RTO: {_rto(recovery)}",
        f"- RPO: {_rpo(recovery)}",
        f"- Shards dispatched again: {recovery.resumed:,}",
        f"- Lanes resumed: {', '.join(lanes_of(recovery)) or 'none'}",
        f"- Events delivered again: {recovery.replayed:,}",
        f"- Dead letters run again: {recovery.letters_moved:,}",
        f"- Limits: {_limits(recovery)}",
        "",
        "| step | done at (UTC) | after | limit | took | what |",
        "|---|---|---|---|---|---|",
        *(_row(recovery, step) for step in _steps(recovery)),
        "",
        "```json",
        json.dumps(as_result(recovery)),
        "```",
    ]
    return "\n".join(lines)


class StepRow(NamedTuple):
    """A step, for a table."""

    name: str
    done: bool
    after_seconds: float | None
    limit_minutes: int
    met: bool | None
    seconds: float | None
    words: str


def step_rows(recovery: Recovery) -> list[StepRow]:
    return [_step_row(step, recovery.steps.get(step) or {}) for step in _steps(recovery)]


def _step_row(step: Step, told: Mapping[str, Any]) -> StepRow:
    done = "done_at" in told
    words = told["words"] if done else f"{'skipped' if told.get('skipped') else 'not done'}: {WORDS[step]}"
    figures = [told.get(name) for name in ("after_seconds", "met", "seconds")]
    return StepRow(str(step), done, figures[0], LIMITS[step], figures[1], figures[2], words)


def seconds_of(recovery: Recovery) -> float | None:
    """From the beginning of the incident to the last step; None: it is not done."""
    if recovery.finished_at is None:
        return None
    took: timedelta = recovery.finished_at - recovery.began_at
    return round(took.total_seconds(), 3)


_SIGNS = {
    "incident": "the incident began",
    "command": "the recovery began; no earlier sign of trouble was known",
    "beat": "the last sign of life of a beat",
    "task": "the first task that was due and not started",
}


def _rto(recovery: Recovery) -> str:
    goals = goals_of(recovery)
    since = f"{datetime.fromisoformat(goals['trouble_since']):%Y-%m-%d %H:%M:%S} UTC: {_SIGNS[goals['trouble_sign']]}"
    took = goals["rto_seconds"]
    return f"{'not recovered yet' if took is None else _span(took)}, from {since}"


def _rpo(recovery: Recovery) -> str:
    lost, kept = recovery.trouble.get("rpo_seconds"), recovery.trouble.get("kept_until")
    if lost is None:
        return "not measured"
    if not lost:
        return "0 s. The server was neither recovered nor promoted in this trouble, so it holds every commit"
    return f"at most {_span(lost)}. The newest commit that this server kept is of {kept}; check what came after it"


def _steps(recovery: Recovery) -> tuple[Step, ...]:
    return STEPS[Grade(recovery.grade)]


def _row(recovery: Recovery, step: Step) -> str:
    told = recovery.steps.get(step) or {}
    one = _step_row(step, told)
    at = f"{datetime.fromisoformat(told['done_at']):%H:%M:%S}" if one.done else "-"
    limit = f"{one.limit_minutes} min{', **missed**' if one.met is False else ''}" if one.done else "-"
    after, took = (_span(told["after_seconds"]), _span(told["seconds"])) if one.done else ("-", "-")
    return f"| {' | '.join((one.name, at, after, limit, took, _cell(one.words)))} |"


def _limits(recovery: Recovery) -> str:
    missed = [str(step) for step in _steps(recovery) if (recovery.steps.get(step) or {}).get("met") is False]
    return f"missed by {', '.join(missed)}" if missed else "all met by the steps that are done"


def _cell(text: str) -> str:
    return text.translate(_MARKDOWN)


def _span(seconds: float) -> str:
    return span(timedelta(seconds=seconds))


def _moment(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat()
