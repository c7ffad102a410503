"""`web`: who is let in, and what is served. What a browser shows is tested in tests/test_web_pages.py."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import os
import signal
import socket
import stat
import subprocess
import time
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import psutil  # type: ignore[import-untyped]
import pytest

from graders.__main__ import main
from graders.arguments import command_line
from graders.faults import ROOT, UsageError
from graders.web.door import Door, Receive, Scope, Send
from graders.web.server import Place, listening
from tests.toys import make_repository

TOKEN = "a-token-that-nobody-guesses-0123456789"
COOKIE = f"katas-8421={TOKEN}"
HOST = "127.0.0.1:8421"
UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}
SERVED = ("scale", "--port", "0", "--root-path", "/proxy/")
SOCKET = "/_nicegui_ws/socket.io/?EIO=4&transport=websocket"


@dataclass
class Served:
    """A server that runs."""

    process: subprocess.Popen[str]
    address: str

    @property
    def port(self) -> int:
        return urlsplit(self.address).port or 0

    @property
    def token(self) -> str:
        return parse_qs(urlsplit(self.address).query)["token"][0]

    @property
    def cookie(self) -> dict[str, str]:
        return {"Cookie": f"katas-{self.port}={self.token}"}

    def get(self, path: str, **headers: str) -> tuple[int, dict[str, str]]:
        return self.request("GET", path, headers)

    def post(self, path: str, **headers: str) -> tuple[int, dict[str, str]]:
        return self.request("POST", path, headers)

    def request(self, method: str, path: str, headers: dict[str, str]) -> tuple[int, dict[str, str]]:
        """Status and headers."""
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)) as connection:
            connection.request(method, path, headers=headers)
            with connection.getresponse() as response:
                return response.status, {name.lower(): value for name, value in response.getheaders()}


@contextlib.contextmanager
def serving(root: Path, *arguments: str, **environment: str) -> Iterator[Served]:
    process = subprocess.Popen(
        [*command_line(root), "web", "--no-browser", *arguments],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=os.environ | environment,
    )
    assert process.stdout is not None
    try:
        yield Served(process, process.stdout.readline().strip())
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Ctrl-C ends it, and all that it started."""
    with serving(make_repository(tmp_path_factory.mktemp("web")), *SERVED) as made:
        yield made
        family = psutil.Process(made.process.pid).children(recursive=True)
        made.process.send_signal(signal.SIGINT)
        assert made.process.wait(timeout=30) == 0
        deadline = time.monotonic() + 10
        while any(one.is_running() and one.status() != psutil.STATUS_ZOMBIE for one in family):
            assert time.monotonic() < deadline
            time.sleep(0.1)


def answer(kind: str, headers: dict[str, str], query: str = "", path: str = "/", **more: str) -> list[Any]:
    """What the door says to a request; the application behind it says 200, or accepts the socket."""
    sent: list[MutableMapping[str, Any]] = []

    async def inside(scope: Scope, receive: Receive, send: Send) -> None:
        http = {"type": "http.response.start", "status": 200, "headers": []}
        await send(http if scope["type"] == "http" else {"type": "websocket.accept"})

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    async def receive() -> MutableMapping[str, Any]:
        raise AssertionError

    scope = {
        "type": kind,
        "path": path,
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }
    asyncio.run(Door(inside, TOKEN, 8421, **more)(scope, receive, send))
    return sent


def status(kind: str, headers: dict[str, str], query: str = "", **more: str) -> int:
    """Of HTTP; a socket that is closed before it was accepted is answered by 403."""
    first = answer(kind, headers, query, **more)[0]
    return int(first.get("status", 200 if first["type"] == "websocket.accept" else 403))


KINDS = pytest.mark.parametrize("kind", ["http", "websocket"])


@KINDS
def test_token_is_needed(kind: str) -> None:
    assert status(kind, {"host": HOST, "cookie": COOKIE}) == 200
    assert status(kind, {"host": HOST}) == 403
    assert status(kind, {"host": HOST, "cookie": f"{COOKIE}x"}) == 403
    assert status(kind, {"host": HOST, "cookie": "katas-8421="}) == 403
    assert status(kind, {"host": HOST, "cookie": "\x00"}) == 403
    assert status(kind, {"host": HOST}, "token=other") == 403


@KINDS
@pytest.mark.parametrize("host", ["evil.example:8421", "127.0.0.1", "127.0.0.1:80", "127.0.0.1:8421.evil.example", ""])
def test_name_that_another_site_leads_here_is_refused(kind: str, host: str) -> None:
    assert status(kind, {"host": host, "cookie": COOKIE}) == 403
    assert status(kind, {"cookie": COOKIE}) == 403


@KINDS
@pytest.mark.parametrize("origin", ["https://evil.example", "http://127.0.0.1", "http://127.0.0.1:8000", "null"])
def test_page_of_another_site_is_refused(kind: str, origin: str) -> None:
    assert status(kind, {"host": HOST, "cookie": COOKIE, "origin": f"http://{HOST}"}) == 200
    assert status(kind, {"host": HOST, "cookie": COOKIE, "origin": origin}) == 403


def test_refusal_says_what_to_do() -> None:
    assert b"in your terminal, token included" in answer("http", {"host": HOST})[1]["body"]
    hub = {"host": "hub.example", "cookie": COOKIE}
    assert b"does not know the name 'hub.example'" in answer("http", hub)[1]["body"]
    origin = {"host": HOST, "cookie": COOKIE, "origin": "https://hub.example"}
    assert b"--root-path https://NAME/PATH" in answer("http", origin)[1]["body"]


def test_token_in_the_address_becomes_a_cookie_that_no_script_reads() -> None:
    (start, _) = answer("http", {"host": HOST}, f"token={TOKEN}", path="/kata/so\r\nft")
    headers = dict(start["headers"])
    assert start["status"] == 303
    assert headers[b"location"] == b"/kata/so%0D%0Aft"
    assert headers[b"set-cookie"].decode().startswith(f"{COOKIE}; Path=/; HttpOnly; SameSite=Lax")


def test_token_leads_to_no_other_host() -> None:
    (start, _) = answer("http", {"host": HOST}, f"token={TOKEN}", path="//evil.example")
    assert dict(start["headers"])[b"location"] == b"/evil.example"


def test_no_page_loads_from_another_host_or_shows_in_a_frame() -> None:
    (start,) = answer("http", {"host": HOST, "cookie": COOKIE})
    policy = dict(start["headers"])[b"content-security-policy"].decode()
    assert "frame-ancestors 'none'" in policy
    hosts = {word for word in policy.replace(";", " ").split() if "://" in word}
    assert {urlsplit(one).netloc for one in hosts} == {HOST, "localhost:8421"}


@pytest.mark.parametrize(
    ("outside", "location", "path"),
    [
        ("/user/ada/proxy/8421", "/user/ada/proxy/8421/kata/scale", "/user/ada/proxy/8421"),
        ("https://hub.example/user/ada/", "/user/ada/kata/scale", "/user/ada"),
    ],
)
def test_behind_a_prefix_cookie_and_address_keep_to_it(outside: str, location: str, path: str) -> None:
    at = {"host": urlsplit(outside).netloc or HOST}
    (start, _) = answer("http", at, f"token={TOKEN}", path=f"{path}/kata/scale", outside=outside)
    headers = dict(start["headers"])
    assert headers[b"location"].decode() == location
    assert f"; Path={path};" in headers[b"set-cookie"].decode()


def test_codespace_is_let_in_by_the_name_that_it_is_shown_by(monkeypatch: pytest.MonkeyPatch) -> None:
    origin = {"host": HOST, "cookie": COOKIE, "origin": "https://ada-8421.app.github.dev"}
    assert status("websocket", origin) == 403
    monkeypatch.setenv("CODESPACE_NAME", "ada")
    monkeypatch.setenv("GITHUB_CODESPACES_PORT_FORWARDING_DOMAIN", "app.github.dev")
    assert status("websocket", origin) == 200


def test_server_asks_whoever_comes(served: Served) -> None:
    assert f"/proxy/kata/scale?token={served.token}" in served.address
    assert served.get("/")[0] == 403
    assert served.get(SOCKET, **UPGRADE)[0] == 403
    assert served.get("/", **served.cookie, Host="evil.example")[0] == 403
    assert served.get(SOCKET, **UPGRADE, **served.cookie, Origin="https://evil.example")[0] == 403
    status, headers = served.get(f"/?token={served.token}")
    assert status == 303
    assert served.get("/", Cookie=headers["set-cookie"].partition(";")[0])[0] == 200
    assert served.get(SOCKET, **UPGRADE, **served.cookie)[0] == 101


@pytest.mark.parametrize("prefix", ["", "/proxy"])
def test_behind_a_proxy_it_answers_whether_the_path_is_taken_off_or_not(served: Served, prefix: str) -> None:
    assert served.get(f"{prefix}/?token={served.token}")[1]["location"] == "/proxy/"
    assert served.get(f"{prefix}/kata/scale", **served.cookie)[0] == 200
    assert served.get(f"{prefix}/report", **served.cookie)[0] == 200
    assert served.get(f"{prefix}/_nicegui/{version('nicegui')}/static/nicegui.js", **served.cookie)[0] == 200
    assert served.get(f"{prefix}{SOCKET}", **UPGRADE, **served.cookie)[0] == 101


def test_button_of_a_page_without_scripts_leads_on(served: Served) -> None:
    evil = {"Origin": "https://evil.example"}
    assert served.post("/review/scale")[0] == 403
    assert served.post("/review/scale", **served.cookie, **evil)[0] == 403
    assert served.get("/kata/scale?via=review", **served.cookie)[0] == 404  # nothing was begun
    status, headers = served.post("/review/scale", **served.cookie)
    assert (status, headers["location"]) == (303, "/proxy/kata/scale?via=review")
    assert served.get(headers["location"], **served.cookie)[0] == 200
    assert served.post("/review/nothing", **served.cookie)[0] == 404


def test_only_this_machine_reaches_it(served: Served) -> None:
    family = [psutil.Process(served.process.pid), *psutil.Process(served.process.pid).children(recursive=True)]
    listening = [one.laddr for each in family for one in each.net_connections("inet") if one.status == "LISTEN"]
    assert [(one.ip, one.port) for one in listening] == [("127.0.0.1", served.port)]


def test_second_server_in_a_clone_takes_another_port_and_the_next_one_the_first(tmp_path: Path) -> None:
    first, place = listening(tmp_path, 0)
    second, other = listening(tmp_path, None)
    second.close()
    assert other.port != place.port
    assert other.token == place.token
    assert stat.S_IMODE((tmp_path / ".kata/web.json").stat().st_mode) == 0o600
    first.close()
    third, again = listening(tmp_path, None)  # a page that has lost its server finds this one
    third.close()
    assert again == place


@pytest.mark.parametrize(
    "damage",
    ["", "[]", "{", '{"port": 8421, "token": ""}', '{"port": "x", "token": "a-token-that-nobody-guesses-0123456789"}'],
)
def test_damaged_place_is_made_anew(tmp_path: Path, damage: str) -> None:
    (tmp_path / ".kata").mkdir()
    (tmp_path / ".kata/web.json").write_text(damage)
    assert len(Place.kept(tmp_path).token) > 32
    assert Place.kept(tmp_path).token != TOKEN


def test_port_that_is_taken_is_told(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UsageError, match=rf"port {port} cannot be had \(Address already in use\); name another"):
            listening(tmp_path, port)


def test_port_is_a_number_that_ports_have(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["web", "--port", "70000"])
    assert "a port should be from 0 to 65535, got 70000" in capsys.readouterr().err
