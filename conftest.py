"""Lets plain `pytest katas/…` grade, from the command line or an editor; `nox -s grade` does not read it."""

pytest_plugins = ["graders.grade.plugin"]
