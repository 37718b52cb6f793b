import itertools
import json

import numpy as np
import pytest

from pugnn.errors import PugnnError
from pugnn.evidence import Audit, Band
from pugnn.graph import Graph
from pugnn.task import PUTask

N = 400
IDS = [f"n{i}" for i in range(N)]
GRAPH = Graph.from_edges(IDS[:-1], IDS[1:], ids=IDS)
RANKING = np.random.default_rng(0).permutation(N)[:380]  # the others are known
POSITIVE = np.isin(np.arange(N), RANKING[np.random.default_rng(1).random(380) < np.linspace(1, 0, 380) ** 3])
RANKS = np.array([0.01, 0.03, 0.05, 0.1, 0.2, 0.4])


def new(**changes):
    return Audit(GRAPH, RANKING, **{"decided": 90, "ranks": RANKS, "expected": 95.0} | changes)


def answers(positions):
    return {GRAPH.ids[at]: "yes" if POSITIVE[at] else "no" for at in positions}


def test_draws_repeat_and_never_overlap():
    first, again = new().draw(20, seed=3), new().draw(20, seed=3)
    assert first.drawn.tolist() == again.drawn.tolist()
    assert first.draws == again.draws
    assert first.draws[0]["draw"].startswith("draw-"), "no number for a spreadsheet to change"
    assert new().draw(20, seed=4).drawn.tolist() != first.drawn.tolist()
    first.draw(30, seed=3)
    assert len(set(first.drawn.tolist())) == 50
    assert np.isin(first.drawn, RANKING).all()


def test_each_node_is_drawn_with_the_probability_that_is_recorded():
    times = np.zeros(N)
    for seed in range(600):
        times[new().draw(12, seed=seed).drawn] += 1
    event = new().draw(12).events[0]
    edges = event["edges"]
    for name, place, chance in event["nodes"]:
        stretch = next((a, b) for a, b in itertools.pairwise(edges) if a <= place < b)
        often = times[RANKING[stretch[0] : stretch[1]]].mean() / 600
        assert often == pytest.approx(chance, rel=1e-9), "the same number is drawn in a stretch every time"
        assert GRAPH.ids[RANKING[place]] == name
    first = RANKING[edges[0] : edges[1]]
    assert times[first].std() < 3 * np.sqrt(times[first].mean()), "and each of its nodes is as likely"


def test_the_order_does_not_tell_the_rank():
    audit = new().draw(40)
    places = [place for _, place, _ in audit.events[0]["nodes"]]
    assert abs(np.corrcoef(np.arange(40), places)[0, 1]) < 0.5
    assert places != sorted(places)


def test_estimates_of_drawn_and_checked_nodes():
    audit = new().draw(40)
    audit.record(answers(audit.drawn))
    measured = audit.estimate()
    assert (measured.checks, measured.others) == (40, 0)
    assert measured.positives.low <= POSITIVE.sum() <= measured.positives.high
    assert not len(audit.open)
    assert "measured on 40 checks" in repr(audit)


def test_a_part_of_the_verdicts_will_do():
    audit = new().draw(40)
    audit.record(answers(audit.drawn[:15]))
    assert audit.estimate().checks == 15
    assert audit.open.tolist() == audit.drawn[15:].tolist()


def test_ids_and_verdicts_apart():
    audit = new().draw(3)
    ids = [GRAPH.ids[at] for at in audit.drawn]
    audit.record(ids, [True, "no", 1])
    assert list(audit.verdicts.values()).count(True) == 2


def test_all_of_the_first_are_known_then():
    audit = new().draw_first(50)
    assert sorted(audit.drawn.tolist()) == sorted(RANKING[:50].tolist())
    measured = audit.record(answers(audit.drawn)).estimate()
    assert (measured.checks, measured.others) == (50, 0)
    top = next(each for each in measured.first if each.taken == 50).precision
    assert top.low == top.high == pytest.approx(POSITIVE[RANKING[:50]].mean())


def test_nodes_of_ones_own_choice_are_no_sample():
    audit = new().record(answers(RANKING[100:103])).draw(40)
    audit.record(answers(audit.drawn))
    mine = RANKING[:30]
    twice = np.intersect1d(mine, audit.drawn)
    assert len(twice)
    audit.record(answers(mine))
    sample = audit.sample()
    assert len(sample.drawn) == 40, "what was drawn stays drawn"
    assert sample.others.tolist() == [100, 101, 102], "known before, and not drawn from"
    assert len(sample.later) == 30 - len(twice)
    events = len(audit.events)
    audit.record(answers(mine))
    assert len(audit.events) == events, "nothing new"
    again = new().replay(json.loads(json.dumps(audit.events)))
    assert again.sample().later.tolist() == sample.later.tolist()


def record_places(audit, places):
    """Record verdicts by place, without looking up ids."""
    positive = POSITIVE[RANKING]
    return audit.replay([{"verdicts": [["", int(place), bool(positive[place])] for place in places], "source": ""}])


def places_of(draw):
    return [place for _, place, _ in draw["nodes"]]


def finish_the_top(audit, seed):
    """The first 50 are drawn entirely, and the half that comes first is checked; then others are drawn."""
    audit.draw_first(50)
    record_places(audit, places_of(audit.draws[-1])[:25])
    audit.draw(40, seed=seed)
    record_places(audit, places_of(audit.draws[-1]))


def avoid_what_was_drawn(audit, seed):
    """Forty are drawn and checked; then a person checks the first 45 others, and draws again."""
    audit.draw(40, seed=seed)
    record_places(audit, places_of(audit.draws[-1]))
    record_places(audit, [place for place in range(380) if place not in set(places_of(audit.draws[-1]))][:45])
    audit.draw(15, seed=seed)
    record_places(audit, places_of(audit.draws[-1]))


@pytest.mark.parametrize("play", [finish_the_top, avoid_what_was_drawn])
def test_intervals_hold_whatever_else_is_checked(play):
    truth, inside = POSITIVE[RANKING[:100]].mean(), []
    for seed in range(60):
        audit = new(not_typical="to see the exact ones")
        play(audit, seed)
        band = next(each for each in audit.estimate().first if each.taken == 100).precision
        inside.append(band.low - 1e-9 <= truth <= band.high + 1e-9)
    assert np.mean(inside) >= 0.88


def test_probabilities_add_up_to_the_measured_number():
    audit = new(not_typical="to see the exact ones").draw(60)
    audit.record(answers(audit.drawn))
    assert audit.probabilities().sum() == pytest.approx(audit.estimate().positives.value, rel=0.1)


def test_own_choices_alone_measure_nothing():
    audit = new().record(answers(RANKING[:20]))
    assert audit.estimate().positives.high == 380 - (~POSITIVE[RANKING[:20]]).sum()
    with pytest.raises(PugnnError, match="not a random sample"):
        audit.probabilities()


def test_replay_gives_the_same():
    audit = new().draw(20)
    audit.record(answers(audit.drawn[:12])).draw(10, about="count", seed=5)
    audit.record({GRAPH.ids[RANKING[0]]: "yes"})
    events = json.loads(json.dumps(audit.events))
    again = new().replay(events)
    assert again.estimate().to_plain() == audit.estimate().to_plain()
    assert again.open.tolist() == audit.open.tolist()
    with pytest.raises(PugnnError, match="another ranking"):
        Audit(GRAPH, RANKING[::-1], decided=90, ranks=RANKS, expected=95.0).replay(events)


def test_bad_verdicts_change_nothing():
    audit = new().draw(20)
    name = GRAPH.ids[audit.drawn[0]]
    audit.record({name: "yes"})
    with pytest.raises(PugnnError, match="was recorded as yes before and is no now"):
        audit.record({name: "no", GRAPH.ids[audit.drawn[1]]: "yes"})
    assert len(audit.verdicts) == 1
    audit.record({name: "no"}, revise=True)
    assert list(audit.verdicts.values()) == [False]
    known = GRAPH.ids[np.setdiff1d(np.arange(N), RANKING)[0]]
    with pytest.raises(PugnnError, match="known before the training"):
        audit.record({known: "yes"})
    with pytest.raises(PugnnError, match="perhaps"):
        audit.record({name: "perhaps"})
    with pytest.raises(PugnnError, match="nobody"):
        audit.record({"nobody": "yes"})
    assert len(audit.events) == 3


def test_more_than_there_are():
    with pytest.raises(PugnnError, match="cannot draw 381 nodes: 380 of 380"):
        new().draw(381)
    audit = new().draw(380)
    with pytest.raises(PugnnError, match="cannot draw 1 node: 0 of 380"):
        audit.draw(1)


def test_nothing_is_measured_without_verdicts():
    for ask in (Audit.estimate, Audit.probabilities, lambda audit: audit.choose(budget=3)):
        with pytest.raises(PugnnError, match="no verdict is recorded"):
            ask(new().draw(3))


@pytest.mark.parametrize("everybody", [True, False])
def test_nobody_or_everybody_positive(everybody):
    audit = new().draw(20)
    measured = audit.record({GRAPH.ids[at]: everybody for at in audit.drawn}).estimate()
    assert measured.positive == (20 if everybody else 0)
    end = measured.positives.high if everybody else measured.positives.low
    assert end == (380 if everybody else 0)
    assert np.isfinite(audit.probabilities()).all()
    assert audit.choose(recall=0.9).taken >= (300 if everybody else 1)


def test_lists_for_a_purpose_by_plain_loops():
    audit = new().draw(60)
    audit.record(answers(audit.drawn))
    chances = audit.probabilities().tolist()
    total = sum(chances)
    found = [sum(chances[: m + 1]) for m in range(380)]
    assert audit.choose(budget=37).found.value == pytest.approx(found[36])
    by_precision = max(m + 1 for m in range(380) if found[m] / (m + 1) >= 0.8)
    assert audit.choose(precision=0.8).taken == by_precision
    by_recall = min(m + 1 for m in range(380) if found[m] >= 0.9 * total - 1e-9)
    assert audit.choose(recall=0.9).taken == by_recall
    bills = [m * 1 + 10 * (total - sum(chances[:m])) for m in range(381)]
    cheapest = audit.choose(cost_miss=10, cost_check=1)
    assert cheapest.taken == bills.index(min(bills))
    assert cheapest.cost.value == pytest.approx(min(bills))
    assert cheapest.cost.high == pytest.approx(cheapest.taken + 10 * cheapest.missed.high)
    assert cheapest.found.value + cheapest.missed.value == pytest.approx(total)


def test_lists_have_the_intervals_that_are_measured():
    audit = new().draw(60)
    measured = audit.record(answers(audit.drawn)).estimate()
    assert measured.narrowed
    top = next(each.precision for each in measured.first if each.taken == 100)
    for listed, band in (
        (audit.choose(budget=90).precision, measured.decided.precision),
        (audit.choose(budget=90).recall, measured.decided.recall),
        (audit.choose(budget=90).missed, measured.decided.missed),
        (audit.choose(budget=100).precision, top),
    ):
        assert (listed.low, listed.high) == (band.low, band.high)
        assert listed.low <= listed.value <= listed.high
    found = audit.choose(budget=90).found
    assert (found.low, found.high) == (90 * measured.decided.precision.low, 90 * measured.decided.precision.high)
    assert audit.choose(budget=380).missed == Band(0.0, 0.0, 0.0)
    everybody = new().draw(380)
    choice = everybody.record(answers(everybody.drawn)).choose(budget=50)
    right, missed = POSITIVE[RANKING[:50]].sum(), POSITIVE[RANKING[50:]].sum()
    assert choice.found == Band(right, right, right)
    assert choice.missed == Band(missed, missed, missed)
    assert choice.asked == {"budget": 50}


def test_a_list_of_nobody():
    audit = new().draw(20)
    audit.record({GRAPH.ids[at]: False for at in audit.drawn})
    choice = audit.choose(precision=0.9)
    assert (choice.taken, choice.found) == (0, Band(0.0, 0.0, 0.0))
    assert choice.missed.high > 10


@pytest.mark.parametrize(
    "purpose", [{"budget": 60}, {"precision": 0.8}, {"recall": 0.8}, {"cost_miss": 4, "cost_check": 1}]
)
def test_intervals_hold_for_lists_whose_length_the_checks_have_chosen(purpose):
    positive, inside = POSITIVE[RANKING], {"precision": [], "recall": [], "missed": []}
    for seed in range(40):
        audit = new(not_typical="to see the exact ones").draw(40, seed=seed)
        choice = record_places(audit, places_of(audit.draws[-1])).choose(**purpose)
        right, missed = positive[: choice.taken].sum(), positive[choice.taken :].sum()
        truth = {"precision": right / choice.taken, "recall": right / (right + missed), "missed": missed}
        for name, value in truth.items():
            band = getattr(choice, name)
            inside[name].append(band.low - 1e-9 <= value <= band.high + 1e-9)
    assert min(map(np.mean, inside.values())) >= 0.88


@pytest.mark.parametrize(
    "purpose",
    [{}, {"budget": 1, "recall": 0.5}, {"cost_miss": 3}, {"precision": 1.5}, {"recall": 0}, {"budget": 0}],
)
def test_bad_purposes(purpose):
    audit = new().draw(5)
    audit.record(answers(audit.drawn))
    with pytest.raises(PugnnError):
        audit.choose(**purpose)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({}, ""),
        ({"signal": False}, "hidden positives rank no better than by chance"),
        ({"caveat": "They are neighbours."}, "the known positives may not be typical of all"),
        ({"hidden": {"ranks": [0.1]}}, "no known positives were hidden"),
    ],
)
def test_why_hidden_positives_narrow_nothing(changes, why):
    task = PUTask.from_positives(GRAPH, np.setdiff1d(np.arange(N), RANKING))
    estimate = {"hidden": {"ranks": RANKS.tolist()}, "signal": True, "caveat": None} | changes
    assert Audit.after(task, RANKING, decided=9, prior=0.1, estimate=estimate).not_typical == why
    confirmed = task.with_feedback(RANKING[:1], RANKING[1:2])
    again = Audit.after(confirmed, RANKING[2:], decided=9, prior=0.1, estimate=estimate).not_typical
    assert again == (why or "finds were confirmed before, so hidden positives are not typical of what is left")
