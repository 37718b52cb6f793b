"""The examples of docs/machines.md."""

from pathlib import Path

from e2e.own_tables import write_tables
from processes.workers import ended, start
from pugnn import PUNodeClassifier

ROOT = Path(__file__).parents[2]
#: Ray makes the process group; here it is made as torchrun's processes do.
SCRIPT = """
import functools, sys
sys.path.insert(0, sys.argv[1])
import pugnn
from pugnn import processes
from ray_train import train_in_worker

pugnn.PUNodeClassifier = functools.partial(pugnn.PUNodeClassifier, epochs=3)

tables = {name: f"{name}.csv" for name in ("edges", "nodes", "positives")}
with processes.joined():
    train_in_worker({**tables, "out": "model.safetensors", "device": "cpu", "batch_size": 8})
"""


def test_the_worker_of_the_ray_example_trains_in_any_process_group(tmp_path):
    write_tables(tmp_path)
    found = ended(start("-W", "ignore", "-c", SCRIPT, str(ROOT / "examples"), folder=tmp_path))
    assert [code for code, _, _ in found] == [0, 0], found
    assert PUNodeClassifier.load(tmp_path / "model.safetensors").num_features_ == 3
    assert not list(tmp_path.glob("*.partial"))
