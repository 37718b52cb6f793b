"""The examples of docs/extending.md that no example package has."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "extending.md"
USE = """
import pandas
from pathlib import Path
from pugnn import read_graph

shares = pandas.DataFrame({"id": list("abcd"), "share": ["12 %", "3%", "", "60 %"], "size": [1, 2, 4, 3]})
edges = pandas.DataFrame({"source": list("abc"), "target": list("bcd")})
read = read_graph(edges, shares, positives=["a"], kinds={"share": "percent"})
print(read.graph.features[:, :2].astype(float).round(2).tolist())
Path("scores.csv").write_text("id,score\\nx,1\\ny,0.5\\nz,0.1\\n")
best(Path(), 2)
"""


def test_the_kind_of_column_and_the_command_work(tmp_path: Path) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    examples = [block for block in blocks if "ENCODINGS" in block or "typer" in block]
    assert len(examples) == 2
    done = subprocess.run(
        [sys.executable, "-c", "".join(examples) + USE], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["[[0.12, 0.0], [0.03, 0.0], [0.0, 1.0], [0.6, 0.0]]", "id", "x", "y"]
