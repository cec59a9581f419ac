"""What an expression may say, and how it is refused (CONTRACT 5.2 and 5.3)."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rxferrix_lab.domain.cron_syntax import MAX_LENGTH, CronFields, read_cron
from rxferrix_lab.errors import CronSyntaxError


def hours(text: str) -> list[int]:
    return list(read_cron(f"0 0 {text} * * *").hours)


def weekdays(text: str) -> list[int]:
    choice = read_cron(f"0 0 0 * * {text}").days.weekdays
    assert choice is not None
    return list(choice.weekdays)


def days(expr: str, length: int = 31, first_weekday: int = 0) -> list[int]:
    return list(read_cron(expr).days.days_of(length, first_weekday))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("*", list(range(24))),
        ("7", [7]),
        ("07", [7]),
        ("9-17", list(range(9, 18))),
        ("5-5", [5]),
        ("*/5", [0, 5, 10, 15, 20]),
        ("10/5", [10, 15, 20]),
        ("22/5", [22]),
        ("8-16/4", [8, 12, 16]),
        ("22-4", [0, 1, 2, 3, 4, 22, 23]),
        ("22-4/3", [1, 4, 22]),
        ("23-22", list(range(24))),
        ("1-5/10", [1]),
        ("9,1,9,3-5", [1, 3, 4, 5, 9]),
    ],
)
def test_hours_are_read_as_a_person_means_them(text: str, expected: list[int]) -> None:
    assert hours(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", [0]),
        ("7", [0]),
        ("0,7", [0]),
        ("sun", [0]),
        ("MON-FRI", [1, 2, 3, 4, 5]),
        ("5-7", [0, 5, 6]),
        ("0-7", [0, 1, 2, 3, 4, 5, 6]),
        ("7-2", [0, 1, 2]),
        ("6-0", [0, 6]),
        ("SAT-MON", [0, 1, 6]),
        ("FRI-TUE/2", [0, 2, 5]),
        ("1-7/2", [0, 1, 3, 5]),
        ("7/2", [0, 2, 4, 6]),
        ("0/2", [0, 2, 4, 6]),
        ("3/2", [3, 5]),
        ("*/3", [0, 3, 6]),
    ],
)
def test_weekdays_are_read_as_a_person_means_them(text: str, expected: list[int]) -> None:
    assert weekdays(text) == expected


@st.composite
def hour_items(draw: st.DrawFn) -> tuple[str, set[int]]:
    """An item of the hour field, and what a person reads in it, walked hour by hour."""
    start, stop = draw(st.integers(0, 23)), draw(st.integers(0, 23))
    step = draw(st.integers(1, 23))
    till_stop = (stop - start) % 24 + 1
    return draw(
        st.sampled_from(
            [
                (f"{start}", {start}),
                (f"{start}-{stop}", {(start + past) % 24 for past in range(till_stop)}),
                (
                    f"{start}-{stop}/{step}",
                    {(start + past) % 24 for past in range(till_stop) if past % step == 0},
                ),
                (
                    f"{start}/{step}",
                    {hour for hour in range(start, 24) if not (hour - start) % step},
                ),
                (f"*/{step}", {hour for hour in range(24) if hour % step == 0}),
            ]
        )
    )


@given(st.lists(hour_items(), min_size=1, max_size=6))
def test_any_list_of_items_is_read_as_a_person_walks_it(items: list[tuple[str, set[int]]]) -> None:
    texts = [text for text, _ in items]
    expected = set[int]().union(*(meant for _, meant in items))

    assert hours(",".join(texts)) == sorted(expected)


def test_months_have_names_and_wrap() -> None:
    assert read_cron("0 0 0 1 jan,Mar,NOV-FEB *").months == (1, 2, 3, 11, 12)


def test_days_wrap_over_the_end_of_the_month() -> None:
    assert days("0 0 0 30-2 * *") == [1, 2, 30, 31]


def test_both_day_fields_match_if_either_does() -> None:
    assert days("0 0 0 13 * FRI") == [6, 13, 20, 27]


@pytest.mark.parametrize("expr", ["0 0 0 */1 * FRI", "0 0 0 1-31 * FRI", "0 0 0 13 * */1"])
def test_anything_but_a_star_restricts_a_day_field(expr: str) -> None:
    assert days(expr) == list(range(1, 32))


@pytest.mark.parametrize(
    ("expr", "length", "first_weekday", "expected"),
    [
        ("0 0 0 L * *", 29, 0, [29]),
        ("0 0 0 1,L * *", 30, 0, [1, 30]),
        ("0 0 0 15W * *", 31, 0, [16]),
        ("0 0 0 14W * *", 31, 0, [13]),
        ("0 0 0 1W * *", 31, 6, [3]),
        ("0 0 0 1W * *", 31, 0, [2]),
        ("0 0 0 31W * *", 31, 5, [29]),
        ("0 0 0 31W * *", 31, 4, [30]),
        ("0 0 0 31W * *", 31, 3, [31]),
        ("0 0 0 31W * *", 30, 0, []),
        ("0 0 0 30W * *", 30, 6, [28]),
        ("0 0 0 LW * *", 31, 4, [30]),
        ("0 0 0 LW * *", 30, 6, [28]),
        ("0 0 0 LW * *", 31, 3, [31]),
        ("0 0 0 * * SUN#2", 31, 0, [8]),
        ("0 0 0 * * 7#1", 31, 1, [7]),
        ("0 0 0 * * MON#5", 31, 1, [29]),
        ("0 0 0 * * MON#5", 28, 1, []),
        ("0 0 0 * * L5", 31, 0, [27]),
        ("0 0 0 * * 5L", 31, 0, [27]),
        ("0 0 0 * * FRIL", 31, 0, [27]),
        ("0 0 0 * * LFRI", 31, 0, [27]),
        ("0 0 0 * * L7", 30, 0, [29]),
        ("0 0 0 * * MON,FRI#2", 31, 0, [2, 9, 13, 16, 23, 30]),
    ],
)
def test_letters_of_the_day_fields_name_one_day_of_the_month(
    expr: str, length: int, first_weekday: int, expected: list[int]
) -> None:
    assert days(expr, length, first_weekday) == expected


@pytest.mark.parametrize(
    ("expr", "message"),
    [
        ("0 0 25 * * *", 'hour 25 is outside 0-23 (field 3 of "0 0 25 * * *")'),
        ("60 0 0 * * *", "second 60 is outside 0-59 (field 1 of"),
        ("0 61 0 * * *", "minute 61 is outside 0-59 (field 2 of"),
        ("0 0 0 0 * *", "day 0 is outside 1-31 (field 4 of"),
        ("0 0 0 32 * *", "day 32 is outside 1-31 (field 4 of"),
        ("0 0 0 32W * *", "day 32 is outside 1-31"),
        ("0 0 0 * 13 *", "month 13 is outside 1-12 (field 5 of"),
        ("0 0 0 * 0 *", "month 0 is outside 1-12"),
        ("0 0 0 * * 8", "weekday 8 is outside 0-7 (field 6 of"),
        ("0 0 9-25 * * *", "hour 25 is outside 0-23"),
        ("0 99999999999999999999999 0 * * *", "minute 99999999999999999... is outside 0-59"),
        ("0 */90 * * * *", "step 90 of the minute is outside 1-59"),
        ("0 */0 * * * *", "step 0 of the minute is outside 1-59"),
        ("0 0 */24 * * *", "step 24 of the hour is outside 1-23"),
        ("0 0 0 * * */7", "step 7 of the weekday is outside 1-6"),
        ("0 0 0 * * MON#6", "weekday number #6 is outside #1-#5"),
        ("0 0 0 * * MON#0", "weekday number #0 is outside #1-#5"),
        ("0 0 0 * FOO *", "FOO is not a month; the names are JAN, FEB"),
        ("0 0 MON * * *", "MON is not a number; the hour field takes 0-23"),
        ("0 0 0 * * MONDAY", '"MONDAY" is not a weekday'),
        ("0 1,,2 0 * * *", "an item of the minute field is empty"),
        ("0 1, 0 * * *", "an item of the minute field is empty"),
        ("0 -1 0 * * *", '"-1" is not a minute'),
        ("0 +1 0 * * *", '"+1" is not a minute'),
        ("0 1.5 0 * * *", '"1.5" is not a minute'),
        ("0 1-2-3 0 * * *", '"1-2-3" is not a minute'),
        ("0 */5/2 0 * * *", '"*/5/2" is not a minute'),
        ("0 *-5 0 * * *", '"*-5" is not a minute'),
        ("0 *,5 0 * * *", '"*" in a list already stands for every value'),
        ("0 0 0 ? * *", '"?" is not read in the day field; write "*"'),
        ("0 0 0 * * ?", '"?" is not read in the weekday field'),
        ("0 R 0 * * *", "random (R) and hashed (H) values are not read"),
        ("0 R(0-9) 0 * * *", "random (R) and hashed (H) values are not read"),
        ("0 H/5 0 * * *", "random (R) and hashed (H) values are not read"),
        ("0 L 0 * * *", '"L" is not a minute'),
        ("0 0 0 L-3 * *", '"L-3" is not a day'),
        ("0 0 0 * * L", '"L" alone names no weekday'),
        ("0 0 0 * 5L *", '"5L" is not a month'),
        ("0 0 0 30-2/2 * *", "steps over the end of the month"),
        ("0 0 0 L * FRI", '"L" needs a * in the weekday field'),
        ("0 0 0 15W * 1-5", '"15W" needs a * in the weekday field'),
        ("0 0 0 L * */1", '"L" needs a * in the weekday field'),
        ("0 0 0 13 * FRI#2", '"FRI#2" needs a * in the day of month field'),
        ("0 0 0 13 * L5", '"L5" needs a * in the day of month field'),
        ("", "0 fields where six fields are needed"),
        ("   ", "0 fields where six fields are needed"),
        ("* * * *", "4 fields where six fields are needed"),
        ("*/5 * * * *", "five fields where six fields are needed (second minute hour day month"),
        ("*/5 * * * *", 'put a 0 in front: "0 */5 * * * *"'),
        ("0 0 0 1 1 * 2030", "seven fields where six fields are needed"),
        ("@daily", "aliases are not read: six fields are needed"),
        ("@daily", 'write "0 0 0 * * *"'),
        ("@every 5m", "aliases are not read"),
        ("0 0 0 * * *\n", "character 12 is '\\n'; plain ASCII is read"),
        ("0 0 0 * *\0*", "character 10 is '\\x00'; plain ASCII is read"),
        ("0 0 ٣ * * *", "character 5 is '\\u0663'; plain ASCII is read"),
        ("0 0 0 * * *" + " " * MAX_LENGTH, "611 characters are too many; at most 600 are read"),
        (f"0 {','.join(['1'] * 61)} * * * *", "61 items in the minute field are too many"),
    ],
)
def test_what_cannot_be_read_is_refused_with_the_way_out(expr: str, message: str) -> None:
    with pytest.raises(CronSyntaxError, match=re.escape(message)):
        read_cron(expr)


def test_refusal_carries_the_field_and_its_position() -> None:
    with pytest.raises(CronSyntaxError) as refused:
        read_cron("0 0 25 * * *")

    assert (refused.value.field, refused.value.at) == ("hour", 3)


@pytest.mark.parametrize(
    "expr",
    ["0 0 0 30 2 *", "0 0 0 31 4,6,9,11 *", "0 0 0 30-31 2 *", "0 0 0 31W APR *", "0 0 0 30W 2 *"],
)
def test_expression_that_never_matches_is_refused(expr: str) -> None:
    with pytest.raises(CronSyntaxError, match="never matches"):
        read_cron(expr)


@pytest.mark.parametrize(
    "expr", ["0 0 0 29 2 *", "0 0 0 * 2 MON#5", "0 0 0 31 4,5 *", "0 0 0 29W 2 *", "0 0 0 30 2 FRI"]
)
def test_expression_that_matches_rarely_is_read(expr: str) -> None:
    assert isinstance(read_cron(expr), CronFields)


def test_every_value_of_every_field_written_out_fits() -> None:
    full = [",".join(map(str, range(low, high + 1))) for low, high in ((0, 59), (0, 59), (0, 23))]
    full += [",".join(map(str, range(1, 32))), ",".join(map(str, range(1, 13))), "0,1,2,3,4,5,6"]

    fields = read_cron(" ".join(full))

    assert len(fields.seconds) * len(fields.minutes) * len(fields.hours) == 86_400


def test_spaces_and_tabs_between_fields_do_not_matter() -> None:
    assert read_cron("  0\t0   9 * * MON-FRI ").text == "0 0 9 * * MON-FRI"


@given(st.text(max_size=60) | st.text("0123456789*/,-LW#RHJANMONFRI? ", max_size=60))
def test_any_text_is_read_or_refused_as_a_cron(text: str) -> None:
    try:
        fields = read_cron(text)
    except CronSyntaxError:
        return

    assert len(text.split()) == 6
    assert fields.hours


@given(st.lists(st.text("0123456789*/,-LWMONJAN#", max_size=6), min_size=6, max_size=6))
def test_any_six_fields_are_read_or_refused_as_a_cron(texts: list[str]) -> None:
    expr = " ".join(texts)
    try:
        fields = read_cron(expr)
    except CronSyntaxError:
        return

    assert set(fields.seconds) | set(fields.minutes) <= set(range(60))
    assert set(fields.hours) <= set(range(24))
    assert set(fields.months) <= set(range(1, 13))
