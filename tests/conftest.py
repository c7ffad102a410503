import os
import random
from pathlib import Path

import pytest

from tests.toys import make_repository

# What a test takes a sample of is another one in each run; the number, which is in the test's name, brings it back.
# Here, since pytest-xdist's workers have the environment of the process that starts them.
os.environ.setdefault("KATAS_SAMPLE", str(random.randrange(10**6)))


@pytest.fixture
def toys(tmp_path: Path) -> Path:
    """A repository with two toy katas."""
    return make_repository(tmp_path)
