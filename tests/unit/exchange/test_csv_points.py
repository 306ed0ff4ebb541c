"""Numbers measured elsewhere, and what the laws say of them."""

from pathlib import Path

import pytest

from scalograph.cli.fit_command import sentences
from scalograph.errors import StudyError
from scalograph.exchange.csv_points import MAX_ROWS, Points, read_points
from scalograph.exchange.fit import laws

RAYS = Points([1, 4, 8, 12, 16, 20, 24, 28, 32, 48, 64], [20, 78, 130, 170, 190, 200, 210, 230, 260, 280, 310])


def written(folder: Path, text: str) -> Path:
    file = folder / "data.csv"
    file.write_text(text)
    return file


def test_two_columns_are_read_by_name(tmp_path: Path) -> None:
    file = written(tmp_path, "\ufeffusers, note ,rps\n1,a,10\n2,b,19.5\n2,c,20\n")
    assert read_points(file, "users", "rps") == ([1, 2, 2], [10, 19.5, 20])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("n,throughput\n1,x\n0,4\n", r"data.csv:2: throughput = 'x', expected a number above 0\ndata.csv:3: n = '0'"),
        ("n,throughput\n1\n", r"data.csv:2: throughput = ''"),
        ("n,throughput\n1,nan\n", r"data.csv:2: throughput = 'nan'"),
        ("a,b\n1,2\n", r'no column "n" \(columns: a, b\); name one with --x'),
        ("", r'no column "n" \(columns: none\)'),
        ("n,throughput\n" + "x,1\n" * 9, r"data.csv: 4 further mistakes"),
        ("n,throughput\n1,1,000\n", r"data.csv:2: 3 fields, expected 2, as the header has; write numbers with a point"),
        ("n,throughput,throughput\n1,2,3\n", r'2 columns "throughput", expected one'),
        ("n,throughput\n1_0,2\n", r"n = '1_0'"),
        ("n,throughput\n1e200,2\n", r"n = '1e200', expected a number from 1 to 1e\+09"),
        ("n,throughput\n1,1e-320\n", r"throughput = '1e-320'"),
    ],
)
def test_mistakes_are_told_by_line(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(StudyError, match=told):
        read_points(written(tmp_path, text))


def test_a_file_that_is_none_or_endless_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="cannot be read"):
        read_points(tmp_path / "none.csv")
    with pytest.raises(StudyError, match=f"more than {MAX_ROWS} rows"):
        read_points(written(tmp_path, "n,throughput\n" + "1,1\n" * (MAX_ROWS + 1)))
    (tmp_path / "data.csv").write_bytes(b"n,throughput\n\xff\xfe,1\n")
    with pytest.raises(StudyError, match="cannot be read"):
        read_points(tmp_path / "data.csv")


def test_the_laws_say_what_limits_and_how_far() -> None:
    found = laws(RAYS, "none", 0.95, [96.0, 300.0])
    assert found["sigma"]["value"] == pytest.approx(0.057771, rel=1e-4)
    assert [point["size"] for point in found["points"]] == RAYS.sizes
    first, second = found["points"][:2]
    assert first["speedup"] is None and second["speedup"]["value"] == pytest.approx(3.9)
    assert second["serial_fraction"]["value"] == pytest.approx((1 / 3.9 - 1 / 4) / (1 - 1 / 4))
    told = sentences(found)
    assert told[0].startswith("Of the work 4.") and "Not reached: the optimum is above" in told[1]
    assert told[2].startswith("At 96: ") and "300 is more than 2 times" in told[3]


def test_runs_of_a_size_give_its_gain_an_interval() -> None:
    found = laws(Points([1, 1, 1, 2, 2, 2, 4, 4], [10, 10.1, 9.9, 19, 19.1, 18.9, 36, 35]), "relative", 0.95)
    gained = found["points"][1]["speedup"]
    assert gained["low"] < 1.9 < gained["high"]


def test_too_few_sizes_are_refused_in_words() -> None:
    with pytest.raises(StudyError, match="found 2 different sizes, expected at least 3; measure more sizes"):
        laws(Points([1, 2, 2], [1, 2, 2]), "relative", 0.95)


@pytest.mark.parametrize(
    ("sizes", "rates", "first"),
    [
        ([1, 2, 4, 8], [10, 15, 30, 35], None),
        ([100, 200, 400, 800], [100, 150, 310, 390], None),
        ([1, 2, 4, 8, 16], [10, 8, 6.1, 3.9, 3.5], "Of the work 16 % or more is serial."),
        ([2, 4, 8, 16, 32], [10, 8.1, 7.0, 6.6, 6.2], "More make it slower than one alone."),
    ],
)
def test_poor_fits_are_told_in_words_and_no_share_is_above_all(
    sizes: list[float], rates: list[float], first: str | None
) -> None:
    told = sentences(laws(Points(sizes, rates), "relative", 0.95))
    assert all("None" not in text and "e+0" not in text for text in told)
    assert first is None or told[0] == first


def test_a_bound_from_below_is_told_as_one() -> None:
    told = sentences(laws(Points([1, 2, 4, 8], [10, 15, 30, 35]), "relative", 0.95))
    assert any(text.startswith("At 16: at least ") for text in told)


def test_quoted_numbers_may_be_followed_by_others(tmp_path: Path) -> None:
    file = written(tmp_path, 'n,note,throughput\n1,"a, b",+1.5e1\n2,c, .5 \n')
    assert read_points(file) == ([1, 2], [15.0, 0.5])


def test_that_one_is_the_best_is_said_only_where_the_interval_says_so() -> None:
    noise = [1.0, 1.04, 1.01, 0.98, 1.02, 0.99, 1.0, 0.97]
    flat = laws(Points([1, 1, 2, 2, 4, 4, 8, 8], [10 * x for x in noise]), "relative", 0.95, [])
    assert flat["sigma"]["value"] > 1 > flat["sigma"]["low"]
    assert "One may be the best: whether more help at all is not known." in sentences(flat)
    falling = laws(
        Points([1, 1, 2, 2, 4, 4, 8, 8], [10 * x / k for x, k in zip(noise, (1, 1, 2, 2, 3, 3, 4, 4), strict=True)]),
        "relative",
        0.95,
        [],
    )
    assert falling["sigma"]["low"] > 1 and "One is the best: more make it slower." in sentences(falling)
    same = laws(Points([1, 2, 4, 8], [10, 10, 10, 10]), "relative", 0.95, [])
    assert "All of the work is serial: more do not help." in sentences(same)
    assert not any("slower" in text for text in sentences(same))


def test_no_size_below_one_is_the_best() -> None:
    found = laws(Points([1, 2, 4, 8, 16], [10, 8, 5.1, 3, 2.9]), "relative", 0.95, [])["optimum"]
    assert all(found[end] is None or found[end] >= 1 for end in ("value", "low", "high"))
