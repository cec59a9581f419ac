"""The clock changes page in a real browser."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from rxferrix_lab import MutationCtx, RxFerrix
from rxferrix_lab.views import clock_changes
from tests.browser.alone import Watch, menu_item, served

pytestmark = pytest.mark.browser
NAME = "<img src=x onerror=alert(1)> $$x$$"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    app = RxFerrix()

    @app.mutation
    def tick(ctx: MutationCtx) -> None:
        return None

    app.cron_tz(NAME, "0 30 3 * * *", "Europe/Bucharest", tick)
    app.cron_tz("hourly", "0 0 * * * *", "Europe/Bucharest", tick)
    app.start()
    with served(app, clock_changes.view) as address:
        yield address
    app.stop()


@pytest.fixture
def watch(page: Page, address: str) -> Watch:
    watch = Watch.over(page)
    page.goto(address)
    expect(page.get_by_role("status")).to_contain_text("the clocks in", timeout=30_000)
    return watch


def choose_year(page: Page, year: str) -> None:
    box = page.get_by_label("Changes from year")
    box.fill(year)
    box.press("Enter")


def choose_zone(page: Page, zone: str) -> None:
    box = page.get_by_label("Zone")
    box.fill(zone)
    page.get_by_role("option", name=zone, exact=True).click()


def test_both_pictures_are_drawn_and_names_are_text(page: Page, watch: Watch) -> None:
    expect(page.locator("canvas").first).to_be_visible()
    expect(page.get_by_role("row", name=NAME)).to_be_visible()
    assert watch.saw_nothing()


def test_change_of_a_chosen_year_is_told(page: Page, watch: Watch) -> None:
    choose_year(page, "2031")

    expect(page.get_by_role("status")).to_contain_text(
        "On 30 March 2031 the clocks in Europe/Bucharest go from 03:00 to 04:00; "
        "1 of 2 crons is moved, 1 pair merges."
    )
    assert watch.saw_nothing()


def test_day_that_samoa_skipped_can_be_looked_at(page: Page, watch: Watch) -> None:
    choose_zone(page, "Pacific/Apia")
    choose_year(page, "2011")
    expect(page.get_by_role("status")).to_contain_text("On 2 April 2011")
    page.get_by_label("Change", exact=True).click()
    menu_item(page, "30 December 2011").click()

    expect(page.get_by_role("status")).to_contain_text(
        "On 30 December 2011 the clocks in Pacific/Apia go from 00:00 to 00:00 on 31 December 2011"
    )
    assert watch.saw_nothing()


def test_zone_without_changes_says_so(page: Page, watch: Watch) -> None:
    choose_zone(page, "Asia/Tokyo")

    expect(page.get_by_text("No clock change in Asia/Tokyo")).to_be_visible()
    assert watch.saw_nothing()
