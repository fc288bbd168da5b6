"""A job file by its name: YAML or Python, and of a size that people can read."""

from pathlib import Path
from types import ModuleType

from tasks_app.core.errors import PunctualError

from . import python_file
from .document import BadFile, JobFile, file_of

LARGEST = 4 * 2**20  # bytes


class NoYaml(PunctualError):
    """PyYAML is not installed."""

    def __init__(self) -> None:
        super().__init__("PyYAML is missing: pip install 'django-punctual[yaml]'.")


def read(path: str, source: str | None = None) -> JobFile:
    """What the file declares; BadFile tells all that is wrong. `source` instead of what the file calls itself."""
    suffix = Path(path).suffix
    if suffix not in (".yaml", ".yml", ".py"):
        raise BadFile([f"{path}: the name ends in {suffix!r}; a job file is .yaml, .yml or .py."])
    text = _text(path)
    if suffix == ".py":
        return python_file.read(path, source)
    return file_of(yaml().parse(text, path), path, source)


def yaml() -> ModuleType:
    """The module that reads and writes YAML, where it can."""
    try:
        from . import yaml_file
    except ImportError:
        raise NoYaml from None
    return yaml_file


def _text(path: str) -> str:
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise BadFile([f"{path}: it can't be read: {error.strerror}."]) from None
    except ValueError as error:  # a NUL in its name
        raise BadFile([f"{path!r}: it can't be read: {error}."]) from None
    if len(content) > LARGEST:
        raise BadFile([f"{path}: it has {len(content):,} bytes; a job file has at most {LARGEST:,}. Split it."])
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise BadFile([f"{path}:{line}: it is not UTF-8; save it as such."]) from None
