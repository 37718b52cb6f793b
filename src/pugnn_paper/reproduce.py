"""From a request to finished pages: train the cells that have no record yet, then write every table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from io import StringIO
from pathlib import Path

from pugnn.datasets import dataset_names
from pugnn.errors import PugnnError, require_share, require_whole
from pugnn.files import write_csv, write_text
from pugnn.sweep import make_executor
from pugnn_paper.cells import Cell
from pugnn_paper.checks import check_cells, checks_page
from pugnn_paper.pages.blocks import Block, to_html, to_markdown
from pugnn_paper.pages.rare_page import rare_page
from pugnn_paper.pages.repeated import readings_page, statistics_page, table_page
from pugnn_paper.pages.study_page import Share, study_page
from pugnn_paper.pages.study_summary import StudyResult
from pugnn_paper.pages.summary import Result
from pugnn_paper.published import TABLE1
from pugnn_paper.records import RecordStore
from pugnn_paper.rows import READINGS
from pugnn_paper.runner import run_cells
from pugnn_paper.studies import DRAWS, STUDIES, StudyGrid
from pugnn_paper.tables import TABLES, Grid, count_nodes

WHAT = ("table1", *TABLES, "all", "checks", *STUDIES)


@dataclass(frozen=True)
class Request:
    """What to reproduce; ``None`` stands for what the paper has, or the study.

    Args:
        what: ``table1`` … ``table5``, ``all`` of them, ``checks`` in other papers' protocols, or a study of
            :data:`pugnn_paper.studies.STUDIES`.
        datasets: named data sets.
        methods: rows of Table 2 or of the study.
        ratios: label ratios.
        labels: numbers of labels, of a study.
        shares: to which a study makes positives rare; ``natural`` removes none.
        draws: repetitions of every cell.
        readings: names of :data:`pugnn_paper.rows.READINGS`.
    """

    what: str
    datasets: Sequence[str] | None = None
    methods: Sequence[str] | None = None
    ratios: Sequence[float] | None = None
    labels: Sequence[int] | None = None
    shares: Sequence[Share] | None = None
    draws: int | None = None
    readings: Sequence[str] = ("default",)

    def __post_init__(self) -> None:
        _require_known("table", [self.what], WHAT)
        require_whole("draws", self.repetitions, 1)
        _require_known("data set", self.datasets, dataset_names())
        study = STUDIES.get(self.what)
        _require_known("method", self.methods, list((study or TABLES["table2"]).rows))
        _require_known("reading", self.readings, list(READINGS))
        for ratio in self.ratios or ():
            if not 0 < ratio <= 1:
                raise PugnnError(f"a label ratio is a share of nodes between 0 and 1, such as 0.01; got {ratio}")
        for labels in self.labels or ():
            require_whole("labels", labels, 1)
        for share in self.shares or ():
            if share != "natural":
                require_share("share", share)
        unused = {
            "methods": self.methods is not None and self.what not in ("table2", "all", *STUDIES),
            "ratios": self.ratios is not None
            and not (study.ratios if study else self.what not in ("table1", "checks")),
            "labels": self.labels is not None and not (study and study.labels),
            "shares": self.shares is not None and not (study and study.shares),
            "datasets": self.datasets is not None and self.what == "checks",
            "reading": self._reading != "default" and self.what in ("table1", "checks", *STUDIES),
        }
        for option, given in unused.items():
            if given:
                raise PugnnError(f"--{option} has no effect on {self.what}; leave it out")
        for part in self.studies():
            pairs = [(part.study.rows[row].method, dataset) for row in part.rows for dataset in part.datasets]
            if all(pair in part.study.left_out for pair in pairs):
                method, dataset = pairs[0]
                why = part.study.left_out[method, dataset]
                raise PugnnError(f"{self.what} leaves out {method} on {dataset} ({why}); choose others")

    @property
    def repetitions(self) -> int:
        """The number of draws, given or not."""
        return self.draws if self.draws is not None else DRAWS if self.what in STUDIES else 10

    @property
    def _reading(self) -> str:
        return "all" if set(self.readings) == set(READINGS) else ",".join(self.readings)

    @property
    def command(self) -> str:
        """The command that asks for this."""
        lists = {name: getattr(self, name) for name in ("datasets", "methods", "ratios", "labels", "shares")}
        parts = [f"pugnn reproduce {self.what}"]
        parts += [f"--{name} {','.join(map(str, given))}" for name, given in lists.items() if given is not None]
        if self.what != "table1":
            parts.append(f"--draws {self.repetitions}")
        if self._reading != "default":
            parts.append(f"--reading {self._reading}")
        return " ".join(parts)

    @property
    def suffix(self) -> str:
        """What the names of the pages carry besides the table's, so that readings do not overwrite each other."""
        return {"default": "", "all": "-all-readings"}.get(self._reading, "-" + "-".join(self.readings))

    def grids(self) -> list[Grid]:
        """The tables that are made of trainings."""
        return [
            Grid(
                table=name,
                rows=tuple(row for row in spec.rows if name != "table2" or row in (self.methods or spec.rows)),
                datasets=tuple(self.datasets or spec.datasets),
                ratios=tuple(sorted(self.ratios or spec.ratios)),
                readings=tuple(each for each in READINGS if each in self.readings),
                draws=self.repetitions,
            )
            for name, spec in TABLES.items()
            if self.what in (name, "all")
        ]

    def studies(self) -> list[StudyGrid]:
        """The study, where one is asked for."""
        return [
            StudyGrid(
                name,
                rows=tuple(row for row in study.rows if row in (self.methods or study.rows)),
                datasets=tuple(self.datasets or study.datasets),
                labels=tuple(sorted(self.labels or study.labels)),
                ratios=tuple(sorted(self.ratios or study.ratios)),
                shares=tuple(self.shares or study.shares),
                draws=self.repetitions,
            )
            for name, study in STUDIES.items()
            if name == self.what
        ]


def reproduce(request: Request, out: Path, *, jobs: int | None = None, executor: str = "local") -> list[Path]:
    """Train what has no record in the folder yet, write the pages of all tables asked for, and return their paths."""
    workers = make_executor(executor, jobs)
    store = RecordStore(out)
    grids, studies = request.grids(), request.studies()
    checks = check_cells(request.repetitions) if request.what == "checks" else {}
    parts: list[Grid | StudyGrid] = [*grids, *studies]
    cells = [*(cell for part in parts for cell in part.cells().values()), *checks.values()]
    if studies and not cells:
        raise PugnnError("no data set has enough positives for these shares and numbers of labels; choose others")
    cells.sort(key=lambda cell: cell.seed)  # draw by draw over all tables: a stopped grid is worth most that way
    # All draws, so that a ratio that asks for too many labels is reported before any training: the number of positives
    # in a training split differs between them.
    for cell in {(cell.dataset, cell.positive_classes, *cell.protocol.items()): cell for cell in cells}.values():
        cell.draw()
    records, failures = run_cells(cells, store, workers)

    pages: dict[str, Iterator[Block]] = {}
    tables = {f"{grid.table}{request.suffix}": grid.page(records, request.command) for grid in grids}
    if request.what in ("table1", "all"):
        names = request.datasets or list(TABLE1)
        paper = {name: TABLE1[name] for name in names if name in TABLE1}
        pages["table1"] = statistics_page(count_nodes(names), paper, request.command)
    pages |= {name: table_page(page) for name, page in tables.items()}
    if len(request.readings) > 1:
        pages[f"{request.what}{request.suffix}-compared"] = readings_page(list(tables.values()), request.command)
    if checks and not failures:
        pages["checks"] = checks_page(records, request.repetitions, request.command)
    trainings = {name: _csv(Result, page.results) for name, page in tables.items()}
    for study in studies:
        studied = study.page(records, request.command)
        pages[study.name] = (rare_page if study.shares else study_page)(studied)
        trainings[study.name] = _csv(StudyResult, studied.results)

    files: dict[str, str] = {}
    for name, page in pages.items():
        blocks = list(page)
        files |= {f"{name}.md": to_markdown(blocks), f"{name}.html": to_html(blocks)}
        if name in trainings:
            files[f"{name}.csv"] = trainings[name]
    for name, text in files.items():
        write_text(out / name, text)
    if failures:
        raise PugnnError(_why(cells, failures))
    return [out / name for name in files]


def _csv(kind: type[Result] | type[StudyResult], results: Sequence[Result] | Sequence[StudyResult]) -> str:
    """Every single training as CSV."""
    text = StringIO()
    names = [field.name for field in fields(kind)]
    write_csv(text, names, ([getattr(result, name) for name in names] for result in results))
    return text.getvalue()


def _why(cells: Sequence[Cell], failures: dict[str, str]) -> str:
    """Which trainings failed and why, grouped by kind."""
    failed = {cell.key: cell for cell in cells if cell.key in failures}
    alike = Counter((f"{cell.dataset} with {cell.method}", failures[key]) for key, cell in failed.items())
    reasons = [f"{kind} ({count}): {why}" for (kind, why), count in alike.items()]
    more = f"; and {len(reasons) - 3} more kinds" if len(reasons) > 3 else ""
    return f"{len(failures):,} trainings failed; the pages are written without them. {'; '.join(reasons[:3])}{more}"


def _require_known(kind: str, given: Sequence[str] | None, known: Sequence[str]) -> None:
    for name in given or ():
        if name not in known:
            raise PugnnError(f"there is no {kind} {name!r}; choose from {', '.join(known)}")
