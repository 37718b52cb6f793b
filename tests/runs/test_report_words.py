from dataclasses import replace

import numpy as np
import pytest

from pugnn.methods import DEFAULT_METHOD
from pugnn.runs.report.words import next_steps, summary
from report_contents import path_content, with_task


def text_of(content, title):
    return summary(content)[title]


def test_says_what_was_known_and_found():
    content = path_content([0.9, 0.8, 0.2, 0.1])
    assert text_of(content, "What was known").startswith("1 of 4 nodes is known to be positive.")
    found = text_of(content, "What was found")
    assert found.startswith("1 of the 3 other nodes reaches the threshold of 0.5")
    assert found.endswith("The best find is n1 with a score of 0.8000; it lies 1 hop from the known n0.")


@pytest.mark.parametrize(("scores", "words"), [([0.9, 0.2, 0.1], "0 of the 2"), ([0.9, 0.8, 0.7], "2 of the 2")])
def test_says_when_the_threshold_parts_nothing(scores, words):
    content = path_content(scores)
    assert text_of(content, "What was found").startswith(words)
    assert next_steps(content)[0].startswith("Move the threshold")


def test_without_truth_nothing_is_told_of_nodes_that_were_trained_on():
    words = text_of(path_content([0.9, 0.8, 0.2]), "How sure that is")
    assert words == (
        "Scores rank nodes; 0.8 does not mean right in 80 of 100 cases. Checks of an audit tell how many are right."
    )


def test_known_negatives_are_told():
    content = path_content([0.9, 0.8, 0.7, 0.2])
    content = with_task(content, replace(content.task, negative=np.array([2])))
    known = text_of(content, "What was known")
    assert known.startswith(
        "1 of 4 nodes is known to be positive, and 1 not to be. Nothing is known about the other 2."
    )


def test_warnings_bring_their_remedy():
    assert "Few labels: Label ten more." in next_steps(path_content([0.9, 0.8, 0.2]))


def test_another_method_is_to_be_compared_with_the_default():
    assert not any("Compare with" in step for step in next_steps(path_content([0.9, 0.8, 0.2])))
    other = path_content([0.9, 0.8, 0.2], record={"options": {"method": "grab"}})
    assert next_steps(other)[-1] == f"Compare with the default method, --method {DEFAULT_METHOD}; this run used grab."


def test_says_when_not_even_the_ranking_holds():
    collapsed = {"degenerate": [{"code": "no-ranking", "message": "They do not rank above."}]}
    content = path_content([0.1, 0.3, 0.2], record=collapsed)
    assert text_of(content, "What was found").endswith("decided positive. The ranking means nothing.")
    assert next_steps(content)[0].startswith("Follow the notice at the top")
    nobody = {"degenerate": [{"code": "none-positive", "message": "None is decided positive."}]}
    content = path_content([0.4, 0.3, 0.2], record=nobody)
    assert "The best find is n1" in text_of(content, "What was found")
