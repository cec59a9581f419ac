"""The log page in a real browser."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from playwright.sync_api import Locator, Page, expect

from rxferrix_lab import Identity, MutationCtx, PermissionDeniedError, RxFerrix
from rxferrix_lab.views import log
from tests.browser.alone import Watch, menu_item, served

pytestmark = pytest.mark.browser
MARKUP = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def app() -> Iterator[RxFerrix]:
    app = RxFerrix()

    @app.mutation
    def note(ctx: MutationCtx) -> None:
        return None

    @app.mutation
    def fail(ctx: MutationCtx) -> None:
        raise ValueError(MARKUP)

    app.interval("yearly", timedelta(days=365), note)
    app.start()
    for _ in range(log.PAGE + 5):
        app.call(note)
    with pytest.raises(ValueError, match="img"):
        app.call(fail)
    with pytest.raises(PermissionDeniedError):
        app.as_user(Identity(MARKUP)).pause_cron("yearly")
    yield app
    app.stop()


@pytest.fixture(scope="module")
def address(app: RxFerrix) -> Iterator[str]:
    with served(app, log.view) as address:
        yield address


@pytest.fixture
def watch(page: Page, address: str) -> Watch:
    watch = Watch.over(page)
    page.goto(address)
    expect(rows(page)).to_have_count(log.PAGE, timeout=30_000)
    return watch


def rows(page: Page) -> Locator:
    return page.locator(".rx-entry")


def choose(page: Page, filter_: str, value: str) -> None:
    page.get_by_label(filter_, exact=True).click()
    menu_item(page, value).click()


def test_failed_rows_are_found_and_their_errors_opened(page: Page, watch: Watch) -> None:
    choose(page, "Outcome", "failed")
    expect(rows(page)).to_have_count(2)

    failed = rows(page).filter(has_text="ValueError")
    failed.get_by_role("button").click()
    expect(failed.locator(".rx-pre").first).to_contain_text("raise ValueError(MARKUP)")
    assert watch.saw_nothing()


def test_what_a_viewer_tried_is_found_by_the_caller(page: Page, watch: Watch) -> None:
    choose(page, "Caller", "operator")

    expect(rows(page)).to_have_count(1)
    expect(rows(page)).to_contain_text(f"operator · {MARKUP}")
    assert watch.saw_nothing()


def test_text_is_searched_as_it_is_typed(page: Page, watch: Watch) -> None:
    page.get_by_label("Text", exact=True).press_sequentially("pause_cron")

    expect(rows(page)).to_have_count(1)
    assert watch.saw_nothing()


def test_older_rows_are_reached_by_pages(page: Page, watch: Watch) -> None:
    page.get_by_role("button", name="Older").click()
    expect(rows(page)).not_to_have_count(log.PAGE)
    expect(page.get_by_text("page 2, standing still")).to_be_visible()

    page.get_by_role("button", name="Newest").click()
    expect(rows(page)).to_have_count(log.PAGE)
    assert watch.saw_nothing()
