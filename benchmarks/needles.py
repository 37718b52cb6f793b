"""Look for a few positives among a million nodes: how many are found, what is said of their number, and what it costs.

    python benchmarks/needles.py > results/needles.txt      # five minutes on two cores

Synthetic graphs (`pugnn.datasets.planted`) with 20 neighbours and 32 features per node. Positives are a community of
their own among nine others, and 30 of them are known. The fewer edges stay inside a community (homophily), the harder
they are to find. Each fit runs in its own process.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
import warnings

import numpy as np

from measuring import machine, sized, table

NODES = sized(1_000_000, 2_000)
POSITIVES = sized((100, 300, 1000), (60,))
HOMOPHILY = sized((0.6, 0.3, 0.1), (0.6,))
KNOWN = sized(30, 20)


def measure(positives: int, homophily: float) -> dict[str, object]:
    """Fit once, and compare with the truth."""
    from pugnn import PUNodeClassifier
    from pugnn.datasets.planted import Planted
    from pugnn.errors import PugnnWarning
    from pugnn.metrics import average_precision

    warnings.simplefilter("ignore", PugnnWarning)
    plan = Planted(NODES, share=positives / NODES, labels=KNOWN, homophily=homophily)
    graph, positive, known = plan.graph()
    before, started = time.process_time(), time.perf_counter()
    classifier = PUNodeClassifier(progress=False).fit(graph, np.isin(np.arange(NODES), known))
    seconds, cpu = time.perf_counter() - started, time.process_time() - before
    free = np.setdiff1d(np.arange(NODES), known)
    order = free[np.argsort(-classifier.decision_function()[free], kind="stable")]
    estimate = classifier.estimate_
    return {
        "found": [int(positive[order[:count]].sum()) for count in (100, 1000)],
        "average precision": average_precision(positive[free], classifier.decision_function()[free]),
        "signal": estimate.signal,
        "positives": vars(estimate.positives) if estimate.signal else None,
        "first 100": [vars(each.precision) for each in estimate.first if each.taken == 100],
        "decided": int((classifier.predict()[free] == 1).sum()),
        "seconds": seconds,
        "cpu": cpu,
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
    }


def main() -> None:
    print(machine())
    rows = []
    for positives in POSITIVES:
        for homophily in HOMOPHILY:
            command = [sys.executable, __file__, str(positives), str(homophily)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            found = json.loads(done.stdout.splitlines()[-1])
            row = [str(positives - KNOWN), f"{homophily:g}", f"{100 * found['average precision']:.1f}"]
            row += [str(count) for count in found["found"]]
            if found["signal"]:
                number, first = found["positives"], found["first 100"][0]
                row += [f"{number['value']:,.0f} ({number['low']:,.0f} to {number['high']:,.0f})"]
                row += [f"{100 * first['value']:.0f} ({100 * first['low']:.0f} to {100 * first['high']:.0f})"]
            else:
                row += ["no signal", "–"]
            row += [f"{found['decided']:,}", f"{found['seconds']:.0f}", f"{found['cpu']:.0f}", f"{found['memory']:.1f}"]
            rows.append(row)
            print(*row, sep="; ", file=sys.stderr, flush=True)
    heads = ["hidden", "homophily", "AP (%)", "in the first 100", "in the first 1,000", "said: positives"]
    print(table([*heads, "said: of the first 100", "decided", "seconds", "CPU seconds", "GiB"], rows))


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]), float(sys.argv[2])))) if len(sys.argv) > 1 else main()
