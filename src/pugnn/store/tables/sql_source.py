"""Names of tables in databases: ``sqlite:///bank.db?pays``, or with a query in place of the table."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from pugnn.errors import PugnnError, printable, shown

_EXAMPLE = "select a as source, b as target from pays"

#: How files of databases begin, where that says what they are, and the files beside them with what is not yet in them.
_MAGIC = {"sqlite": (0, b"SQLite format 3\0"), "duckdb": (8, b"DUCK")}
_LOGS = {"sqlite": "-wal", "duckdb": ".wal"}
_NAMES = {"sqlite": "an SQLite database", "duckdb": "a DuckDB database"}

_STRING, _IDENTIFIER = r"'(?:[^']|'')*'", r'"(?:[^"]|"")*"'
_QUOTED = re.compile(rf"{_STRING}|{_IDENTIFIER}|\$(\w*)\$.*?\$\1\$|--[^\n]*|/\*.*?\*/", re.DOTALL)
_TABLE = re.compile(rf"(\w+|{_IDENTIFIER})(\.(\w+|{_IDENTIFIER}))*")

#: A password: what follows a colon and precedes an @, unless it is a port.
_PASSWORD = re.compile(r"[^/@\[]*:(?!\d*[/?,])[^@]*@|[^?@\[]*:[^?]*@")


@dataclass(frozen=True)
class SqlSource:
    """A table in a database, or what a query makes of some."""

    kind: str  # ``sqlite``, ``duckdb`` or ``postgresql``
    place: str  # the database: a path, or the address of a server
    query: str  # one statement, which reads
    shown: str  # its name in messages

    @property
    def files(self) -> list[str]:
        """The files whose change is a change of the table, as far as there are any."""
        if self.kind not in _LOGS:
            return []
        log = self.place + _LOGS[self.kind]
        # An empty one is what a reader leaves.
        return [self.place, log] if os.path.isfile(log) and os.path.getsize(log) else [self.place]

    def path(self) -> str:
        """The absolute path of the file, if it is there and is such a database."""
        path, place = os.path.abspath(self.place), printable(self.place)
        if not os.path.exists(path) and os.path.exists(os.path.join("/", self.place)):
            raise PugnnError(
                f"cannot read {place}: there is no such file in this folder. An absolute path has four slashes: "
                f"{self.kind}:////{place}"
            )
        try:
            if os.path.exists(path) and not os.path.isfile(path):
                raise PugnnError(f"{place} is not a regular file; name the file of the database")
            with open(path, "rb") as file:
                head = file.read(16)
        except OSError as error:
            raise PugnnError(f"cannot read {place}: {error.strerror}") from None
        at, magic = _MAGIC[self.kind]
        if not head[at:].startswith(magic):
            other = next((kind for kind, (at, magic) in _MAGIC.items() if head[at:].startswith(magic)), None)
            remedy = f"it is {_NAMES[other]}: write {other}:///…" if other else "give other files by their name alone"
            raise PugnnError(f"{place} is not {_NAMES[self.kind]}; {remedy}")
        return path


def sql_source(name: str) -> SqlSource | None:
    """What a name such as ``sqlite:///bank.db?pays`` says; ``None`` if it names no database."""
    found = re.match(r"(sqlite|duckdb|postgres(?:ql)?)://(.*)", name, re.DOTALL)
    if found is None:
        return None
    kind, rest = "postgresql" if found[1].startswith("postgres") else found[1], found[2]
    if kind == "postgresql" and _PASSWORD.match(rest):
        raise PugnnError(
            "a password must not be in the address of a database, where others may read it: write "
            "postgresql://USER@HOST/DATABASE?…, and set the environment variable PGPASSWORD, or use ~/.pgpass"
        )
    address, _, sql = rest.partition("?")
    # The rest may contain a password; it is not shown.
    query = _checked(sql, f"{kind}://…" if kind == "postgresql" else f"{kind}://{address}", kind)
    words = shown(" ".join(name.split()), limit=200)
    if kind == "postgresql":
        return SqlSource(kind, f"postgresql://{address}", query, words)
    if not address.startswith("/") or address == "/":
        raise PugnnError(
            f"{kind}://{address}: name the file after three slashes, {kind}:///bank.db?{_EXAMPLE}, or after four "
            "if its path is absolute"
        )
    return SqlSource(kind, os.path.expanduser(address[1:]), query, words)


def hint_at_database(name: str, head: bytes) -> None:
    """Raise if a file, given as a table, is a database."""
    for kind, (at, magic) in _MAGIC.items():
        if head[at:].startswith(magic):
            raise PugnnError(f"{name} is {_NAMES[kind]}; name a table in it, or a query: '{kind}:///{name}?{_EXAMPLE}'")


def _checked(sql: str, place: str, kind: str) -> str:
    """A query that is one statement and reads: a table's name becomes one."""
    plain = _QUOTED.sub(lambda found: found[0] if found[0][0] in "'\"$" else " ", sql).strip().rstrip("; \n\t")
    bare = _QUOTED.sub("''", plain)
    if _TABLE.fullmatch(plain):
        return f"SELECT * FROM {plain}"
    if not re.match(r"[\s(]*(select|with)\b", bare, re.IGNORECASE) or ";" in bare:
        settings = "" if kind != "postgresql" else " Settings of the connection come from variables such as PGSSLMODE."
        raise PugnnError(
            f"{place}: after the first ? comes the name of a table, or one statement that begins with select or with, "
            f"such as {kind}://{'/bank.db' if kind != 'postgresql' else 'USER@HOST/DATABASE'}?{_EXAMPLE}.{settings}"
        )
    return plain
