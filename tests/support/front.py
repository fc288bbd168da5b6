"""A little proxy that speaks TLS for the web process, as far as that can tell, from an address that is not 127.0.0.1;
and a browser that goes through it."""

import http.client
import re
import threading
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlencode, urlsplit

HOST = "punctual.example.com"
ADDRESS = "127.0.0.2"  # of the proxy, as the web process sees it


class Front:
    """Adds what a proxy adds; what its clients pretend is passed on in front of it."""

    def __init__(self, web_url: str, scheme: str = "https") -> None:
        target = urlsplit(web_url)

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                given = {name: value for name, value in self.headers.items() if name != "X-Forwarded-Proto"}
                pretended = given.pop("X-Forwarded-For", "")
                given["X-Forwarded-For"] = ", ".join(filter(None, [pretended, self.client_address[0]]))
                given["X-Forwarded-Proto"] = scheme
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                ours = http.client.HTTPConnection(target.hostname, target.port, 20, source_address=(ADDRESS, 0))
                ours.request(self.command, self.path, body, given)
                answer = ours.getresponse()
                content = answer.read()
                self.send_response_only(answer.status)
                for name, value in answer.getheaders():
                    if name not in ("Content-Length", "Connection", "Transfer-Encoding"):
                        self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)
                ours.close()

            do_POST = do_GET

            def log_message(self, *_: object) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_port
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class Answer:
    def __init__(self, answer: http.client.HTTPResponse) -> None:
        self.status, self.headers, self.text = answer.status, answer.headers, answer.read().decode()


class Surfer:
    """Somebody at an address, with a browser that keeps cookies and sends an Origin."""

    def __init__(self, port: int, address: str = "127.0.0.9", **headers: str) -> None:
        self._port, self._address = port, address
        self.headers = {"Host": HOST, **{name.replace("_", "-"): value for name, value in headers.items()}}
        self.cookies: SimpleCookie = SimpleCookie()

    def get(self, path: str) -> Answer:
        return self._call("GET", path, "", {})

    def post(self, path: str, **fields: str) -> Answer:
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Origin": f"https://{HOST}"}
        return self._call("POST", path, urlencode(fields), headers)

    def log_in(self, username: str, password: str) -> Answer:
        page = self.get("/admin/login/").text
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page)[1]
        return self.post("/admin/login/?next=/admin/", username=username, password=password, csrfmiddlewaretoken=token)

    def _call(self, method: str, path: str, body: str, headers: dict[str, str]) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, 30, source_address=(self._address, 0))
        sent = "; ".join(f"{name}={morsel.value}" for name, morsel in self.cookies.items())
        connection.request(method, path, body, self.headers | headers | ({"Cookie": sent} if sent else {}))
        answer = Answer(connection.getresponse())
        connection.close()
        for line in answer.headers.get_all("Set-Cookie") or []:
            self.cookies.load(line)
        return answer
