"""Does a changed formula fail a golden test? Changes one at a time, and fails itself unless each one is noticed.

    python scripts/mutations.py > benchmarks/results/mutations.txt

Each change is made in a copy of src/, with which the golden values (tests/golden) of the methods or tables concerned
are computed again. The table shows how far the furthest of them is from what was recorded; 1 is what rounding may move.
With SMALLEST=1 in the environment, only the first change is tried.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import warnings
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]


class Mutation(NamedTuple):
    """A text that occurs once in a file of src/pugnn, what takes its place, and the golden values that must notice."""

    file: str
    text: str
    instead: str
    rows: tuple[str, ...]


def _m(file: str, text: str, instead: str, *rows: str) -> Mutation:
    return Mutation(file, text, instead, rows)


MUTATIONS = [
    # Losses
    _m("losses/cross_entropy.py", "unlabelled) / 2,", "unlabelled),", "naive balanced"),
    _m("losses/cross_entropy.py", "F.softplus(-logits[sets.labelled])", "F.softplus(logits[sets.labelled])", "naive"),
    _m("losses/dist_pu.py", "2 * self.prior * (sets", "self.prior * (sets", "dist-pu"),
    _m("losses/dist_pu.py", "- self.prior).abs()", "+ self.prior).abs()", "dist-pu"),
    _m("losses/dist_pu.py", "* F.softplus(-logits) +", "* F.softplus(-logits) -", "dist-pu full"),
    _m("losses/dist_pu.py", "known_negatives(2 * self.prior", "known_negatives(self.prior", "dist-pu negatives"),
    _m("losses/distance_aware.py", "- self.far_prior).abs()", "- self.near_prior).abs()", "pu-gnn"),
    _m(
        "losses/distance_aware.py",
        "2 * (self.near_prior + self.far_prior)",
        "self.near_prior + self.far_prior",
        "pu-gnn",
    ),
    _m("losses/distance_aware.py", "distance <= delta", "distance < delta", "pu-gnn"),
    _m("losses/upu.py", "(-unlabelled)) - self.prior", "(-unlabelled)) + self.prior", "upu"),
    _m("losses/upu.py", "(1 - sets.negative_weight) * negative", "negative", "upu negatives"),
    _m("losses/nnpu.py", "ascent = -self.gamma", "ascent = self.gamma", "nnpu ascent"),
    _m("losses/nnpu.py", "positive, positive.detach()", "positive, positive", "nnpu ascent"),
    _m("losses/soft_labels.py", "(1 - beliefs) * loss", "loss", "grab"),
    _m("losses/upu.py", "torch.sigmoid(-margin)", "torch.sigmoid(-2 * margin)", "nnpu", "lsdan"),
    _m("losses/sets.py", "0.5 * min(1.0", "min(1.0", "views negatives", "pu-gnn negatives"),
    _m("losses/confident.py", "- scores * unlabelled", "+ scores * unlabelled", "views"),
    _m("losses/confident.py", "scores) - prior)", "scores) - 2 * prior)", "views"),
    # Regulariser
    _m("regularisers/structural_cpu.py", "-four * miss", "-two * miss", "pu-gnn regulariser"),
    _m("regularisers/structural_cpu.py", "two * times[t] * s * s * s", "two * times[t] * s * s", "pu-gnn regulariser"),
    _m("regularisers/structural.py", "negatives * graph.degrees /", "graph.degrees /", "pu-gnn exact"),
    _m("regularisers/structural.py", "+ weight[None, :]", "", "pu-gnn exact"),
    _m("regularisers/structural.py", "pairs.directed * self.negatives", "pairs.directed", "pu-gnn batches"),
    _m("methods/pu_gnn.py", "self.alpha * part", "part", "pu-gnn"),
    # Methods
    _m("methods/dist_pu.py", "ENTROPY_AT_END = 0.004", "ENTROPY_AT_END = 0.4", "dist-pu full"),
    _m("methods/dist_pu.py", "MIXUP = 5.0", "MIXUP = 4.0", "dist-pu full"),
    _m("methods/grab.py", "np.where(decided, 1 - prior, prior)", "np.where(decided, prior, prior)", "grab"),
    _m("graph/belief_propagation.py", "(2 * homophily - 1)", "homophily", "grab"),
    _m("models/propagation.py", "(1 - self.restart) * (product @ reached)", "product @ reached", "label-propagation"),
    _m("models/propagation.py", "1 / np.sqrt(degree)", "1 / degree", "label-propagation"),
    _m(
        "models/propagation.py",
        "sp.diags_array(1 / degree)",
        "sp.diags_array(1 / np.sqrt(degree))",
        "label-propagation walk",
    ),
    _m(
        "models/propagation.py",
        "positive / (positive + weight * negative)",
        "positive / (positive + 2 * weight * negative)",
        "label-propagation negatives",
    ),
    _m("methods/label_propagation.py", "self.known_prior * len", "2 * self.known_prior * len", "label-propagation"),
    _m(
        "methods/smoothed_logistic.py",
        "folded, self.inverse_penalty",
        "known, 2 * self.inverse_penalty",
        "smoothed-logistic",
    ),
    # Views
    _m("methods/ranking/confident.py", "START_LABELS, MAX_START = 50", "START_LABELS, MAX_START = 40", "views"),
    _m("methods/ranking/confident.py", "PENALTY, MIN_PENALTY = 0.06", "PENALTY, MIN_PENALTY = 0.12", "views"),
    _m("methods/ranking/confident.py", "2 * batch.epoch / settings.epochs", "batch.epoch / settings.epochs", "views"),
    _m("methods/ranking/view_fit.py", "EVEN_PRIOR = 0.05", "EVEN_PRIOR = 0.5", "views"),
    _m("methods/ranking/plain.py", "DOUBT = 1.0", "DOUBT = 0.0", "views"),
    _m("views/walks.py", "FAR = 0.1", "FAR = 1.0", "views"),
    _m("methods/ranking/plain.py", "INVERSE_PENALTY = 1.0", "INVERSE_PENALTY = 1.2", "views"),
    _m("methods/ranking/logistic.py", "slope[special] = v * (", "slope[special] = (", "views negatives"),
    _m("evidence/hidden_positives.py", "MAX_NEGATIVE = 0.5", "MAX_NEGATIVE = 0.6", "views negatives"),
    _m(
        "evidence/hidden_positives.py",
        "-(1 - self.negative_share) / targets",
        "(1 - self.negative_share) / targets",
        "centroid",
    ),
    _m(
        "graph/smoothing.py",
        "STEPS, RESTART = 10, 0.15",
        "STEPS, RESTART = 10, 0.14",
        "centroid",
        "smoothed-logistic",
    ),
    _m("graph/smoothing.py", "1 / np.sqrt(strength + 1)", "1 / np.sqrt(strength + 2)", "centroid", "views"),
    _m("views/view.py", '"difference": View(0.45', '"difference": View(0.6', "views rewired"),
    _m("views/view_source.py", "for hop in range(int(table))", "for hop in range(min(1, int(table)))", "views"),
    _m("views/ranking_model.py", "LOG_ODDS_SPREAD = 4.0", "LOG_ODDS_SPREAD = 4.1", "views", "centroid"),
    _m("graph/smoothing.py", "(p[i], t, q[i])", "(p[i], t, -q[i])", "centroid"),
    _m("evidence/rank_model.py", "POWER, HALVED_AT = 0.4", "POWER, HALVED_AT = 0.2", "views rewired"),
    # Networks and training
    _m("models/gcn.py", "+ self.second_bias", "", "naive"),
    _m("models/gcn.py", "first, second.squeeze(1)", "F.relu(first), second.squeeze(1)", "pu-gnn regulariser"),
    _m("models/gin.py", "(1 + self.first_epsilon) * mapped", "self.first_epsilon * mapped", "pu-gnn gin"),
    _m("models/sage.py", "embedding = own + inputs", "embedding = own - inputs", "pu-gnn sage"),
    _m("models/appnp.py", "+ self.restart * start", "+ start", "pu-gnn appnp"),
    _m("models/backbone.py", "F.relu(embedding)", "embedding", "pu-gnn mlp"),
    _m("models/gat.py", "F.elu(embedding)", "F.relu(embedding)", "pu-gnn gat"),
    _m("models/lsdan.py", "(stacked * queries)", "(-stacked * queries)", "lsdan"),
    _m(
        "models/attention_cpu.py",
        "up, down = np.exp(top - bound), np.exp(slope * top - bound)",
        "up, down = np.exp(top - bound), np.exp(top - bound)",
        "lsdan",
    ),
    _m("models/inputs.py", "scale[own] * scale[own]", "scale[own]", "pu-gnn batches"),
    _m("models/dropout.py", "np.float32(1 / (1 - p))", "np.float32(1)", "naive"),
    _m("training/loop.py", "(first, settings.weight_decay)", "(first, 0.0)", "naive"),
    # Features
    _m("features/number.py", "(values - mean) / deviation", "values / deviation", "numbers", "dates"),
    _m("features/category.py", "MIN_NODES = 3", "MIN_NODES = 40", "categories"),
    _m("features/boolean.py", "np.where(missing, self.share, values)", "np.where(missing, 0.5, values)", "booleans"),
    _m("features/text.py", "1 + np.log((1 + self.texts)", "np.log((1 + self.texts)", "texts", "mixed"),
    _m("features/vector.py", "numbers.reshape(-1, self.length)", "-numbers.reshape(-1, self.length)", "vectors"),
    _m("features/counts.py", "np.sqrt((counts * counts).sum(axis=1))", "counts.sum(axis=1)", "counts", "attributes"),
    _m("features/structure.py", "row[place] -= mean[place]", "row[place] += mean[place]", "structure"),
]


def main() -> int:
    smallest = bool(os.environ.get("SMALLEST"))
    lines, failures = [], 0
    for mutation in MUTATIONS:
        times = (ROOT / "src/pugnn" / mutation.file).read_text().count(mutation.text)
        if times != 1:
            failures += 1
            print(f"{mutation.file}: {mutation.text!r} occurs {times} times instead of once", file=sys.stderr)
    for mutation in MUTATIONS[: 1 if smallest else None] if not failures else ():
        found = noticed(mutation)
        failures += not all(found.values())
        caught = ", ".join(f"{row} ({far})" if far else f"NOT BY {row}" for row, far in found.items())
        lines.append((mutation.file, f"{mutation.text} → {mutation.instead or 'nothing'}", caught))
        print(*lines[-1], sep="  ", file=sys.stderr)
    lines.insert(0, ("file", "mutation", "caught by"))
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
    return min(failures, 1)


def noticed(mutation: Mutation) -> dict[str, str]:
    """How far each golden value is from what was recorded, in words; empty if rounding may move it so far."""
    with tempfile.TemporaryDirectory() as folder, ProcessPoolExecutor(1, get_context("fork")) as process:
        shutil.copytree(ROOT / "src", Path(folder) / "src")
        file = Path(folder) / "src/pugnn" / mutation.file
        file.write_text(file.read_text().replace(mutation.text, mutation.instead))
        return process.submit(in_copy, Path(folder) / "src", mutation.rows).result()


def in_copy(source: Path, rows: tuple[str, ...]) -> dict[str, str]:
    """The same, computed with the code in a folder, in a process that has not imported pugnn."""
    warnings.simplefilter("ignore")
    sys.path[:0] = [str(source), str(ROOT / "tests")]
    import pugnn
    from golden.golden import too_far

    assert Path(pugnn.__file__).is_relative_to(source)
    try:
        furthest = {row: max(too_far(row).values(), default=0.0) for row in rows}
    except Exception as error:  # not raised again: the parent would import pugnn to read it
        return dict.fromkeys(rows, f"{type(error).__name__}: {error}"[:40])
    return {row: f"{far:,.0f}" if far else "" for row, far in furthest.items()}


if __name__ == "__main__":
    for library in ("duckdb", "numba", "pyarrow", "sklearn.linear_model", "torch_geometric.nn"):
        import_module(library)  # once: all processes are forked from this one
    sys.exit(main())
