"""The certificate of localhost that tests use, with its key."""

import ssl
from pathlib import Path

# Made for a hundred years by: openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes
#   -days 36500 -subj /CN=localhost -addext subjectAltName=DNS:localhost
CERTIFICATE = Path(__file__).parent / "localhost.pem"


def server_tls() -> ssl.SSLContext:
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(CERTIFICATE)
    return tls
