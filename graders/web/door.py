"""Who is let in: whoever has the token, by this server's own name, from its own pages. Sockets are no exception."""

from __future__ import annotations

import hmac
import os
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

# NiceGUI's pages hold scripts of their own, and Vue compiles templates. What matters: no other host, in no frame.
POLICY = (
    "default-src 'self' data: blob:; script-src 'self' 'unsafe-inline' 'unsafe-eval'; "
    "style-src 'self' 'unsafe-inline'; connect-src 'self' {sockets}; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
)
CLOSED = "Open this page by the whole address that `nox -s web` printed in your terminal, token included."
STRANGE = (
    "This server does not know the name {}. If a proxy shows the server by that name, start it with the proxy's whole "
    "address: nox -s web -- --root-path https://NAME/PATH"
)


class Door:
    """Stands before the whole application.

    Another site's page can have a browser send requests here, even by a name of its own that it leads to this machine
    (DNS rebinding). So a request must name this server as its host, and come from no page of another one. The address
    with the token in it sets a cookie, which all further requests carry, and those of sockets.
    """

    def __init__(self, app: App, token: str, port: int, outside: str = "") -> None:
        """`outside` is the address, or its path alone, by which a proxy shows this server."""
        named = urlsplit(outside)
        self.app = app
        self.token = token
        self.path = named.path.rstrip("/")
        self.cookie = f"katas-{port}"  # a browser keeps the cookies of all ports of a host together
        self.hosts = {f"127.0.0.1:{port}", f"localhost:{port}", named.netloc, codespace(port)} - {""}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        # Some proxies take the path off that they show the page by, and others leave it.
        scope = {**scope, "root_path": self.path, "path": self.path + scope["path"].removeprefix(self.path)}
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        named = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if why := self.refusal(headers, named):
            await refuse(scope, send, why)
        elif named and scope["type"] == "http":
            await self.remember(scope, send)
        else:
            await self.app(scope, receive, self.guarded(send))

    def refusal(self, headers: dict[str, str], named: str) -> str:
        """Why it is not let in; "" where it is."""
        host, origin = headers.get("host", ""), headers.get("origin")
        for name in (host, host if origin is None else urlsplit(origin).netloc):
            if name not in self.hosts:
                return STRANGE.format(ascii(name))
        shown = (named, self.carried(headers))
        return "" if any(hmac.compare_digest(one.encode(), self.token.encode()) for one in shown) else CLOSED

    def carried(self, headers: dict[str, str]) -> str:
        try:
            found = SimpleCookie(headers.get("cookie", "")).get(self.cookie)
        except CookieError:
            return ""
        return found.value if found else ""

    async def remember(self, scope: Scope, send: Send) -> None:
        """Sets the cookie, and leads on to the same page by an address that may be seen over a shoulder."""
        path = scope["path"].removeprefix(self.path)
        cookie = f"{self.cookie}={self.token}; Path={self.path or '/'}; HttpOnly; SameSite=Lax; Max-Age=31536000"
        there = f"{self.path}/{quote(path.lstrip('/'))}"
        headers = [
            (b"location", there.encode()),
            (b"set-cookie", cookie.encode()),
            (b"referrer-policy", b"no-referrer"),
        ]
        await send({"type": "http.response.start", "status": 303, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    def guarded(self, send: Send) -> Send:
        policy = POLICY.format(sockets=" ".join(f"ws://{host} wss://{host}" for host in sorted(self.hosts)))
        more = {
            "content-security-policy": policy,
            "referrer-policy": "same-origin",
            "x-content-type-options": "nosniff",
        }

        async def sent(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                added = [(name.encode(), value.encode()) for name, value in more.items()]
                message = {**message, "headers": [*message.get("headers", ()), *added]}
            await send(message)

        return sent


async def refuse(scope: Scope, send: Send, why: str) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008})
        return
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": 403, "headers": headers})
    await send({"type": "http.response.body", "body": f"{why}\n".encode()})


def codespace(port: int) -> str:
    """The host by which a Codespace shows a port; "" elsewhere."""
    name, domain = map(os.environ.get, ("CODESPACE_NAME", "GITHUB_CODESPACES_PORT_FORWARDING_DOMAIN"))
    return f"{name}-{port}.{domain}" if name and domain else ""
