"""Reads the environment: which database and Redis to use, and the few switches of a deployment."""

import os
import re
from ipaddress import ip_network
from pathlib import Path
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

from tasks_app import embedded

BASE_DIR = Path(__file__).resolve().parent.parent
WRITABLE = ("read-write", "primary")  # values of libpq's target_session_attrs


NO_STACK = (
    "there is no database: no stack is running from this checkout, and DATABASE_URL is not set. "
    "Type `make up` in another terminal, or set DATABASE_URL and REDIS_URL."
)


class EnvironmentProblem(ImproperlyConfigured):
    """A variable has an unusable value; the message names it and the fix."""


def home() -> Path:
    """Where the embedded services keep their data."""
    return Path(os.environ.get("PUNCTUAL_HOME") or BASE_DIR / ".punctual").resolve()


def service_urls() -> tuple[str, str]:
    """(database, redis): from the environment, else from the stack that runs from this checkout."""
    database, redis = os.environ.get("DATABASE_URL"), os.environ.get("REDIS_URL")
    if not (database and redis):
        running = embedded.running(home())
        if running is not None:
            database = database or running.database_url
            redis = redis or running.redis_url
    return database or "", redis or ""


def plays_demo() -> bool:
    """Whether the demo's handlers are installed: by DEMO, or by the stack that runs from this checkout."""
    running = None
    if not (os.environ.get("DATABASE_URL") and os.environ.get("REDIS_URL")):
        running = embedded.running(home())
    return flag("DEMO", running is not None and running.demo)


def database_settings(url: str) -> dict:
    """Django's DATABASES entry for a libpq URL, of one server or of several among which one is the primary."""
    parts = urlsplit(url)
    if parts.scheme not in ("postgres", "postgresql"):
        raise EnvironmentProblem(
            f"DATABASE_URL starts with {parts.scheme + '://' if parts.scheme else url[:20]!r}; "
            "it must be postgresql://user:password@host:port/name."
        )
    options: dict[str, object] = dict(parse_qsl(parts.query))
    if "prepare_threshold" in options:
        options["prepare_threshold"] = _prepare_threshold(options["prepare_threshold"])
    login, _, servers = parts.netloc.rpartition("@")
    user, _, password = login.partition(":")
    hosts, ports = _servers(servers)
    hosts = options.pop("host", None) or hosts
    ports = options.pop("port", None) or ports
    _refuse_wrong_servers(hosts, ports, options.get("target_session_attrs"))
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.lstrip("/")) or "punctual",
        "USER": unquote(user),
        "PASSWORD": unquote(password),
        "HOST": hosts,
        "PORT": ports,
        "OPTIONS": options,
    }


def _servers(text: str) -> tuple[str, str]:
    """(hosts, ports) of `host:port,host:port`, each with commas as libpq wants them; no ports if none is given."""
    hosts, ports = [], []
    for one in text.split(","):
        found = re.fullmatch(r"(?:\[(?P<v6>[^\]]*)\]|(?P<name>[^:\[\]]*))(?::(?P<port>.*))?", one)
        if found is None:
            raise EnvironmentProblem(
                f"DATABASE_URL has a server {one!r}; it must be host:port, with an IPv6 address in brackets."
            )
        hosts.append(unquote(found["v6"] or found["name"] or ""))
        ports.append(found["port"] or "")
    if len(hosts) > 1 and any(ports):
        ports = [port or "5432" for port in ports]
    return ",".join(hosts), ",".join(ports) if any(ports) else ""


def _refuse_wrong_servers(hosts: str, ports: str, attributes: object) -> None:
    named, numbered = hosts.split(","), ports.split(",") if ports else []
    for port in numbered:
        if not (port.isdecimal() and 0 < int(port) < 65536):
            raise EnvironmentProblem("DATABASE_URL has a port that is not a number between 1 and 65535.")
    if len(named) > 1 and not all(named):
        raise EnvironmentProblem(
            f"DATABASE_URL names the servers {hosts!r}, and one of them is empty; put single commas between them."
        )
    if len(numbered) not in (0, 1, len(named)):
        raise EnvironmentProblem(
            f"DATABASE_URL has {len(numbered)} ports for {len(named)} servers; give one for all, or one for each."
        )
    if attributes is not None and attributes not in WRITABLE and (len(named) > 1 or attributes != "any"):
        raise EnvironmentProblem(
            f"DATABASE_URL has target_session_attrs={attributes!r}; Punctual writes to its database, so it must be "
            f"{' or '.join(WRITABLE)}. With several servers it is read-write if you leave it out."
        )


def _prepare_threshold(text: str) -> int | None:
    """How often a statement runs before it is prepared; None: never."""
    if text == "none":
        return None
    if not text.isdecimal():
        raise EnvironmentProblem(
            f"DATABASE_URL has prepare_threshold={text!r}; it must be a number, or none for a pooler that can't keep "
            "prepared statements."
        )
    return int(text)


def text(name: str, default: str = "") -> str:
    return os.environ.get(name, default)


def texts(prefix: str, *names: str) -> dict[str, str]:
    """Those of the variables that are set, without the prefix."""
    return {name: value for name in names if (value := os.environ.get(prefix + name))}


def numbers(prefix: str, *names: str) -> dict[str, float]:
    return {name: number(prefix + name, value) for name, value in texts(prefix, *names).items()}


def whole_numbers(prefix: str, *names: str) -> dict[str, int]:
    return {name: whole_number(prefix + name, value) for name, value in texts(prefix, *names).items()}


def flag(name: str, default: bool) -> bool:
    value = os.environ.get(name)
    if value is None or value == "":
        return default
    if value.lower() in ("1", "true", "yes", "on"):
        return True
    if value.lower() in ("0", "false", "no", "off"):
        return False
    raise EnvironmentProblem(f"{name} is {value!r}; it must be 1 or 0.")


def log_format() -> str:
    """How the processes log: as text, or as lines of JSON."""
    value = os.environ.get("LOG_FORMAT") or "text"
    if value not in ("text", "json"):
        raise EnvironmentProblem(f"LOG_FORMAT is {value!r}; it must be text or json.")
    return value


def public_url() -> SplitResult | None:
    """PUBLIC_URL taken apart: the address that people type, without a path; None if there is none."""
    url = os.environ.get("PUBLIC_URL", "")
    if not url:
        return None
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        good = False
    if not good or parts.path.strip("/") or parts.query or parts.fragment or "@" in parts.netloc:
        raise EnvironmentProblem(
            f"PUBLIC_URL is {url!r}; it must be the address that people type, without a path, such as "
            "https://punctual.example.com."
        )
    return parts


def listed(name: str, default: str) -> list[str]:
    """What is separated by commas."""
    return [text.strip() for text in os.environ.get(name, default).split(",") if text.strip()]


def networks(name: str, default: str) -> list[str]:
    """Addresses and networks, separated by commas."""
    found = listed(name, default)
    for text in found:
        try:
            ip_network(text)
        except ValueError:
            raise EnvironmentProblem(
                f"{name} has {text!r}; it must be addresses or networks separated by commas, such as "
                "10.0.0.5,10.1.0.0/16."
            ) from None
    return found


def number(name: str, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise EnvironmentProblem(f"{name} is {value!r}; it must be a number.") from None


def seconds(name: str, default: float) -> float:
    """0 or more."""
    given = os.environ.get(name)
    value = number(name, given) if given else default
    if not 0 <= value < 86_400:
        raise EnvironmentProblem(f"{name} is {given!r}; it must be a number of seconds below a day, 0 for no limit.")
    return value


def whole_number(name: str, value: str) -> int:
    try:
        return int(value)
    except ValueError:
        raise EnvironmentProblem(f"{name} is {value!r}; it must be a whole number.") from None
