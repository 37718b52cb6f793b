"""A PostgreSQL server of one's own, in a temporary folder, on a socket that nobody else uses."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

#: Of the user ``bank``.
PASSWORD = "Dv9-quite_secret"


@dataclass(frozen=True)
class Server:
    """A running server."""

    folder: Path  # of its socket

    @property
    def address(self) -> str:
        """What precedes the query in the name of a table."""
        return f"postgresql://bank@{quote(str(self.folder), safe='')}/postgres"

    def execute(self, *statements: str) -> None:
        """Run statements."""
        with self._connected() as connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)

    def ingest(self, table: str, rows: Any) -> None:
        """Add rows of an Arrow table to a table."""
        with self._connected() as connection, connection.cursor() as cursor:
            cursor.adbc_ingest(table, rows, mode="append")

    def _connected(self) -> Any:
        import adbc_driver_postgresql.dbapi as driver

        return driver.connect(self.address.replace("bank", f"bank:{PASSWORD}", 1), autocommit=True)


def programs() -> Path | None:
    """The folder of PostgreSQL's programs, if it is installed."""
    on_path = shutil.which("initdb")
    found = [Path(on_path)] if on_path else sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))  # as in Debian
    return found[-1].parent if found else None


@contextmanager
def server() -> Iterator[Server]:
    """A server, until the end of the block."""
    bin, root = programs(), os.geteuid() == 0
    assert bin is not None
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))  # the name of a socket is at most 107 letters long
    someone: dict[str, Any] = {"user": "nobody"} if root else {}  # PostgreSQL refuses to be run by root
    quiet: dict[str, Any] = {"check": True, "stdout": subprocess.DEVNULL, "cwd": folder, **someone}
    try:
        (folder / "password").write_text(PASSWORD)
        if root:
            for path in (folder, folder / "password"):
                shutil.chown(path, "nobody")
        how = ["-A", "scram-sha-256", "-U", "bank", "--pwfile", folder / "password", "-E", "UTF8", "--no-sync"]
        subprocess.run([bin / "initdb", "-D", folder / "data", *how], **quiet)
        options = f"-k {folder} -c listen_addresses='' -c fsync=off"
        control = [bin / "pg_ctl", "-D", folder / "data", "-w", "-l", folder / "log"]
        subprocess.run([*control, "-o", options, "start"], **quiet)
        try:
            yield Server(folder)
        finally:
            subprocess.run([*control, "-m", "immediate", "stop"], **quiet)
    finally:
        shutil.rmtree(folder)
