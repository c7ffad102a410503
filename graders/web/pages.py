"""The pages, and which address leads to which."""

from __future__ import annotations

from pathlib import Path

from fastapi import FastAPI
from nicegui import ui

from graders.web.runner import Runner


def application(runner: Runner, root: Path) -> FastAPI:
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)

    @ui.page("/")
    def show_map() -> None:
        ui.label("katas")

    ui.run_with(
        app,
        title="Katas",
        dark=None,
        tailwind=False,
        gzip_middleware_factory=None,
        binding_refresh_interval=None,
        show_welcome_message=False,
    )
    return app
