from dataclasses import replace
from types import SimpleNamespace

import pytest

from pugnn.checkup import Advice
from pugnn.runs.report.words import next_steps, summary
from report_contents import CHECK_UP, path_content


def text_of(content, title):
    return next(part.text for part in summary(content) if part.title == title)


def test_says_what_was_known_and_found():
    content = path_content([0.9, 0.8, 0.2, 0.1])
    assert text_of(content, "What was known").startswith("1 of 4 nodes is known to be positive.")
    found = text_of(content, "What was found")
    assert found.startswith("1 of the 3 other nodes (33 %) reaches the threshold of 0.5")
    assert found.endswith("The best find is n1 with a score of 0.800; it lies 1 hop from the known n0.")


@pytest.mark.parametrize(("scores", "words"), [([0.9, 0.2, 0.1], "No node reaches"), ([0.9, 0.8, 0.7], "Every node")])
def test_says_when_the_threshold_parts_nothing(scores, words):
    content = path_content(scores)
    assert text_of(content, "What was found").startswith(words)
    assert next_steps(content)[0].startswith("Move the threshold")


def test_without_truth_nobody_can_tell():
    assert text_of(path_content([0.9, 0.8, 0.2]), "How sure that is").startswith("Only inspection can tell")


def test_with_truth_the_shares_are_told():
    content = path_content([0.9, 0.8, 0.7, 0.2], positive=[True, True, False, True])
    words = text_of(content, "How sure that is")
    assert "Of those that it decided positive, 50 % truly are; of the truly positive, it found 50 %." in words


def test_warnings_bring_their_remedy():
    assert "Few labels: Label ten more." in next_steps(path_content([0.9, 0.8, 0.2]))


def test_advice_is_told_where_the_run_did_not_follow_it():
    content = path_content([0.9, 0.8, 0.2])
    assert next_steps(content)[-1] == "Compare with delta 2, which the check-up advises; this run had delta 3."
    other = Advice("label-propagation")
    content = replace(content, check_up=SimpleNamespace(findings=(), advice=other))
    assert next_steps(content)[-1].startswith("Compare with label-propagation")
    followed = path_content([0.9, 0.8, 0.2], record={"options": {"method": "pu-gnn", "delta": 2}})
    assert followed.check_up is CHECK_UP
    assert not any("check-up advises" in step for step in next_steps(followed))


def test_says_when_not_even_the_ranking_holds():
    collapsed = {"degenerate": [{"code": "no-ranking", "message": "They do not rank above."}]}
    content = path_content([0.1, 0.3, 0.2], record=collapsed)
    assert "so none was decided positive; the ranking means nothing either." in text_of(content, "What was found")
    assert next_steps(content)[0].startswith("Follow the notice at the top")
    assert not any("first 20" in step for step in next_steps(content))
    nobody = {"degenerate": [{"code": "none-positive", "message": "None is decided positive."}]}
    content = path_content([0.4, 0.3, 0.2], record=nobody)
    assert "the ranking may still be of use" in text_of(content, "What was found")
    assert any("first 20" in step for step in next_steps(content))
