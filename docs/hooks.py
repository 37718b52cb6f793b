"""MkDocs hooks: formulas as MathML, pages made from other files, and the command reference."""

from __future__ import annotations

import html
import re
from collections.abc import Collection
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

from fontTools import subset
from latex2mathml.converter import convert
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parent.parent
#: A font for mathematics, from the package ziamath.
FONT = "ziamath/fonts/STIXTwoMath-Regular.ttf"
#: How pymdownx.arithmatex marks inline and display formulas.
FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)
#: Single letters are rendered as italic characters: ℎ, and those of Latin and Greek.
ITALICS = {0x210E, *range(0x1D434, 0x1D468), *range(0x1D6E2, 0x1D71C)}
#: The root sign, which the markup of a root implies.
ROOT_SIGN = 0x221A
#: Corrections of the converter's output: bars that stretch over all they cover, norms that do not stretch, hats that do
#: not touch, spaces around functions and brackets, the unary minus sign, and ∼.
CORRECTIONS = (
    (r'<mo (stretchy|accent)="true">&#x(000AF|02015);</mo>', '<mo stretchy="true">&#x0203E;</mo>'),
    ("<mo>&#x02016;</mo>", '<mo stretchy="false" lspace="0" rspace="0">&#x02016;</mo>'),
    (r'<mover accent="true">(.*?)<mo>&#x0005E;</mo>', r'<mover>\1<mo stretchy="false">&#x0005E;</mo>'),
    (r'<mo( movablelimits="true")?>(\w{2,})</mo>', r'<mo\1 lspace="0.167em" rspace="0.167em">\2</mo>'),
    (r'fence="true"', 'fence="true" lspace="0" rspace="0"'),
    (r'<mi>([a-z]{2,})</mi>(?!<mo stretchy="false">&#x00028;)', r'<mo lspace="0.167em" rspace="0.167em">\1</mo>'),
    (r"(?<=&#x000(?:28|2C|3D);</mo>)<mo>&#x02212;</mo>", '<mo form="prefix">&#x02212;</mo>'),
    (r"<mi>&#x0007E;</mi>", "<mo>&#x0223C;</mo>"),
)

_drawn: set[str] = set()


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages whose source is elsewhere."""
    pages = {
        "changelog.md": _page_of("CHANGELOG.md"),
        "contributing.md": _page_of("CONTRIBUTING.md"),
        "commands.md": command_reference(),
    }
    for path, content in pages.items():
        files.append(File.generated(config, path, content=content))
    return files


def on_page_content(content: str, **_: Any) -> str:
    """Convert every formula to MathML, which browsers render without a script."""
    return FORMULA.sub(_as_mathml, content)


def on_post_build(config: MkDocsConfig) -> None:
    """Add a font with the characters of the formulas, because many machines have no font for mathematics."""
    options = subset.Options(layout_features=["*"])
    font = subset.load_font(distribution("ziamath").locate_file(FONT), options)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=ITALICS | {ROOT_SIGN} | set(map(ord, _drawn)))
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
    """A file of the repository root as a page, with its links adapted."""
    text = (ROOT / name).read_text(encoding="utf-8")
    return text.replace("](docs/", "](").replace("](CONTRIBUTING.md)", "](contributing.md)")


def command_reference() -> str:
    """Every command with its options, from the ``--help`` texts."""
    from typer import Typer
    from typer.main import get_command

    from pugnn.cli import app
    from pugnn.cli.commands.fit import fit_command
    from pugnn.cli.options import summary
    from pugnn.methods import METHODS

    commands: dict[str, Any] = get_command(app).commands  # type: ignore[attr-defined]
    parts = ["# All commands\n\nThe `--help` text of every command.\n"]
    for name, command in commands.items():
        parts.append(f"## pugnn {name}\n\n{command.help}\n")
        parts += _panels(command)
        if name == "fit":
            for method in METHODS:
                parts.append(f"### pugnn fit --method {method}\n\n{summary(METHODS[method])}\n")
                single = Typer()
                single.command()(fit_command(method, []))
                parts += _panels(get_command(single), ("Method", "Training"), without=("method", "threshold", "device"))
    return "\n".join(parts)


def _panels(command: Any, wanted: Collection[str] | None = None, without: Collection[str] = ()) -> list[str]:
    """A table of options for each panel of a command's help."""
    panels: dict[str, list[str]] = {}
    for option in command.params:
        panel = getattr(option, "rich_help_panel", None) or "General"
        if (wanted is None or panel in wanted) and option.name not in without and not getattr(option, "hidden", False):
            panels.setdefault(panel, []).append(_option_row(option))
    return [
        f"**{panel}**\n\n| option | meaning |\n|---|---|\n" + "\n".join(rows) + "\n" for panel, rows in panels.items()
    ]


def _option_row(option: Any) -> str:
    names = [option.name.upper()] if option.param_type_name == "argument" else [*option.opts, *option.secondary_opts]
    text = (option.help or "").replace("|", "\\|")
    return f"| {', '.join(f'`{name}`' for name in names)} | {text} |"
