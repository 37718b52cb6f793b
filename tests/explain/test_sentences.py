from dataclasses import replace

from pugnn.explain.explanation import AttributePart, Change, Explanation, NodePart
from pugnn.explain.sentences import score_words, sentences, signed, why_words

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
    score_without_own=0.88,
    rest=0.0,
    nodes=[
        NodePart("acct-2", 1.25, 1, "positive", 0.81),
        NodePart("acct-9", 0.5, 2, None, 0.9),
        NodePart("acct-1", -0.25, None, None, 0.93),
    ],
    speak_for=[
        AttributePart("city = Bern", "yes", 1.5, 0.5, 1.0, 0.7, "city = Bern"),
        AttributePart("age", "34", 0.25, 0.25, 0.0, 0.9, "age = 34"),
        AttributePart("place", "", 0.2, -0.1, 0.3, 0.9, "place"),
    ],
    speak_against=[AttributePart("stamps", "absent", -0.1, 0.002, -0.102, 0.93, "stamps = absent")],
    nearest=[["acct-7", "acct-5", "acct-2"], ["acct-7", "acct-6", "acct-3"]],
    changes=[Change("nodes", 1, ["acct-2"], 0.43), Change("attributes", 7, ["city = Bern", "age"], 0.4)],
    shown={},
)


def test_an_explanation_in_words():
    assert sentences(EXPLAINED) == (
        "Its score is 0.9241, rank 12 of 4,000: decided positive (threshold 0.5).",
        "Its log-odds, +2.50, are the sum of −1.00 to start with, +0.50 by its own attributes and +3.00 by those of "
        "other nodes. If it had average attributes itself, its score would be 0.8800.",
        "The nodes that speak for it most: acct-2 (+1.25, 1 hop, known positive), acct-9 (+0.50, 2 hops).",
        "The nodes that speak against it most: acct-1 (−0.25).",
        "The attributes that speak for it most: city = Bern (+1.50: +0.50 by its own value, yes, and +1.00 around it), "
        "age (+0.25 by its own value, 34), place (+0.20: −0.10 by its own value and +0.30 around it).",
        "The attributes that speak against it most: stamps (−0.10 around it).",
        "The nearest known positive is 2 hops away: acct-7 → acct-5 → acct-2. acct-3 is as near.",
        "If acct-2 had average attributes, its score would be 0.4300: it would not be decided positive.",
        "If city = Bern, age and 5 more were average here and around it, its score would be 0.4000: it would not be "
        "decided positive.",
    )


def test_why_in_cells_of_the_table_without_score_or_rank():
    assert why_words(EXPLAINED, 3) == (
        "For it: city = Bern, age = 34, place. Against it: stamps = absent. Linked to 3 known positives."
    )
    # What is made of one cell is told once, on the side on which all of it is.
    other = AttributePart("city = Genf", "no", -2.0, -1.0, -1.0, 0.7, "city = Bern")
    assert (
        why_words(replace(EXPLAINED, speak_against=[other]), 0) == "For it: age = 34, place. Against it: city = Bern."
    )
    odds = replace(EXPLAINED, unit="odds", total=4.0, around=4.0, own=0.0, speak_for=[], speak_against=[])
    assert "4 to 1" in sentences(odds)[1]
    assert why_words(odds, 1).startswith("Its odds come from known positives: acct-2")
    assert why_words(odds, 1).endswith("Linked to 1 known positive.")


def test_what_gradients_cannot_assign_is_said():
    words = sentences(replace(EXPLAINED, how="gradients", rest=0.08, known="positive", nearest=[], changes=[]))
    assert words[0].endswith("It is a known positive.")
    assert words[1] == (
        "Its log-odds, +2.50, are the sum of −1.00 with all features 0, +0.50 by its own attributes, +3.00 by those of "
        "other nodes and +0.08 that could not be assigned. If it had features of 0 itself, its score would be 0.8800."
    )
    assert words[-1] == (
        "The decision would be the same without the nodes, or the attributes, that contribute most to it, up to 100 of "
        "them."
    )
    assert not any("path" in sentence for sentence in words)


def test_odds_come_from_known_positives():
    odds = replace(
        EXPLAINED, unit="odds", total=4.0, base=0.0, own=0.0, around=4.0, nodes=[NodePart("x", 3.0, 1, "positive", 0.5)]
    )
    words = sentences(replace(odds, changes=[Change("nodes", 1, ["x"], 0.45)], decision=True))
    assert words[1] == "Its odds, 4 to 1, come from known positives: x 75 %, all others 25 %."
    assert words[-1] == "If nothing spread from x, its score would be 0.4500: it would not be decided positive."
    (itself,) = (each for each in sentences(replace(odds, own=0.5, around=3.5)) if "come from" in each)
    assert itself.endswith("x 75 %, all others 12 %, being known itself 12 %.")
    same = sentences(replace(odds, changes=[]))[-1]
    assert (
        same
        == "The decision would be the same without the known positives that contribute most to it, up to 100 of them."
    )
    assert not any("would be" in each for each in sentences(replace(odds, changes=[], decision=False)))


def test_scores_close_to_one_keep_their_digits():
    assert "0.999998" in sentences(replace(EXPLAINED, score=0.9999981))[0]
    assert [score_words(score) for score in (0.0, 0.25, 0.99993, 1.0)] == ["0.0000", "0.2500", "0.99993", "1.0000"]
    assert signed(-1.5) == "−1.50"
