"""What is read from the source of methods, training and backbones is what importing them would tell."""

import subprocess
import sys
from dataclasses import fields
from inspect import getdoc
from typing import get_type_hints

import pytest

from pugnn.cli import declared
from pugnn.cli.config import training_of
from pugnn.methods import METHODS
from pugnn.models import BACKBONES
from pugnn.training import TrainingSettings

OURS = [name for name in METHODS if METHODS.provider(name) == "pugnn"]
HEAVY = ["torch", "numba", "llvmlite", "numpy", "scipy", "sklearn", "torch_geometric", "duckdb", "pyarrow", "pandas"]
HEAVY += ["jinja2", "joblib", "rich.live"]


def described(kind):
    hints = get_type_hints(kind)
    return getdoc(kind), [(field.name, hints[field.name], field.default) for field in fields(kind)]


@pytest.mark.parametrize("name", OURS)
def test_a_method_has_its_options_and_defaults(name):
    read, real = declared.methods()[name], METHODS[name]
    assert described(read) == described(real)
    assert read.trains == real.trains
    assert training_of(read) == training_of(real)


def test_every_method_is_read():
    assert sorted(declared.methods()) == sorted(OURS)


def test_settings_of_the_training():
    doc, options = described(TrainingSettings)
    assert declared.training_settings() is not TrainingSettings
    read_doc, read = described(declared.training_settings())
    assert read_doc == doc
    assert [(name, default) for name, _, default in read] == [(name, default) for name, _, default in options]
    assert read[1:] == options[1:]  # a network may also be an object, but not on the command line


def test_backbones():
    assert set(declared.backbones()) == set(BACKBONES)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["--version"],
        ["fit", "--help"],
        ["fit", "--method", "pu-gnn", "--help"],
        ["sweep", "--help"],
        ["fit", "--epochz", "3"],
        ["fit", "--delta", "3"],
        ["evaluate"],
    ],
)
def test_help_and_mistakes_load_nothing_heavy(arguments):
    code = (
        "import sys; from pugnn.cli import main\n"
        "try: main()\n"
        f"except SystemExit: print('heavy:', *(name for name in {HEAVY} if name in sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    assert done.stderr.splitlines()[-1] == "heavy:"
