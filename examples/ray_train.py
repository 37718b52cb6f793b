"""Train on the machines of a Ray cluster, with Ray Train.

    python examples/ray_train.py edges.csv nodes.csv positives.csv --out model.safetensors --workers 4

The tables and the folder of the model must lie where all machines see them. Needs ``pip install 'ray[train]'``.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path
from typing import Any


def train_in_worker(settings: dict[str, Any]) -> None:
    """What each worker does; Ray has made the process group, in which the workers train one model together."""
    from pugnn import PUNodeClassifier, processes, read_graph

    partial = Path(f"{settings['out']}.partial")  # like all files, where every worker sees it
    data = read_graph(settings["edges"], settings["nodes"], positives=settings["positives"])
    # The default method needs one process alone; a network that trains long gains from several.
    classifier = PUNodeClassifier("naive", batch_size=settings["batch_size"], device=settings["device"], progress=False)
    # A worker that is lost ends this attempt. The next one goes on from the checkpoint.
    classifier.fit(data.graph, data.known, checkpoint=partial / "checkpoint.safetensors")
    if processes.rank() == 0:
        classifier.save(settings["out"])
        shutil.rmtree(partial, ignore_errors=True)


def main() -> None:
    """Start the workers."""
    from ray.train import FailureConfig, RunConfig, ScalingConfig
    from ray.train.torch import TorchTrainer

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("edges", "nodes", "positives"):
        parser.add_argument(name)
    parser.add_argument("--out", required=True)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=8192, help="unlabelled nodes per step")
    parser.add_argument("--gpu", action="store_true", help="one GPU for each worker")
    given = parser.parse_args()
    files = {name: str(Path(getattr(given, name)).absolute()) for name in ("edges", "nodes", "positives", "out")}
    TorchTrainer(
        train_in_worker,
        train_loop_config={**files, "batch_size": given.batch_size, "device": "cuda" if given.gpu else "cpu"},
        scaling_config=ScalingConfig(num_workers=given.workers, use_gpu=given.gpu),
        run_config=RunConfig(failure_config=FailureConfig(max_failures=3)),
    ).fit()


if __name__ == "__main__":
    main()
