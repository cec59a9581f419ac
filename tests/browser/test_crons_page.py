"""The crons page in a real browser."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from playwright.sync_api import Locator, Page, expect

from rxferrix_lab import MutationCtx, RxFerrix
from rxferrix_lab.views import crons
from tests.browser.alone import Watch, served

pytestmark = pytest.mark.browser
NAME = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def app() -> Iterator[RxFerrix]:
    app = RxFerrix()

    @app.mutation
    def tick(ctx: MutationCtx) -> None:
        return None

    app.cron_tz("backup", "0 30 3 * * *", "Europe/Bucharest", tick)
    app.cron_tz("billing", "0 0 4 1 1 *", "Europe/Bucharest", tick)
    app.interval(NAME, timedelta(days=1), tick)
    with_app = app.start()
    yield with_app
    app.stop()


@pytest.fixture(scope="module")
def address(app: RxFerrix) -> Iterator[str]:
    with served(app, crons.view) as address:
        yield address


@pytest.fixture
def watch(page: Page, address: str) -> Watch:
    watch = Watch.over(page)
    page.goto(address)
    expect(row(page, "backup")).to_be_visible(timeout=30_000)
    return watch


def row(page: Page, cron: str) -> Locator:
    return page.locator(f'[data-cron="{cron}"]')


def test_names_that_are_markup_are_shown_as_text(page: Page, watch: Watch) -> None:
    expect(row(page, NAME).locator(".name")).to_have_text(NAME)
    assert watch.saw_nothing()


def test_run_now_appears_in_the_strip(page: Page, watch: Watch) -> None:
    row(page, "billing").get_by_role("button", name="Run now").click()

    cell = row(page, "billing").locator('[data-outcome="succeeded"]')
    expect(cell).to_have_count(1)
    expect(row(page, "billing").locator(".counts")).to_contain_text("runs1")
    assert watch.saw_nothing()


def test_paused_cron_is_marked_until_it_is_resumed(page: Page, watch: Watch) -> None:
    row(page, "backup").get_by_role("button", name="Pause").click()
    expect(row(page, "backup").locator(".mark")).to_have_text("paused")

    row(page, "backup").get_by_role("button", name="Resume").click()
    expect(row(page, "backup").locator(".mark")).to_have_count(0)
    assert watch.saw_nothing()


def test_wrong_expression_is_refused_as_it_is_typed(page: Page, watch: Watch) -> None:
    box = page.get_by_label("Expression")
    box.fill("")
    box.press_sequentially("0 61 * * * *")

    expect(page.get_by_role("alert")).to_contain_text("minute 61 is outside 0-59")
    expect(page.locator("mark")).to_have_text("61")
    assert watch.saw_nothing()


def test_expression_of_a_cron_can_be_tried(page: Page, watch: Watch) -> None:
    row(page, "billing").get_by_role("button", name="Try").click()

    expect(page.get_by_label("Expression")).to_have_value("0 0 4 1 1 *")
    expect(page.locator(".rx-next")).to_contain_text("-01-01 04:00:00 EET (UTC+2)")
    expect(page.locator(".rx-told li")).to_have_count(2)
    assert watch.saw_nothing()


def test_cron_is_removed_only_after_a_question(page: Page, watch: Watch, app: RxFerrix) -> None:
    row(page, NAME).get_by_role("button", name="Remove").click()
    page.get_by_role("button", name="No, keep it as it is").click()
    expect(row(page, NAME)).to_be_visible()

    row(page, NAME).get_by_role("button", name="Remove").click()
    page.get_by_role("button", name="Remove it", exact=True).click()
    expect(row(page, NAME)).to_have_count(0)
    assert watch.saw_nothing()
