"""Importing the package and asking for help must not wait for the heavy libraries."""

import subprocess
import sys

HEAVY = ("torch", "numba", "scipy", "sklearn", "torch_geometric", "matplotlib")


def loaded_by(code: str) -> set[str]:
    code += "; import sys; print(*{name.split('.')[0] for name in sys.modules}, file=sys.stderr)"
    return set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stderr.split())


def test_import_is_light():
    assert not loaded_by("import pugnn, pugnn.cli").intersection(HEAVY)


def test_public_names_load_when_used():
    import pugnn

    for name in pugnn.__all__:
        assert getattr(pugnn, name) is not None
    assert set(dir(pugnn)) == set(pugnn.__all__)


def test_help_is_light():
    code = "import pugnn.cli\ntry: pugnn.cli.app(['--help'])\nexcept SystemExit: pass\npass"
    assert not loaded_by(code).intersection(HEAVY)
