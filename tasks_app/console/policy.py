"""What a browser may do on our pages; docs/security.md gives the reason for each line."""

from functools import cache
from urllib.parse import urlsplit

from django.templatetags.static import static

POLICY = {
    "default-src": "'none'",
    # No inline script anywhere, and no eval: see over/unfold/layouts/skeleton.html.
    "script-src": "{static}",
    # unfold writes its theme's colours into the page, and Alpine.js sets style attributes.
    "style-src": "{static} 'unsafe-inline'",
    "img-src": "{static} data:",
    "font-src": "{static}",
    "connect-src": "'self'",
    "form-action": "'self'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
}


@cache
def headers() -> dict[str, str]:
    """For every answer that brings none of its own. Static files may lie on another server."""
    parts = urlsplit(static("tasks_app/icon.svg"))
    place = f"'self' {parts.scheme or 'https'}://{parts.netloc}" if parts.netloc else "'self'"
    return {
        "Content-Security-Policy": "; ".join(f"{name} {value.format(static=place)}" for name, value in POLICY.items()),
        "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    }
