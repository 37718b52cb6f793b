from dataclasses import replace

from pugnn.explain.explanation import AttributePart, Change, Explanation, NodePart
from pugnn.explain.wording import score_words, sentences, signed

EXPLAINED = Explanation(
    id="acct-7",
    rank=12,
    nodes_ranked=4000,
    score=0.9241,
    threshold=0.5,
    decision=True,
    known=None,
    how="exact",
    unit="log-odds",
    total=2.5,
    base=-1.0,
    own=0.5,
    around=3.0,
    rest=0.0,
    nodes=[
        NodePart("acct-2", 1.25, 1, "positive", 0.81),
        NodePart("acct-9", 0.5, 2, None, 0.9),
        NodePart("acct-1", -0.25, None, None, 0.93),
    ],
    speak_for=[AttributePart("city = Bern", "yes", 1.5, 0.5, 1.0), AttributePart("age", "34", 0.25, 0.25, 0.0)],
    speak_against=[AttributePart("place in the graph", "", -0.1, 0.0, -0.1)],
    nearest=[["acct-7", "acct-5", "acct-2"], ["acct-7", "acct-6", "acct-3"]],
    changes=[Change("nodes", 1, ["acct-2"], 0.43), Change("attributes", 7, ["city = Bern", "age"], 0.4)],
    shown={},
)


def test_an_explanation_in_words():
    assert sentences(EXPLAINED) == (
        "Its score is 0.9241, rank 12 of 4,000: decided positive (threshold 0.5).",
        "Of its log-odds, +2.50, its own attributes contribute +0.50 and those of the nodes around it +3.00; −1.00 "
        "would be left with average attributes.",
        "The nodes that speak for it most: acct-2 (+1.25, 1 hop, known positive), acct-9 (+0.50, 2 hops).",
        "The nodes that speak against it most: acct-1 (−0.25).",
        "The attributes that speak for it most: city = Bern: yes (+1.50), age: 34 (+0.25).",
        "The attributes that speak against it most: place in the graph (−0.10).",
        "The nearest known positive is 2 hops away: acct-7 → acct-5 → acct-2. acct-3 is as near.",
        "If acct-2 had average attributes, its score would be 0.4300: it would not be decided positive.",
        "If city = Bern, age and 5 more were average here and around it, its score would be 0.4000: it would not be "
        "decided positive.",
    )


def test_what_gradients_cannot_assign_is_said():
    words = sentences(replace(EXPLAINED, how="gradients", rest=0.08, known="positive", nearest=[], changes=[]))
    assert words[0].endswith("It is a known positive.")
    assert words[1].endswith("−1.00 would be left with features of 0. +0.08 could not be assigned.")
    assert words[-1] == "The decision would be the same without the 100 nodes, or attributes, that speak for it most."
    assert not any("path" in sentence for sentence in words)


def test_odds_come_from_known_positives():
    odds = replace(
        EXPLAINED, unit="odds", total=4.0, base=0.0, own=0.0, around=4.0, nodes=[NodePart("x", 3.0, 1, "positive", 0.5)]
    )
    words = sentences(replace(odds, changes=[Change("nodes", 1, ["x"], 0.45)], decision=True))
    assert words[1] == "Its odds, 4 to 1, come from known positives: x 75 %."
    assert words[-1] == "Were x not known, its score would be 0.4500: it would not be decided positive."


def test_scores_close_to_one_keep_their_digits():
    assert "0.999998" in sentences(replace(EXPLAINED, score=0.9999981))[0]
    assert [score_words(score) for score in (0.0, 0.25, 0.99993, 1.0)] == ["0.0000", "0.2500", "0.99993", "1.0000"]
    assert signed(-1.5) == "−1.50"
