"""Trees of learners: folders, archives and commits, of which nothing is run or unpacked, and no link is followed."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import lzma
import os
import stat
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Protocol, cast

from graders.catalogue.source import LONGEST_SOURCE
from graders.cohort.repositories import Trouble, git

MOST_UNPACKED = 1 << 30  # bytes of an archive that are looked through
MOST_KEPT = 32 << 20  # bytes of a .tar's Python files; this repository has 5 MB
MOST_AT_ONCE = 1 << 20  # bytes of one of its headers
LINK = -1  # in the place of a link's size
NOT_LOOKED_INTO = {"solutions", "tests", "node_modules", "__pycache__", "__MACOSX"}
ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")


class Tree(Protocol):
    """The plain files of a learner, and the links, which are never followed."""

    def files(self) -> Iterator[tuple[str, int]]:
        """Their paths, with / between names, and their sizes, `LINK` for a link. Raises: Trouble."""

    def read(self, path: str) -> bytes:
        """At most what a submission may have, and one byte more. Raises: Trouble."""


class Folder:
    """A learner's folder."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def files(self) -> Iterator[tuple[str, int]]:
        def give_up(error: OSError) -> None:
            raise Trouble(f"{error.filename} cannot be read: {error.strerror}")

        for folder, folders, names in os.walk(self.root, onerror=give_up):
            folders[:] = sorted(one for one in folders if not one.startswith(".") and one not in NOT_LOOKED_INTO)
            for name in names:
                path = Path(folder, name)
                state = path.lstat()
                if stat.S_ISREG(state.st_mode) or stat.S_ISLNK(state.st_mode):
                    size = state.st_size if stat.S_ISREG(state.st_mode) else LINK
                    yield path.relative_to(self.root).as_posix(), size

    def read(self, path: str) -> bytes:
        try:
            handle = os.open(self.root / path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
            with os.fdopen(handle, "rb") as stream:
                return stream.read(LONGEST_SOURCE + 1)
        except OSError as error:
            raise Trouble(f"{path} cannot be read: {error.strerror}") from None


class Zip:
    """A learner's .zip."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def files(self) -> Iterator[tuple[str, int]]:
        with told(f"{self.file.name} is no .zip that can be read"), zipfile.ZipFile(self.file) as archive:
            for one in archive.infolist():
                if not one.is_dir():
                    yield one.filename, LINK if stat.S_ISLNK(one.external_attr >> 16) else one.file_size

    def read(self, path: str) -> bytes:
        with told(f"{path} cannot be read out of {self.file.name}"), zipfile.ZipFile(self.file) as archive:
            if archive.getinfo(path).compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise Trouble(f"{path} is compressed in a rare way in {self.file.name}; a usual .zip can be read")
            with archive.open(path) as stream:
                return stream.read(LONGEST_SOURCE + 1)


class Tar:
    """A learner's .tar, perhaps compressed. What it holds is read while it is looked through, once."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.kept: dict[str, bytes] = {}

    def files(self) -> Iterator[tuple[str, int]]:
        with (
            told(f"{self.file.name} is no .tar that can be read"),
            plain_stream(self.file) as stream,
            tarfile.open(fileobj=cast("IO[bytes]", Sparing(stream)), mode="r:") as archive,
        ):
            seen = kept = 0
            for one in archive:
                seen += one.size
                if seen > MOST_UNPACKED:
                    raise Trouble(f"{self.file.name} unpacks to more than 1 GB; leave out what is no answer")
                if one.isreg():
                    if one.name.endswith(".py") and one.size <= LONGEST_SOURCE:
                        kept += one.size
                        if kept > MOST_KEPT:
                            self.kept.clear()
                            most = f"{MOST_KEPT >> 20} MB of Python files"
                            raise Trouble(f"{self.file.name} holds more than {most}; leave out what is no answer")
                        self.kept[one.name] = content_of(archive.extractfile(one))
                    yield one.name, one.size
                elif one.issym() or one.islnk():
                    yield one.name, LINK

    def read(self, path: str) -> bytes:
        return self.kept[path]


@contextlib.contextmanager
def told(what: str) -> Iterator[None]:
    """Raises: Trouble, whatever a hostile archive makes Python's own modules raise."""
    try:
        yield
    except Trouble:
        raise
    except Exception as error:
        raise Trouble(f"{what}: {error}") from None


def plain_stream(file: Path) -> IO[bytes]:
    """What the file holds once it is not compressed any more."""
    with file.open("rb") as stream:
        begins = stream.read(6)
    for sign, opener in ((b"\x1f\x8b", gzip.open), (b"BZh", bz2.open), (b"\xfd7zXZ\0", lzma.open)):
        if begins.startswith(sign):
            return cast("IO[bytes]", opener(file, "rb"))
    return file.open("rb")


class Sparing:
    """A stream that gives little at once: a header in a .tar may say that it goes on for gigabytes."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.seek, self.tell, self.close = stream.seek, stream.tell, stream.close
        self.stream = stream

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= MOST_AT_ONCE:
            raise Trouble("the .tar has a header of more than 1 MB; pack it anew")
        return self.stream.read(size)


def content_of(stream: IO[bytes] | None) -> bytes:
    return stream.read(LONGEST_SOURCE + 1) if stream else b""


class Commit:
    """A revision of a bare clone: its files are read out of git's store, and never checked out."""

    def __init__(self, clone: Path, revision: str) -> None:
        self.clone = clone
        self.revision = revision
        self.objects: dict[str, str] = {}

    def files(self) -> Iterator[tuple[str, int]]:
        listed = git(self.clone, "ls-tree", "-r", "-z", "--long", "--end-of-options", self.revision)
        for line in filter(None, os.fsdecode(listed).split("\0")):
            about, _, path = line.partition("\t")
            mode, _, name, size = about.split()
            if mode in ("100644", "100755", "120000"):
                self.objects[path] = name
                yield path, LINK if mode == "120000" else int(size)

    def read(self, path: str) -> bytes:
        return git(self.clone, "cat-file", "blob", self.objects[path])[: LONGEST_SOURCE + 1]
