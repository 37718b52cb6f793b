"""docs/failures.md has every sign of a collapse, docs/checkup.md every finding; the package says what the guide has."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def said_by_the_package() -> Iterator[tuple[str, ast.expr, ast.Module]]:
    """Where a sign of collapse stands, and its code; where a finding of the check-up stands, and its words."""
    for path in sorted((ROOT / "src").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            where, name = f"{path.relative_to(ROOT)}:{node.lineno}", ast.unparse(node.func)
            if name == "Reason":
                yield where, node.args[0], tree
            elif name == "Finding" and isinstance(node.args[2], ast.Constant | ast.JoinedStr):
                yield where, node.args[2], tree


def longest_fixed_part(message: ast.expr, tree: ast.Module) -> str:
    """The longest piece of a message that is the same each time."""
    if isinstance(message, ast.Name):
        message = next(
            node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == message.id
        )
    pieces = [
        node.value for node in ast.walk(message) if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    return max(pieces, key=len)


@pytest.mark.parametrize(
    ("where", "message", "tree"), [pytest.param(*each, id=each[0]) for each in said_by_the_package()]
)
def test_the_guide_has_it(where: str, message: ast.expr, tree: ast.Module) -> None:
    page = "checkup.md" if "checkup/" in where else "failures.md"
    guide = " ".join((ROOT / "docs" / page).read_text(encoding="utf-8").replace("\n> ", " ").split())
    fixed = " ".join(longest_fixed_part(message, tree).split()).strip(" :;,.()")
    assert fixed in guide, f"{where}: the guide does not have “{fixed}”"


def messages_of_the_guide() -> list[str]:
    """The first cells of the tables of warnings, notes and errors: messages, or several with ``; `` between them."""
    guide = (ROOT / "docs" / "failures.md").read_text(encoding="utf-8")
    tables = re.findall(r"^\| (?:message|note) \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", guide, re.MULTILINE)
    assert len(tables) == 3
    return [row.split(" | ")[0].removeprefix("| ") for table in tables for row in table.splitlines()]


@pytest.fixture(scope="module")
def texts_of_the_package() -> str:
    """All texts in the source, one after the other."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in sorted((ROOT / "src").rglob("*.py"))]
    found = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    return "\n".join(" ".join(node.value.split()) for node in found if isinstance(node.value, str))


@pytest.mark.parametrize("message", messages_of_the_guide())
def test_the_package_says_what_the_guide_has(message: str, texts_of_the_package: str) -> None:
    for part in message.split("; "):
        fixed = max((piece.strip(" :;,.()") for piece in part.split("…")), key=len)
        assert len(fixed) > 5, part
        assert fixed in texts_of_the_package, f"the package does not say “{fixed}”"


def test_the_names_of_backbones_with_weights_are_right() -> None:
    from pugnn.models import BACKBONES

    guide = (ROOT / "docs" / "failures.md").read_text(encoding="utf-8")
    without = re.search(r"\| ([^|]*) ignore edge weights \|", guide)
    assert without is not None
    named = set(re.findall(r"`([\w-]+)`", without[1]))
    made = {name: make(4, hidden=4, dropout=0.0) for name, make in BACKBONES.items()}
    assert named == {name for name, model in made.items() if not model.uses_weights}
