"""The one guarded way out: whatever calls an address that somebody has typed in, calls it from here.

Only where the allow-list says; a name is looked up once and the connection goes to that very address; no redirects, no
proxies; every call has an end, and its answer a limit.
"""

from tasks_app.core.receivers import Refused

from .client import Answer, Client, Unreachable, call, checked, post

__all__ = ["Answer", "Client", "Refused", "Unreachable", "call", "checked", "post"]
