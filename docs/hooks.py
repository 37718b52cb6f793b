"""What the site needs beyond MkDocs: formulas as MathML, pages made from other files, and the command reference."""

from __future__ import annotations

import html
import re
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

from fontTools import subset
from latex2mathml.converter import convert
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parent.parent
#: A font for mathematics, as a package brings it.
FONT = "ziamath/fonts/STIXTwoMath-Regular.ttf"
#: How pymdownx.arithmatex marks a formula in a line and one of its own.
FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)
#: A single letter is drawn in italics, which are characters of their own: ℎ, and those of Latin and Greek.
ITALICS = {0x210E, *range(0x1D434, 0x1D468), *range(0x1D6E2, 0x1D71C)}
#: What the converter writes, and what browsers draw right: hats that do not touch, the spaces of functions and
#: brackets, a minus sign that belongs to what follows, and ∼.
CORRECTIONS = (
    (r'<mover accent="true">(.*?)<mo>&#x0005E;</mo>', r'<mover>\1<mo stretchy="false">&#x0005E;</mo>'),
    (r'<mo( movablelimits="true")?>(\w{2,})</mo>', r'<mo\1 lspace="0.167em" rspace="0.167em">\2</mo>'),
    (r'fence="true"', 'fence="true" lspace="0" rspace="0"'),
    (r'<mi>([a-z]{2,})</mi>(?!<mo stretchy="false">&#x00028;)', r'<mo lspace="0.167em" rspace="0.167em">\1</mo>'),
    (r"(?<=&#x000(?:28|2C|3D);</mo>)<mo>&#x02212;</mo>", '<mo form="prefix">&#x02212;</mo>'),
    (r"<mi>&#x0007E;</mi>", "<mo>&#x0223C;</mo>"),
)

_drawn: set[str] = set()


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that have their source elsewhere."""
    pages = {
        "changelog.md": _page_of("CHANGELOG.md"),
        "contributing.md": _page_of("CONTRIBUTING.md"),
        "commands.md": command_reference(),
    }
    for path, content in pages.items():
        files.append(File.generated(config, path, content=content))
    return files


def on_page_content(content: str, **_: Any) -> str:
    """Turn every formula into MathML, which browsers draw themselves, without a script."""
    return FORMULA.sub(_as_mathml, content)


def on_post_build(config: MkDocsConfig) -> None:
    """Put the characters of the formulas beside the pages: many machines have no font that knows how to set maths."""
    options = subset.Options(layout_features=["*"])
    font = subset.load_font(distribution("ziamath").locate_file(FONT), options)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=ITALICS | set(map(ord, _drawn)))
    subsetter.subset(font)
    subset.save_font(font, Path(config.site_dir) / "formulas.ttf", options)


def _as_mathml(match: re.Match[str]) -> str:
    kind, formula = match.groups()
    mathml = convert(html.unescape(formula).strip(), display="block" if kind == "div" else "inline")
    for wrong, right in CORRECTIONS:
        mathml = re.sub(wrong, right, mathml)
    _drawn.update(html.unescape(re.sub(r"<[^>]*>", "", mathml)))
    return f'<{kind} class="formula">{mathml}</{kind}>'


def _page_of(name: str) -> str:
    """A file of the repository's root as a page, its links as they are from here."""
    text = (ROOT / name).read_text(encoding="utf-8")
    return text.replace("](docs/", "](").replace("](CONTRIBUTING.md)", "](contributing.md)")


def command_reference() -> str:
    """Every command with its options, from what ``--help`` says."""
    from typer.main import get_command

    from pugnn.cli import app

    commands: dict[str, Any] = get_command(app).commands  # type: ignore[attr-defined]
    parts = ["# All commands\n\nWhat `--help` shows, in one place.\n"]
    for name, command in commands.items():
        parts.append(f"## pugnn {name}\n\n{command.help}\n")
        panels: dict[str, list[str]] = {}
        for option in command.params:
            panel = getattr(option, "rich_help_panel", None) or "General"
            panels.setdefault(panel, []).append(_option_row(option))
        for panel, rows in panels.items():
            parts.append(f"**{panel}**\n\n| option | meaning |\n|---|---|\n" + "\n".join(rows) + "\n")
    return "\n".join(parts)


def _option_row(option: Any) -> str:
    names = [option.name.upper()] if option.param_type_name == "argument" else [*option.opts, *option.secondary_opts]
    text = (option.help or "").replace("|", "\\|")
    return f"| {', '.join(f'`{name}`' for name in names)} | {text} |"
