from pathlib import Path

import pytest

from tests.toys import make_repository


@pytest.fixture
def toys(tmp_path: Path) -> Path:
    """A repository with two toy katas."""
    return make_repository(tmp_path)
