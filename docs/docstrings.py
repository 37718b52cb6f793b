"""Convert docstrings to the site's Markdown: formulas, references, and comments that document constants."""

from __future__ import annotations

import re
from itertools import takewhile
from typing import Any

from griffe import Alias, Attribute, Docstring, Extension, Object

#: ``.. math::`` with its formula on the same line, on the indented lines below, or both.
BLOCK = re.compile(r"^( *)\.\. math::(.*(?:\n(?:\1 +\S.*| *$))*)", re.MULTILINE)
INLINE = re.compile(r":math:`([^`]*)`")
REFERENCE = re.compile(r":(?:class|func|meth|mod|attr|data):`([^`]*)`")


class Docstrings(Extension):
    """The griffe extension."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Called by griffe for every object."""
        if isinstance(obj, Attribute) and obj.docstring is None:
            comment = _comment_above(obj)
            if comment:
                obj.docstring = Docstring(comment, parent=obj)
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value, obj)


def as_markdown(text: str, where: Object) -> str:
    """Formulas between dollar signs; references as links if their target has a page."""
    text = re.sub(r"^( *)Example:$", r"\1Examples:", text, flags=re.MULTILINE)  # the section name for code
    text = re.sub(r"^ {3}(?=\S)", "    ", text, flags=re.MULTILINE)  # Markdown wants four spaces in a numbered list
    text = BLOCK.sub(lambda match: _block(*match.groups()), text)
    text = INLINE.sub(lambda match: f"${' '.join(match[1].split())}$", text)
    return REFERENCE.sub(lambda match: _link(match[1], where), text)


def _block(indent: str, formula: str) -> str:
    lines = [line.strip() for line in formula.strip().splitlines()]
    return "\n".join(indent + line if line else "" for line in ["", "$$", *lines, "$$", ""])


def _link(target: str, where: Object) -> str:
    """A link if the target is on the site, otherwise its name."""
    path = target
    for owner in (where.module, where.parent, where):  # a name without dots belongs to the nearest owner
        if owner is not None and target in owner.members:
            member = owner.members[target]
            path = member.target_path if isinstance(member, Alias) else member.path  # its target may be loaded later
    return f'<autoref optional identifier="{path}"><code>{target.rpartition(".")[2]}</code></autoref>'


def _comment_above(attribute: Attribute) -> str:
    """The ``#:`` lines directly above the definition."""
    lines = attribute.module.lines_collection[attribute.filepath][: (attribute.lineno or 1) - 1]
    comment = list(takewhile(lambda line: line.lstrip().startswith("#:"), reversed(lines)))
    return "\n".join(line.lstrip()[2:].strip() for line in reversed(comment))
