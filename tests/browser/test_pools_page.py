"""The pools page in a real browser."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from playwright.sync_api import Locator, Page, expect

from rxferrix_lab import ActionCtx, MutationCtx, RxFerrix, Workpool
from rxferrix_lab.views import pools
from tests.browser.alone import Watch, served

pytestmark = pytest.mark.browser
NAME = "<img src=x onerror=alert(1)>"


@pytest.fixture
def app() -> Iterator[RxFerrix]:
    app = RxFerrix(grace=timedelta(milliseconds=50))
    app.workpool(Workpool("emails", max_parallelism=2))
    app.workpool(Workpool(NAME, max_parallelism=1))

    @app.action
    async def send(ctx: ActionCtx) -> None:
        await ctx.canceled()

    @app.mutation
    def fill(ctx: MutationCtx, jobs: int) -> None:
        for _ in range(jobs):
            ctx.scheduler.pool("emails").enqueue(send)

    app.start()
    app.call(fill, 5)
    yield app
    app.stop()


@pytest.fixture
def watch(page: Page, app: RxFerrix) -> Iterator[Watch]:
    with served(app, pools.view) as address:
        watch = Watch.over(page)
        page.goto(address)
        expect(row(page, "emails")).to_contain_text("2 / 2", timeout=30_000)
        yield watch


def row(page: Page, pool: str) -> Locator:
    return page.locator(f'tr[data-id="pool {pool}"]')


def test_full_pool_says_how_many_wait(page: Page, watch: Watch) -> None:
    expect(page.get_by_role("status")).to_contain_text("emails is full; 3 wait, the oldest for")
    expect(row(page, NAME)).to_contain_text(NAME)
    assert watch.saw_nothing()


def test_another_pool_is_chosen_and_drawn(page: Page, watch: Watch) -> None:
    row(page, "emails").locator("td").first.wait_for()
    row(page, NAME).click()
    expect(page.get_by_role("status")).to_contain_text(f"{NAME} is idle")

    row(page, "emails").click()

    expect(page.get_by_role("status")).to_contain_text("emails is full")
    assert watch.saw_nothing()


def test_pool_is_given_more_slots(page: Page, watch: Watch) -> None:
    page.get_by_label("Slots", exact=True).fill("4")
    page.get_by_label("Slots", exact=True).press("Enter")
    page.get_by_role("button", name="Resize").click()

    expect(row(page, "emails")).to_contain_text("4 / 4")
    assert watch.saw_nothing()


def test_pool_is_paused_and_resumed(page: Page, watch: Watch) -> None:
    row(page, "emails").get_by_role("button", name="Pause").click()
    expect(row(page, "emails")).to_contain_text("paused")

    row(page, "emails").get_by_role("button", name="Resume").click()
    expect(row(page, "emails")).not_to_contain_text("paused")
    assert watch.saw_nothing()


def test_everything_is_canceled_after_a_question_that_gives_the_numbers(
    page: Page, watch: Watch
) -> None:
    row(page, "emails").get_by_role("button", name="Cancel all").click()
    expect(page.get_by_role("dialog")).to_contain_text("3 queued and 2 running jobs of emails")

    page.get_by_role("button", name="Cancel them all").click()
    expect(row(page, "emails")).to_contain_text("0 / 2")
    assert watch.saw_nothing()
