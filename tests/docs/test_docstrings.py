"""Docstrings become Markdown, and formulas MathML."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import griffe
import pytest

DOCS = Path(__file__).parents[2] / "docs"


def load(name: str) -> ModuleType:
    """A module of the docs folder, which is no package."""
    spec = spec_from_file_location(f"docs_{name}", DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SOURCE = r'''
#: The largest
#: of all.
MOST = 3


def walk(steps):
    r"""Walk :math:`n \le
    k` steps, at most :data:`MOST`, or :func:`other.run`.

    .. math:: a =
        b

    After it.

    Example:
        >>> walk(2)
    """
'''


@pytest.fixture
def module(tmp_path: Path) -> griffe.Module:
    (tmp_path / "sample.py").write_text(SOURCE, encoding="utf-8")
    extensions = griffe.load_extensions(load("docstrings").Docstrings())
    loaded = griffe.load("sample", search_paths=[tmp_path], extensions=extensions, force_inspection=False)
    assert isinstance(loaded, griffe.Module)
    return loaded


def test_roles_and_formulas_become_markdown(module: griffe.Module) -> None:
    docstring = module["walk"].docstring
    assert docstring is not None
    assert r"Walk $n \le k$ steps" in docstring.value
    assert '<autoref optional identifier="sample.MOST"><code>MOST</code></autoref>' in docstring.value
    assert '<autoref optional identifier="other.run"><code>run</code></autoref>' in docstring.value
    assert "\n$$\na =\nb\n$$\n" in docstring.value
    assert docstring.value.endswith("After it.\n\nExamples:\n    >>> walk(2)")


def test_comments_document_constants(module: griffe.Module) -> None:
    docstring = module["MOST"].docstring
    assert docstring is not None
    assert docstring.value == "The largest\nof all."


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        (r'<span class="arithmatex">\(a &lt; b\)</span>', '<span class="formula"><math'),
        (r'<div class="arithmatex">\[\ell(-g)\]</div>', '<mo form="prefix">&#x02212;</mo>'),
        (r'<div class="arithmatex">\[x \sim P\]</div>', "<mo>&#x0223C;</mo>"),
        (r'<div class="arithmatex">\[\hat y\]</div>', '<mo stretchy="false">&#x0005E;</mo>'),
        (r'<span class="arithmatex">\(\overline{a b}\)</span>', '<mo stretchy="true">&#x0203E;</mo>'),
        (
            r'<span class="arithmatex">\(\lVert w \rVert\)</span>',
            '<mo stretchy="false" lspace="0" rspace="0">&#x02016;',
        ),
    ],
)
def test_formulas_become_mathml(formula: str, expected: str) -> None:
    assert expected in load("hooks").on_page_content(formula)


def test_a_numbered_list_keeps_its_formulas() -> None:
    text = "1. First,\n\n   .. math:: a\n\n   and so on.\n\n2. Second."
    module = griffe.Module("sample")
    words = load("docstrings").as_markdown(text, module)
    assert [part.strip("\n") for part in words.split("\n\n")] == [
        "1. First,",
        "    $$\n    a\n    $$",
        "    and so on.",
        "2. Second.",
    ]
