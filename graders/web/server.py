"""Serves the pages on this machine alone, in a thread of its own: the main one judges, and hears Ctrl-C."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from graders.faults import UsageError
from graders.web.door import App, Door

HOST = "127.0.0.1"
USUAL_PORT = 8421  # .devcontainer names it
STARTING_SECONDS = 60


@dataclass(frozen=True)
class Place:
    """Where this clone's pages are, and the token that opens them.

    Both are kept in the clone, so that a page that has lost its server finds the next one.
    """

    port: int
    token: str

    @classmethod
    def kept(cls, root: Path) -> Place:
        with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
            said = json.loads(file_in(root).read_text(encoding="utf-8"))
            if len(said["token"]) >= 32 and 0 < said["port"] < 1 << 16:
                return cls(int(said["port"]), str(said["token"]))
        return cls(USUAL_PORT, secrets.token_urlsafe(32))

    def keep(self, root: Path) -> None:
        """For this user alone. Raises: UsageError."""
        file = file_in(root)
        try:
            file.parent.mkdir(exist_ok=True)
            file.touch(mode=0o600)
            file.chmod(0o600)
            file.write_text(json.dumps({"port": self.port, "token": self.token}), encoding="utf-8")
        except OSError as error:
            raise UsageError(f"{file} cannot be written: {error.strerror}; mend that, then try again") from None


def file_in(root: Path) -> Path:
    return root / ".kata" / "web.json"


def listening(root: Path, named: int | None) -> tuple[socket.socket, Place]:
    """A socket that this machine alone reaches. A second server in a clone takes another port. Raises: UsageError."""
    place = Place.kept(root)
    for port in [named] if named is not None else [place.port, 0]:
        try:
            made = socket.create_server((HOST, port))
        except OSError as error:
            if named is not None:
                why = os.strerror(error.errno or 0)  # without what Python adds to it
                raise UsageError(f"port {named} cannot be had ({why}); name another one with --port") from None
            continue
        found = Place(made.getsockname()[1], place.token)
        if port or not file_in(root).exists():  # else the first server's stays
            found.keep(root)
        return made, found
    raise UsageError("no port of this machine can be had; mend that, then try again")


@contextlib.contextmanager
def serving(app: App, at: socket.socket, place: Place, outside: str) -> Iterator[None]:
    """Until the block ends. Raises: UsageError where it cannot begin."""
    config = uvicorn.Config(
        Door(app, place.token, place.port, outside),
        log_level="error",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [at]}, daemon=True)
    thread.start()
    deadline = time.monotonic() + STARTING_SECONDS
    while not server.started and thread.is_alive() and time.monotonic() < deadline:
        time.sleep(0.01)
    if not server.started:
        raise UsageError("the page could not be served; the messages above say why")
    try:
        yield
    finally:
        server.should_exit = True
        thread.join(timeout=3)
