"""Accounts that pay, share devices and log in, with planted rings of fraud: tables with several relations.

Accounts live in groups: colleagues and clubs, and, among the positives, rings. What tells rings from the others is that
known positives lead to them, and not any single column:

- Members of a ring pay into a few *collecting accounts*. These pay as many ordinary customers, also in groups, so that
  who deals with them says little, and who pays them a lot (the direction).
- Groups of all kinds share devices now and then; rings no more than others.
- Amounts that rings collect are a little higher, and more alike, than others.
- Logins come from random addresses, and say nothing.
- Attributes differ by half a standard deviation at most.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pugnn.errors import PugnnError, require_choice, require_share, require_whole
from pugnn.files import write_csv_folder

#: The tables of :func:`write_planted_relations`.
TABLES = ("accounts", "pays", "devices", "logins", "positives", "truth")
#: Where a signal can be planted: everywhere, in one place only, or nowhere.
SIGNALS = ("all", "devices", "direction", "amounts", "none")
#: Accounts of a ring or another group.
GROUP = 15
#: All that happens, happens within so many days of this one.
START, DAYS = np.datetime64("2025-01-01", "s"), 365
#: Payments of an account to anybody, payments of a member of a ring to collecting accounts, logins; on average.
PAYMENTS, COLLECTED, LOGINS = 6.0, 1.8, 4.0
#: Share of the members of a group that use its device.
SHARING = 0.55
_DAY = 86_400

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class PlantedRelations:
    """Accounts with rings of fraud among them, which payments, devices and amounts give away together.

    Args:
        nodes: number of accounts.
        share: share of fraudulent ones.
        labels: number of those that became known, at any time of the year.
        signal: where it is planted: ``all``, or one of ``devices``, ``direction`` and ``amounts`` alone, or ``none``.
        leak: accounts that were found out pay back to one of few accounts: edges that give them away, later.
        seed: of everything.
    """

    nodes: int
    share: float = 0.1
    labels: int = 100
    signal: str = "all"
    leak: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        require_whole("nodes", self.nodes, 100, 10_000_000)
        require_whole("seed", self.seed, 0)
        require_share("share", self.share)
        require_choice("signal", self.signal, SIGNALS)
        if self.positives < 1 or self.positives > self.nodes // 3:
            raise PugnnError(f"a share of {self.share} is not between one account and a third of {self.nodes:,}")
        require_whole("labels", self.labels, 1, self.positives)

    @property
    def positives(self) -> int:
        """Number of fraudulent accounts."""
        return round(self.share * self.nodes)

    def tables(self) -> dict[str, pa.Table]:
        """All tables by name, those of :data:`TABLES`."""
        rng = np.random.default_rng(self.seed)
        fraud, ordinary = np.split(rng.permutation(self.nodes), [self.positives])
        found = rng.integers(DAYS * _DAY, size=self.positives)  # when each became known
        tables = {
            "accounts": self._accounts(rng, fraud),
            "pays": self._pays(rng, fraud, ordinary, found),
            "devices": self._devices(rng, fraud, ordinary),
            "logins": self._logins(rng),
        }
        known = np.sort(rng.choice(self.positives, self.labels, replace=False))
        tables["positives"] = pa.table({"id": _ids("A", fraud[known]), "time": _times(found[known])})
        return {**tables, "truth": pa.table({"id": _ids("A", np.sort(fraud))})}

    def _accounts(self, rng: np.random.Generator, fraud: Ints) -> pa.Table:
        shift = np.zeros(self.nodes)
        shift[fraud] = 0.5 if self.signal == "all" else 0.0
        ages = np.exp(6.5 + 0.8 * (rng.normal(size=self.nodes) - shift))
        balances = np.exp(7.0 + 1.2 * (rng.normal(size=self.nodes) - shift / 2))
        segments = np.array(["student", "family", "business", "senior"])
        chosen = np.minimum((4 * rng.random(self.nodes) ** (1 + shift)).astype(np.int64), 3)
        return pa.table(
            {
                "id": _ids("A", np.arange(self.nodes)),
                "age_days": ages.astype(np.int64) + 1,
                "balance": balances.round(2),
                "segment": segments[chosen],
                "branch": _ids("B", rng.integers(12, size=self.nodes)),
            }
        )

    def _pays(self, rng: np.random.Generator, fraud: Ints, ordinary: Ints, found: Ints) -> pa.Table:
        rings = max(1, len(fraud) // GROUP)
        collecting, others = np.split(ordinary, [rings + 1])
        customers = others[: len(fraud)]
        # Anybody pays anybody, some accounts far more often than others: shops.
        rates = np.full(self.nodes, PAYMENTS)
        rates[fraud] -= COLLECTED  # so that the number of payments says nothing
        payers = np.repeat(np.arange(self.nodes), rng.poisson(rates))
        payees = rng.permutation(self.nodes)[(self.nodes * rng.random(len(payers)) ** 3).astype(np.int64)]
        amounts = _amounts(rng, len(payers))
        # Rings pay into collecting accounts, those pay customers; or, where direction says nothing, anybody does.
        ends = [np.repeat(each, rng.poisson(COLLECTED, len(each))) for each in (fraud, customers)]
        if self.signal in ("all", "direction"):
            groups = fraud, customers
            partners = [_of_group(rng, *each, collecting) for each in zip(ends, groups, strict=True)]
        else:
            partners = [rng.integers(self.nodes, size=len(each)) for each in ends]
        odd = self.signal in ("all", "amounts")
        payers = np.concatenate([payers, ends[0], partners[1]])
        payees = np.concatenate([payees, partners[0], ends[1]])
        amounts = np.concatenate([amounts, _amounts(rng, len(ends[0]), odd=odd), _amounts(rng, len(ends[1]))])
        times = rng.integers(DAYS * _DAY, size=len(payers))
        if self.leak:
            back = others[-3:][rng.integers(3, size=len(fraud))]
            payers, payees = np.concatenate([payers, fraud]), np.concatenate([payees, back])
            amounts = np.concatenate([amounts, _amounts(rng, len(fraud))])
            times = np.concatenate([times, found + rng.integers(1, 10, size=len(fraud)) * _DAY])
        kept = np.flatnonzero(payers != payees)
        kept = kept[np.argsort(times[kept], kind="stable")]
        columns = {"from": _ids("A", payers[kept]), "to": _ids("A", payees[kept])}
        return pa.table({**columns, "amount": amounts[kept], "time": _times(times[kept])})

    def _devices(self, rng: np.random.Generator, fraud: Ints, ordinary: Ints) -> pa.Table:
        accounts, devices = [np.arange(self.nodes)], [np.arange(self.nodes)]  # everybody has an own one
        people = [fraud, ordinary] if self.signal in ("all", "devices") else [rng.permutation(self.nodes)]
        first = self.nodes
        for members in people:
            sharing = np.flatnonzero(rng.random(len(members)) < SHARING)
            accounts.append(members[sharing])
            devices.append(first + sharing // GROUP)
            first += len(members) // GROUP + 1
        names = rng.permutation(first)
        account, device = np.concatenate(accounts), names[np.concatenate(devices)]
        order = np.lexsort((device, account))
        return pa.table({"account": _ids("A", account[order]), "device": _ids("D", device[order])})

    def _logins(self, rng: np.random.Generator) -> pa.Table:
        accounts = np.repeat(np.arange(self.nodes), rng.poisson(LOGINS, self.nodes))
        addresses = rng.integers(max(1, self.nodes // 5), size=len(accounts))
        return pa.table({"account": _ids("A", accounts), "address": _ids("N", addresses)})


def write_planted_relations(folder: Path, **settings: Any) -> list[Path]:
    """Write the tables as CSV files into a new folder; returns their names.

    Args:
        folder: must not exist.
        settings: the arguments of :class:`PlantedRelations`.
    """
    tables = PlantedRelations(**settings).tables()
    return write_csv_folder(folder, {name: (table.column_names, _rows(table)) for name, table in tables.items()})


def _rows(table: pa.Table) -> Iterator[tuple[Any, ...]]:
    yield from zip(*(column.to_pylist() for column in table.columns), strict=True)


def _of_group(rng: np.random.Generator, members: Ints, whole: Ints, collecting: Ints) -> Ints:
    """For each of these members of groups, one of the two collecting accounts of its group."""
    place = np.empty(max(whole.max(), members.max(initial=0)) + 1, np.int64)
    place[whole] = np.arange(len(whole)) // GROUP
    return collecting[(place[members] + rng.integers(2, size=len(members))) % len(collecting)]


def _amounts(rng: np.random.Generator, count: int, *, odd: bool = False) -> NDArray[np.float64]:
    centre, spread = (4.8, 0.5) if odd else (3.5, 1.0)
    return (np.exp(rng.normal(centre, spread, count)) + 0.01).round(2)


def _ids(letter: str, numbers: Iterable[int]) -> pa.Array:
    return pa.array([f"{letter}{number:05}" for number in numbers])


def _times(seconds: Ints) -> pa.Array:
    return pa.array([str(time) for time in START + seconds.astype("timedelta64[s]")])
