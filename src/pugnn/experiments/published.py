"""The values of Tables 1 to 5 of the PU-GNN paper, as printed there (section Experiments).

Tables 2 to 5 are macro-F1 in percent on the test nodes, mean and standard deviation over 5 repetitions. The names of
the methods are in lower case, as everywhere in this package.
"""

from __future__ import annotations

#: Mean and standard deviation (%) by data set, row and label ratio.
Published = dict[tuple[str, str, float], tuple[float, float]]

#: Label ratios of Tables 2 and 3.
RATIOS = (0.001, 0.002, 0.005, 0.01)

#: Data set and ratio of Tables 4 and 5.
SENSITIVITY = ("cora", 0.002)

#: How the data sets are written in the paper.
DATASET_NAMES = {"cora": "Cora", "citeseer": "Citeseer", "pubmed": "Pubmed", "dblp": "DBLP"}

#: Numbers of nodes.
TABLE1: dict[str, dict[str, int]] = {
    "cora": {"nodes": 2708, "positive": 1244, "negative": 1464, "training": 271, "testing": 2437},
    "citeseer": {"nodes": 3327, "positive": 1369, "negative": 1958, "training": 333, "testing": 2994},
    "pubmed": {"nodes": 19717, "positive": 7875, "negative": 11842, "training": 1971, "testing": 17746},
    "dblp": {"nodes": 17716, "positive": 7920, "negative": 9796, "training": 1772, "testing": 15944},
}

Values = tuple[tuple[float, float], ...]


def _at_ratios(dataset: str, rows: dict[str, Values]) -> Published:
    return {
        (dataset, row, ratio): value
        for row, values in rows.items()
        for ratio, value in zip(RATIOS, values, strict=True)
    }


#: Comparison of the methods.
TABLE2: Published = {
    **_at_ratios(
        "cora",
        {
            "naive": ((78.1, 0.1), (78.1, 0.1), (78.1, 0.1), (78.1, 0.1)),
            "nnpu": ((80.3, 0.2), (80.9, 0.3), (83.9, 0.4), (85.6, 0.2)),
            "dist-pu": ((82.1, 0.2), (82.7, 0.3), (86.6, 0.3), (87.4, 0.2)),
            "lsdan": ((81.8, 0.2), (82.8, 0.2), (86.7, 0.3), (87.6, 0.2)),
            "grab": ((82.5, 0.3), (84.4, 0.3), (86.5, 0.2), (87.5, 0.2)),
            "pu-gnn": ((84.8, 0.3), (86.0, 0.3), (87.3, 0.2), (88.3, 0.2)),
        },
    ),
    **_at_ratios(
        "pubmed",
        {
            "naive": ((57.1, 0.1), (57.1, 0.1), (57.1, 0.1), (57.1, 0.1)),
            "nnpu": ((63.6, 0.4), (65.7, 0.3), (70.5, 0.3), (73.8, 0.3)),
            "dist-pu": ((63.3, 0.3), (67.1, 0.2), (72.2, 0.2), (74.3, 0.3)),
            "lsdan": ((69.6, 0.4), (71.4, 0.3), (72.7, 0.2), (75.1, 0.2)),
            "grab": ((70.6, 0.3), (71.6, 0.4), (73.3, 0.2), (75.0, 0.3)),
            "pu-gnn": ((73.0, 0.4), (73.5, 0.3), (74.0, 0.2), (74.8, 0.2)),
        },
    ),
    **_at_ratios(
        "citeseer",
        {
            "naive": ((61.0, 0.1), (61.0, 0.1), (61.0, 0.1), (61.0, 0.1)),
            "nnpu": ((61.2, 0.4), (62.2, 0.3), (62.7, 0.2), (63.8, 0.2)),
            "dist-pu": ((61.4, 0.4), (62.2, 0.2), (63.5, 0.3), (64.6, 0.2)),
            "lsdan": ((62.7, 0.3), (63.6, 0.2), (65.6, 0.3), (70.5, 0.3)),
            "grab": ((61.8, 0.4), (62.6, 0.3), (65.2, 0.3), (69.7, 0.4)),
            "pu-gnn": ((64.5, 0.4), (64.7, 0.2), (65.8, 0.3), (73.0, 0.3)),
        },
    ),
    **_at_ratios(
        "dblp",
        {
            "naive": ((34.4, 0.2), (34.4, 0.2), (34.4, 0.2), (34.6, 0.3)),
            "nnpu": ((83.4, 0.3), (83.9, 0.2), (85.4, 0.3), (86.7, 0.4)),
            "dist-pu": ((83.8, 0.2), (84.1, 0.3), (86.8, 0.2), (87.3, 0.3)),
            "lsdan": ((85.3, 0.2), (85.6, 0.2), (86.8, 0.2), (87.8, 0.2)),
            "grab": ((85.0, 0.2), (85.7, 0.3), (86.8, 0.2), (87.8, 0.2)),
            "pu-gnn": ((86.5, 0.1), (86.6, 0.2), (87.2, 0.4), (87.8, 0.3)),
        },
    ),
}

#: Contribution of each component, on Cora.
TABLE3: Published = _at_ratios(
    "cora",
    {
        "GCN": ((78.1, 0.1), (78.1, 0.1), (78.1, 0.1), (78.1, 0.1)),
        "R_S only": ((80.2, 0.2), (80.6, 0.3), (81.6, 0.2), (83.4, 0.3)),
        "L_G only": ((83.2, 0.3), (85.0, 0.4), (86.7, 0.3), (88.7, 0.3)),
        "L_G + α R_S": ((84.8, 0.3), (86.0, 0.3), (87.3, 0.2), (88.3, 0.2)),
    },
)

#: Priors of the near nodes, the columns of Table 4.
NEAR_PRIORS = ("0.5", "0.6", "0.7", "0.8", "0.9")

_BY_FAR_PRIOR: dict[str, Values] = {
    "0.1": ((84.6, 0.3), (85.3, 0.2), (84.6, 0.2), (83.8, 0.4), (83.4, 0.3)),
    "0.2": ((84.6, 0.3), (85.3, 0.2), (85.2, 0.3), (84.0, 0.3), (83.4, 0.3)),
    "0.3": ((85.7, 0.3), (86.0, 0.3), (85.9, 0.3), (84.8, 0.3), (84.4, 0.2)),
    "0.4": ((84.0, 0.3), (85.9, 0.3), (83.7, 0.4), (84.0, 0.4), (83.4, 0.3)),
}

#: Priors of the near and the far nodes.
TABLE4: Published = {
    (SENSITIVITY[0], f"{near}, {far}", SENSITIVITY[1]): value
    for far, values in _BY_FAR_PRIOR.items()
    for near, value in zip(NEAR_PRIORS, values, strict=True)
}

#: The distance δ up to which a node is near.
TABLE5: Published = {
    (SENSITIVITY[0], delta, SENSITIVITY[1]): value
    for delta, value in {
        "1": (83.0, 0.4),
        "2": (85.8, 0.2),
        "3": (86.0, 0.3),
        "4": (83.2, 0.3),
        "5": (82.8, 0.3),
    }.items()
}
