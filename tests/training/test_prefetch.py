import threading

import pytest

from pugnn.training.batches import prefetch


@pytest.mark.parametrize("threads", [0, 1, 3])
def test_results_come_in_the_order_of_the_items(threads):
    with prefetch(lambda item: item * item, range(20), threads) as results:
        assert list(results) == [item * item for item in range(20)]


def test_no_more_is_prepared_than_can_wait():
    begun = []

    def work(item: int) -> int:
        begun.append(item)
        return item

    with prefetch(work, range(1000), 2) as results:
        assert next(results) == 0
        assert len(begun) <= 3
        assert next(results) == 1
        assert len(begun) <= 4


def test_without_threads_nothing_is_done_before_it_is_asked_for():
    begun = []
    with prefetch(begun.append, range(5), 0) as results:
        assert begun == []
        next(results)
    assert begun == [0]


def test_an_error_in_the_background_is_raised_where_its_result_is_used():
    def work(item: int) -> int:
        if item == 2:
            raise ValueError("two")
        return item

    before = threading.active_count()
    with pytest.raises(ValueError, match="two"), prefetch(work, range(100), 2) as results:
        list(results)
    assert threading.active_count() == before
