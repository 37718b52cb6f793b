"""The paper's tables use the library as any other package does."""

import ast
from pathlib import Path

import pytest

import pugnn_paper

#: What a package may import for a command of its own.
FOR_COMMANDS = "pugnn.cli.options"
FILES = sorted(Path(pugnn_paper.__file__).parent.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_imports_are_of_rooms_and_public(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "pugnn":
            assert node.module == FOR_COMMANDS or node.module.count(".") <= 1, ast.unparse(node)
            assert not any(alias.name.startswith("_") and alias.name != "__version__" for alias in node.names)
