"""A page as a list of blocks, and its two forms: Markdown for GitHub, and one self-contained HTML file.

All text is plain, except that text between backticks is set as code in both forms.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pugnn.templates import content_policy, fill_template, resource

#: Shown where nothing was measured or published.
NONE = "–"


@dataclass(frozen=True)
class Heading:
    """A heading; level 1 is the title of the page."""

    text: str
    level: int


@dataclass(frozen=True)
class Paragraph:
    """Plain text; notes are set smaller where the form allows it."""

    text: str
    note: bool = False


@dataclass(frozen=True)
class Text:
    """What stands in one place of a table, with a second, smaller line."""

    text: str
    under: str = ""
    strong: bool = False


@dataclass(frozen=True)
class Table:
    """A table whose first column names the lines; ``name`` is for screen readers. See :func:`table`."""

    name: str
    head: Sequence[Text]
    lines: Sequence[Sequence[Text]]


@dataclass(frozen=True)
class Figure:
    """A chart; left out of Markdown, since its numbers are in the tables."""

    svg: str


Block = Heading | Paragraph | Table | Figure


#: A line of a table, in which most texts are plain strings.
Line = Sequence[Text | str]


def table(name: str, head: Line, lines: Sequence[Line]) -> Table:
    """A table with plain strings as texts of one line."""

    def texts(line: Line) -> list[Text]:
        return [Text(text) if isinstance(text, str) else text for text in line]

    return Table(name, texts(head), [texts(line) for line in lines])


def columns_table(name: str, head: Line, columns: Sequence[Mapping[str, Text | str]], rows: Iterable[str]) -> Table:
    """A table from its columns, with a line for each row that is in one of them, and a dash where it is not."""
    there = [row for row in rows if any(row in column for column in columns)]
    return table(name, head, [[row, *(column.get(row, NONE) for column in columns)] for row in there])


def to_markdown(blocks: Sequence[Block]) -> str:
    """The blocks as Markdown with GitHub's tables."""
    parts = ("\n".join(_markdown_lines(block)) for block in blocks if not isinstance(block, Figure))
    return "\n\n".join(parts) + "\n"


def _markdown_lines(block: Heading | Paragraph | Table) -> Iterator[str]:
    if isinstance(block, Heading):
        yield f"{'#' * block.level} {_markdown_text(block.text)}"
    elif isinstance(block, Paragraph):
        yield _markdown_text(block.text)
    else:
        yield _markdown_line(block.head)
        yield "|---|" + "---:|" * (len(block.head) - 1)
        yield from map(_markdown_line, block.lines)


def _markdown_line(cells: Sequence[Text]) -> str:
    shown = []
    for cell in cells:
        text = _markdown_text(cell.text)
        under = f"<br><sub>{_markdown_text(cell.under)}</sub>" if cell.under else ""
        shown.append((f"**{text}**" if cell.strong else text) + under)
    return f"| {' | '.join(shown)} |"


def _markdown_text(text: str) -> str:
    def plain(part: str) -> str:
        return re.sub(r"([\\*|\[\]~])", r"\\\1", part).replace("&", "&amp;").replace("<", "&lt;")

    # Inside code nothing is special but the bar, which would end a cell.
    return "".join(f"`{part.replace('|', chr(92) + '|')}`" if code else plain(part) for part, code in _split_code(text))


def to_html(blocks: Sequence[Block]) -> str:
    """The blocks, of which the first is the title, as one HTML file that needs nothing besides itself."""
    style = resource(__package__, "style.css")
    sections = [block for block in blocks if isinstance(block, Heading) and block.level == 2]
    values = {"blocks": blocks, "sections": sections, "style": style, "policy": content_policy(style)}
    filters = {"kind": lambda block: type(block).__name__, "parts": _split_code}
    return fill_template(__package__, "template.html", values, filters)


def _split_code(text: str) -> Iterator[tuple[str, bool]]:
    """The parts of a text, and whether each is code; a lone backtick is an ordinary character."""
    for at, part in enumerate(re.split(r"`([^`]+)`", text)):
        if part:
            yield part, at % 2 == 1
