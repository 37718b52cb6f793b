from pugnn.features import Statement, grouped


def test_many_columns_share_a_line_and_few_do_not():
    numbers = [Statement(f"x{i}", "number", f"mean {i}", 1, "standardised") for i in range(6)]
    flags = [Statement(f"b{i}", "boolean", "0 or 1, 5 % are 1", 1, "0 or 1") for i in range(5)]
    lines = grouped([numbers[0], *flags, *numbers[1:], Statement("no row", "boolean", "1 for some", 1)])
    assert [(line.column, line.text, line.features) for line in lines] == [
        ("6 columns", "standardised", 6),
        *((flag.column, flag.text, 1) for flag in flags),
        ("no row", "1 for some", 1),
    ]
