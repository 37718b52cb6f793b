"""An estimate, suggestions and changes as ``run.json`` holds them."""

from __future__ import annotations

from typing import Any


def band(value: float, low: float, high: float) -> dict[str, float]:
    return {"value": value, "low": low, "high": high}


def _first(taken: int, precision: dict[str, float], recall: dict[str, float], lift: dict[str, float]) -> dict[str, Any]:
    return {"taken": taken, "precision": precision, "recall": recall, "lift": lift}


ESTIMATE: dict[str, Any] = {
    "prior": {**band(0.18, 0.11, 0.26), "source": "estimated"},
    "positives": band(3060.0, 1870.0, 4420.0),
    "hidden": {"count": 30, "median_rank": 0.041, "ranks": [0.041 * at / 15 for at in range(21)] + [0.3] * 9},
    "decided": {
        "taken": 3100,
        "precision": band(0.5, 0.4, 0.62),
        "recall": band(0.8, 0.7, 0.9),
        "f1": band(0.6, 0.5, 0.7),
    },
    "auc": band(0.93, 0.88, 0.97),
    "first": [
        _first(10, band(0.9, 0.7, 1.0), band(0.003, 0.002, 0.005), band(5.0, 4.0, 6.1)),
        _first(20, band(0.85, 0.68, 0.98), band(0.006, 0.004, 0.01), band(4.8, 3.9, 6.0)),
        _first(50, band(0.8, 0.66, 0.9), band(0.014, 0.01, 0.02), band(4.5, 3.5, 5.5)),
        _first(100, band(0.72, 0.62, 0.81), band(0.03, 0.02, 0.05), band(4.0, 3.2, 5.0)),
        _first(200, band(0.7, 0.6, 0.8), band(0.05, 0.04, 0.09), band(3.9, 3.1, 4.9)),
        _first(500, band(0.66, 0.55, 0.76), band(0.11, 0.08, 0.2), band(3.6, 3.0, 4.5)),
        _first(1000, band(0.6, 0.5, 0.7), band(0.2, 0.15, 0.4), band(3.3, 2.7, 4.0)),
    ],
    "headline": [
        "Half of the 30 known positives, when hidden, rank in the top 4.1 %.",
        "Picking from the top 10 % of the list finds 5.4 to 8.3 times as many positives as picking at random.",
    ],
    "caveat": "The known positives have more links than other nodes: if they are not typical, the bands are too high.",
    "truth": {
        "prior": 0.17,
        "decided": {"precision": 0.52, "recall": 0.78, "f1": 0.62},
        "auc": 0.92,
        "first": [{"taken": 10, "precision": 0.9}, {"taken": 100, "precision": 0.75}],
    },
}

MEASURED: dict[str, Any] = {
    "checks": 20,
    "positive": 9,
    "others": 0,
    "unlabelled": 17_000,
    "first": [
        {"taken": 10, "checked": 2, "precision": band(0.9, 0.3, 1.0)},
        {"taken": 20, "checked": 4, "precision": band(0.85, 0.55, 0.97)},
        {"taken": 100, "checked": 10, "precision": band(0.72, 0.58, 0.83)},
        {"taken": 1000, "checked": 14, "precision": band(0.6, 0.45, 0.72)},
    ],
    "decided": {
        "taken": 3100,
        "checked": 16,
        "precision": band(0.52, 0.38, 0.66),
        "recall": band(0.58, 0.4, 0.74),
        "f1": band(0.55, 0.42, 0.66),
    },
    "positives": band(2800, 1900, 4100),
    "narrowed": True,
    "why_not_narrowed": "",
}

_WORDS = {
    "precision": "2 of its 5 neighbours are known positives; most like the known user-0000770",
    "discovery": "3 hops from the nearest known positive; about 41 nodes resemble it more than any known one",
    "learning": "at the border, score 0.49; about 140 nodes resemble it more than any known one",
}

SUGGESTIONS: dict[str, list[dict[str, Any]]] = {
    goal: [
        {"id": f"user-{rank:07d}", "rank": rank, "score": 1 - rank / 1000, "reason": words}
        for rank in (3, 4, 8, 12, 20)
    ]
    for goal, words in _WORDS.items()
}

_MOVED = {"rank_before": 812, "rank_now": 14, "score_before": 0.31, "score_now": 0.97}

CHANGES: dict[str, Any] = {
    "before": "mine",
    "confirmed": 12,
    "rejected": 8,
    "warm": True,
    "rose": [{"id": f"rose-{number}", **_MOVED} for number in range(20)],
    "fell": [{"id": f"fell-{number}", **_MOVED} for number in range(20)],
}
