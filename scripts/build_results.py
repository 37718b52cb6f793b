"""Put the tables that `pugnn reproduce` wrote to docs/results into docs/results.md, below its own text."""

from pathlib import Path

RESULTS = Path(__file__).parent.parent / "docs" / "results.md"
MARK = "<!-- Below this line: made by scripts/build_results.py -->\n"
PAGES = [
    "table1",
    "table2",
    "table3",
    "table4",
    "table5",
    "checks",
    "table2-all-readings-compared",
    "table3-all-readings-compared",
    "graphs",
    "wrong-prior",
    "biased-labels",
    "rare",
]


def main() -> None:
    said, _, _ = RESULTS.read_text(encoding="utf-8").partition(MARK)
    parts = []
    for name in PAGES:
        page = (RESULTS.with_suffix("") / f"{name}.md").read_text(encoding="utf-8")
        parts.append("".join(f"#{line}" if line.startswith("#") else line for line in page.splitlines(keepends=True)))
        parts.append(f"\n[The same with charts](results/{name}.html)\n\n")
    RESULTS.write_text(said + MARK + "\n" + "".join(parts).rstrip() + "\n", encoding="utf-8")
    print(f"{RESULTS}: {len(PAGES)} pages")


if __name__ == "__main__":
    main()
