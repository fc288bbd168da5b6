"""What goes wrong, as an exception: an answer that is no success, whoever gave it."""

from __future__ import annotations

import httpx

from .generated.models import JobRef, Problem, TaskRef


class ApiError(Exception):
    """The server refused, and nothing was changed; or something in front of it did, which leaves that open.

    `task` or `job` is the one that is in the way, with its state. `problem` is all that the API said; None if the
    answer is somebody else's, say a proxy's. `code` is the problem's, or empty; `retry_after` is in seconds, if the
    server named any.
    """

    def __init__(
        self, status: int, detail: str, *, problem: Problem | None = None, retry_after: float | None = None
    ) -> None:
        self.status = status
        self.detail = detail
        self.problem = problem
        self.code = "" if problem is None else str(problem.code)
        self.task: TaskRef | None = getattr(problem, "task", None) or None
        self.job: JobRef | None = getattr(problem, "job", None) or None
        self.retry_after = retry_after
        super().__init__(" ".join(part for part in (str(status), self.code, detail) if part))

    @classmethod
    def of(cls, response: httpx.Response) -> ApiError:
        problem = _problem_in(response)
        detail = _somebody_elses(response) if problem is None else problem.detail
        return cls(response.status_code, detail, problem=problem, retry_after=_retry_after(response))


def _problem_in(response: httpx.Response) -> Problem | None:
    if not response.headers.get("Content-Type", "").startswith("application/problem+json"):
        return None
    try:
        return Problem.from_dict(response.json())
    except (ValueError, TypeError, KeyError):
        return None


def _somebody_elses(response: httpx.Response) -> str:
    if location := response.headers.get("Location"):
        return f"{response.url} redirects to {location}. Give the client the address that needs no redirect."
    said = response.text.strip()[:200] or "its answer is empty"
    return f"{response.url} did not answer as the API does: {said}"


def _retry_after(response: httpx.Response) -> float | None:
    """A date, which our server never sends, counts as none."""
    try:
        return float(response.headers["Retry-After"])
    except (KeyError, ValueError):
        return None
