"""The changes that golden tests must notice are still possible."""

from importlib import util
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_text_to_be_changed_occurs_once():
    spec = util.spec_from_file_location("mutations", ROOT / "scripts" / "mutations.py")
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    stale = [
        (each.file, each.text)
        for each in module.MUTATIONS
        if (ROOT / "src" / "pugnn" / each.file).read_text(encoding="utf-8").count(each.text) != 1
    ]
    assert not stale
