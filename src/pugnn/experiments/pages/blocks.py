"""A page as a list of blocks, and its two forms: Markdown for GitHub, and one self-contained HTML file.

All text is plain, except that what stands between two backticks is set as code in both forms.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from pugnn.experiments.pages.style import STYLE
from pugnn.runs.report.policy import content_policy


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
class Cell:
    """A cell of a table, with a second, smaller line."""

    text: str
    under: str = ""
    strong: bool = False


@dataclass(frozen=True)
class Table:
    """A table whose first column names the lines; ``name`` is what screen readers say."""

    name: str
    head: Sequence[Cell]
    lines: Sequence[Sequence[Cell]]


@dataclass(frozen=True)
class Figure:
    """A chart; Markdown leaves it out, since its numbers stand in the tables."""

    svg: str


Block = Heading | Paragraph | Table | Figure


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


def _markdown_line(cells: Sequence[Cell]) -> str:
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


def to_html(blocks: Sequence[Block], title: str) -> str:
    """The blocks as one HTML file that needs nothing besides itself."""
    sections = [block for block in blocks if isinstance(block, Heading) and block.level == 2]
    body: list[str] = []
    part = 0
    for block in blocks:
        if isinstance(block, Heading) and block.level == 2:
            if part == 0 and len(sections) > 1:
                body.append(_contents(sections))
            body.append(f'<h2 id="part{part}">{_html_text(block.text)}</h2>')
            part += 1
        else:
            body.append(_html_block(block))
    return (
        '<!DOCTYPE html>\n<html lang="en-GB">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{content_policy(STYLE)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(body)
        + "\n</main>\n</body>\n</html>\n"
    )


def _contents(sections: Sequence[Heading]) -> str:
    links = (f'<li><a href="#part{at}">{_html_text(part.text)}</a></li>' for at, part in enumerate(sections))
    return f'<nav aria-label="Contents"><ul>{"".join(links)}</ul></nav>'


def _html_block(block: Block) -> str:
    if isinstance(block, Heading):
        return f"<h{block.level}>{_html_text(block.text)}</h{block.level}>"
    if isinstance(block, Paragraph):
        opening = '<p class="note">' if block.note else "<p>"
        return f"{opening}{_html_text(block.text)}</p>"
    if isinstance(block, Figure):
        return f"<figure>{block.svg}</figure>"
    head = "".join(f'<th scope="col">{_html_cell(cell)}</th>' for cell in block.head)
    lines = "\n".join(
        f'<tr><th scope="row">{_html_cell(first)}</th>' + "".join(f"<td>{_html_cell(c)}</td>" for c in others) + "</tr>"
        for first, *others in block.lines
    )
    # With the keyboard, only what can take the focus scrolls.
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(block.name)}">\n'
        f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{lines}\n</tbody>\n</table>\n</div>"
    )


def _html_cell(cell: Cell) -> str:
    text = _html_text(cell.text)
    under = f'<span class="under">{_html_text(cell.under)}</span>' if cell.under else ""
    return (f"<strong>{text}</strong>" if cell.strong else text) + under


def _html_text(text: str) -> str:
    return "".join(f"<code>{escape(part)}</code>" if code else escape(part) for part, code in _split_code(text))


def _split_code(text: str) -> Iterator[tuple[str, bool]]:
    """The parts of a text, and whether each is code; a lone backtick is an ordinary character."""
    for at, part in enumerate(re.split(r"`([^`]+)`", text)):
        if part:
            yield part, at % 2 == 1
