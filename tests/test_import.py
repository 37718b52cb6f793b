"""Importing the package and asking for help must not wait for the heavy libraries."""

import re
import subprocess
import sys
from pathlib import Path

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


def test_examples_need_nothing_but_the_package_itself():
    """What examples import comes from ``pugnn``, whose overview names all there is."""
    import pugnn

    root = Path(__file__).parents[1]
    for path in (root / "README.md", *root.glob("docs/**/*.md")):
        for home, names in re.findall(r"^from (pugnn[\w.]*) import (.+)$", path.read_text(), re.MULTILINE):
            assert home == "pugnn", path
            assert set(names.split(", ")) <= set(pugnn.__all__), path
    overview = (root / "docs" / "api" / "index.md").read_text()
    assert [name for name in pugnn.__all__ if f"`{name}`" not in overview] == ["__version__"]


def test_a_fit_imports_nothing_that_takes_longer_than_the_fit(tmp_path):
    (tmp_path / "e.csv").write_text("source,target\n" + "".join(f"n{i},n{(i * i + 1) % 30}\n" for i in range(30)))
    (tmp_path / "p.csv").write_text("id\nn1\nn2\nn5\n")
    tables = ["--edges", str(tmp_path / "e.csv"), "--positives", str(tmp_path / "p.csv")]
    arguments = ["fit", *tables, "--out", str(tmp_path / "run")]
    code = f"import pugnn.cli\ntry: pugnn.cli.app({arguments})\nexcept SystemExit: pass\npass"
    code += "; import sys; print(*sys.modules, file=sys.stderr)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stderr.split()
    assert (tmp_path / "run" / "report.html").exists()
    assert not {"sklearn", "scipy.stats", "torch._dynamo", "torch_geometric", "matplotlib"}.intersection(loaded)


def test_a_check_of_tables_needs_no_torch(tmp_path):
    (tmp_path / "e.csv").write_text("source,target\na,b\nb,c\n")
    (tmp_path / "p.csv").write_text("id\na\n")
    arguments = ["check", "--edges", str(tmp_path / "e.csv"), "--positives", str(tmp_path / "p.csv")]
    code = f"import pugnn.cli\ntry: pugnn.cli.app({arguments})\nexcept SystemExit: pass\npass"
    assert "torch" not in loaded_by(code)
