"""Job files in Python: run once, in this process, as `runpy` runs a file; what its `jobs()` yields is what it declares.

So it may import what the project may import, and may do what the person who applies it may do: only apply your own.
"""

import runpy
import traceback
from itertools import islice

from tasks_app.core.errors import PunctualError, shown
from tasks_app.lifecycle.jobs.declared import Declaration
from tasks_app.lifecycle.jobs.request import JobRequest

from .document import MOST_JOBS, BadFile, JobFile, Placed, checked_file, checked_request, placed

RUN_NAME = "punctual_jobs"  # its __name__: not "__main__", so that it can also be a script


def read(path: str, source: str | None) -> JobFile:
    """What the file declares; BadFile if it can't be run, or yields something else."""
    try:
        names = runpy.run_path(path, run_name=RUN_NAME)
        declare = names.get("jobs")
        if not callable(declare):
            words = "the file has no function jobs(). It must yield a JobRequest, or a Declaration, for each job."
            raise BadFile([f"{path}: {words}"])
        # One more than there may be: what never ends is noticed, too.
        found = list(islice(declare(), MOST_JOBS + 1))
    except BadFile:
        raise
    except (Exception, SystemExit) as error:
        raise BadFile([_told(error, path)]) from error
    problems: list[str] = []
    tenant = names.get("TENANT")
    jobs = [_placed(problems, path, number, one, tenant) for number, one in enumerate(found, 1)]
    return checked_file(path, source or names.get("SOURCE"), [one for one in jobs if one is not None], problems)


def _placed(problems: list[str], path: str, number: int, one: object, tenant: str | None) -> Placed | None:
    declaration = Declaration(one) if isinstance(one, JobRequest) else one
    if not isinstance(declaration, Declaration) or not isinstance(declaration.request, JobRequest):
        problems.append(f"{path}: job {number} is {shown(one)}; jobs() must yield a JobRequest or a Declaration.")
        return None
    try:
        request = checked_request(declaration.request)
        owner = tenant if declaration.tenant is None else declaration.tenant
        return placed(Declaration(request, owner, declaration.renamed_from), path)
    except PunctualError as error:
        problems.append(f"{path}: job {number}, {shown(declaration.request.name)}: {error}")
        return None


def _told(error: BaseException, path: str) -> str:
    """The error, with the line of the file that it came from."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    if isinstance(error, SyntaxError) and error.filename == path:
        lines.append(error.lineno)
    place = f"{path}:{lines[-1]}" if lines else path
    return f"{place}: {type(error).__name__}: {error}"
