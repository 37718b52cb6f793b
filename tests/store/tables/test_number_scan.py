import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from pugnn.store.tables.number_scan import MAYBE, OTHER_NUMBERS, WORDS, Irregular, scan_numbers


def scan(text: str, columns: int, *, header: bool = False, delimiter: str = ",", size: int = 1000):
    """The numbers in a text that comes in pieces of this size, and what is known of its columns then."""
    raw, known = text.encode(), np.full(columns, MAYBE, dtype=np.uint8)
    blocks = scan_numbers([raw[i : i + size] for i in range(0, len(raw), size)], delimiter, known, header=header)
    return sp.vstack(blocks).toarray(), known


def column(*cells: str) -> tuple[list[float], int]:
    numbers, known = scan("\n".join(cells) + "\n", 1)
    return numbers[:, 0].tolist(), int(known[0])


@settings(deadline=None)  # the first one may have to wait for the compiler
@given(st.floats(allow_nan=False, width=32) | st.floats(-1e30, 1e30) | st.integers(-(10**18), 10**18))
def test_numbers_are_read_as_python_reads_them(number):
    for text in (repr(number), f"{number:.17g}", f"{number:.6g}", f" {number:.3e}", f"{number:+.10g}\t"):
        numbers, known = column("0", text)
        if known and math.isfinite(float(text)):  # the others are for those to read who name the row
            assert numbers[1] == float(text)
        else:
            assert not math.isfinite(float(text)) or abs(float(text)) > 3e38 or 0 < abs(float(text)) < 1e-270


@pytest.mark.parametrize("text", [".5", "5.", "007", "+3", "1E+02", "0.1000000000000000055", "12345678901234567"])
def test_other_ways_to_write_a_number(text):
    assert column("1", text) == ([1, float(text)], MAYBE | OTHER_NUMBERS)


@pytest.mark.parametrize(
    "text",
    ["1_000", "+-5", "0x1F", "1,5 ", "1e", "e5", ".", "+", "1 000", "inf", "1e400", "1e39", "٣", "2024-01-01", "#N/A"],
)
def test_what_is_no_number_ends_the_column(text):
    assert column("1", f'"{text}"', "2")[1] == 0


@pytest.mark.parametrize("text", ["", "NA", "n/a", "null", "None", "NaN", "-", "?", "  "])
def test_missing_cells(text):
    numbers, known = scan(f"1,{text}\n2,3\n", 2)
    assert known.tolist() == [MAYBE | OTHER_NUMBERS] * 2
    assert math.isnan(numbers[0, 1])


def test_words_for_true_and_false_do_not_go_with_other_numbers():
    assert column("True", "no", "Y", "f", "1", "0") == ([1, 0, 1, 0, 1, 0], MAYBE | WORDS)
    assert column("true", "2")[1] == 0
    assert column("2", "true")[1] == 0


TABLE = 'id,"a ""b""",c\r\nx,1.5,"2"\r\n\r\n"y, z",,0\n"w\n",-3,"true"'


@pytest.mark.parametrize("size", [*range(1, 20), 1000])
def test_text_may_be_cut_anywhere(size):
    numbers, known = scan(TABLE, 3, header=True, size=size)
    assert known.tolist() == [0, MAYBE | OTHER_NUMBERS, 0]
    np.testing.assert_array_equal(numbers[:, 1], [1.5, np.nan, -3])


def test_marks_at_the_beginning_and_other_delimiters():
    assert scan("\ufeff1;2\n3;4\n", 2, delimiter=";")[0].tolist() == [[1, 2], [3, 4]]
    assert scan("1\t2\n3\t4", 2, delimiter="\t")[0].tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize("text", ["1,2\n3\n", "1,2\n3,4,5\n", '1,"2\n', '1,"2"x\n', "1\r2,3\n"])
def test_rows_of_another_form_are_left_to_others(text):
    with pytest.raises(Irregular):
        scan(text, 2)


def test_tables_of_blanks():
    text = (",,,,\n" * 50 + "1,,,,\n") * 3
    numbers, known = scan(text, 5, size=64)
    assert known.tolist() == [MAYBE] * 5
    assert np.isnan(numbers).sum() == 51 * 3 * 5 - 3


def test_a_column_that_must_be_of_numbers_has_no_words():
    known = np.array([MAYBE | OTHER_NUMBERS], dtype=np.uint8)
    scan_numbers([b"1\nyes\n"], ",", known, header=False)
    assert known[0] == 0
