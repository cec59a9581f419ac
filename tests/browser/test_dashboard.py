"""The dashboard in a real browser: jobs move, operators act, and the URL carries the rest."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from rxferrix_lab import JobId, MutationCtx, RxFerrix
from rxferrix_lab.views.serving import serve
from tests.browser.alone import menu_item
from tests.browser.conftest import GONE, Complaints
from tests.browser.shop import NASTY

pytestmark = pytest.mark.browser

Opened = Callable[..., Page]


def scheduled(shop: RxFerrix, name: str, *args: object, pool: str | None = None) -> JobId:
    """Schedule a function of the shop, from outside any function."""
    function: Any = shop.registry.function(name)

    @shop.mutation(name=f"schedule {name} {len(shop.registry.functions)}")
    def schedule(ctx: MutationCtx) -> JobId:
        if pool is not None:
            return ctx.scheduler.pool(pool).enqueue(function, *args)
        return ctx.scheduler.run_after(timedelta(0), function, *args)

    return shop.call(schedule)


def row(page: Page, job: JobId) -> Locator:
    return page.locator(f"tr[data-id='{job}']")


def test_jobs_move_by_themselves(shop: RxFerrix, opened: Opened) -> None:
    page = opened()

    job = scheduled(shop, "hold", "order 7")

    expect(row(page, job)).to_contain_text("running")
    shop.cancel(job)
    expect(row(page, job)).to_contain_text("canceled")


def test_operator_cancels_a_job_from_its_row(shop: RxFerrix, opened: Opened) -> None:
    job = scheduled(shop, "hold", "order 8")
    page = opened()

    row(page, job).get_by_label("Cancel").click()

    expect(row(page, job)).to_contain_text("canceled")
    assert shop.job(job).state == "canceled"


def test_operator_runs_a_failed_job_again(shop: RxFerrix, opened: Opened) -> None:
    job = scheduled(shop, "fail", "no stock")
    page = opened()

    row(page, job).get_by_label("Run again").click()

    expect(row(page, JobId(job + 1))).to_contain_text("manual")
    assert shop.job(JobId(job + 1)).function == "fail"


def test_what_an_operator_did_is_in_the_log(shop: RxFerrix, opened: Opened) -> None:
    job = scheduled(shop, "hold", "order 9")
    page = opened()

    row(page, job).get_by_label("Cancel").click()
    expect(row(page, job)).to_contain_text("canceled")

    found = shop.sql("SELECT identity, detail FROM _execution_log WHERE caller = 'operator'")
    assert found.values.tolist() == [["local", f"cancel: job {job}"]]


def test_filter_is_in_the_url_and_survives_a_reload(shop: RxFerrix, opened: Opened) -> None:
    good, bad = scheduled(shop, "echo", "fine"), scheduled(shop, "fail", "no stock")
    page = opened()

    page.get_by_role("group", name="States").get_by_role("button", name="failed").click()
    expect(row(page, good)).to_have_count(0)

    page.wait_for_url(re.compile("states=failed"))
    page.reload()
    expect(row(page, bad)).to_contain_text("failed")
    expect(row(page, good)).to_have_count(0)


def test_text_filter_finds_arguments(shop: RxFerrix, opened: Opened) -> None:
    lamp, chair = scheduled(shop, "echo", "a lamp"), scheduled(shop, "echo", "a chair")
    page = opened()

    page.get_by_label("Text or id").fill("LAMP")
    page.get_by_label("Text or id").press("Enter")

    expect(row(page, chair)).to_have_count(0)
    expect(row(page, lamp)).to_have_count(1)


def test_cancelling_all_of_many_asks_first_with_the_number(shop: RxFerrix, opened: Opened) -> None:
    for number in range(101):
        scheduled(shop, "hold", f"order {number}", pool="orders")
    page = opened("section=jobs&pool=orders")

    page.get_by_role("button", name="Cancel all 101").click()
    page.get_by_role("button", name="Cancel 101 jobs").click()

    expect(page.get_by_text(re.compile("101 jobs are canceled or stopping"))).to_be_visible()
    assert set(shop.jobs(function="hold", pool="orders")["state"]) <= {"canceled", "canceling"}
    expect(page.get_by_role("button", name="Cancel all 0")).to_be_disabled()


def test_job_page_shows_the_error_and_where_it_was_raised(shop: RxFerrix, opened: Opened) -> None:
    job = scheduled(shop, "fail", "no stock")
    page = opened()

    row(page, job).click()

    expect(page.get_by_text(f"Job {job} · fail")).to_be_visible()
    expect(page.get_by_text("raise ValueError(why)")).to_be_visible()
    assert f"job={job}" in page.url


def test_job_page_says_why_a_job_waits(shop: RxFerrix, opened: Opened) -> None:
    shop.resize_pool("orders", 0)
    job = scheduled(shop, "hold", "order 1", pool="orders")

    page = opened(f"section=jobs&job={job}")

    expect(page.get_by_text("the pool orders is paused (0 slots)")).to_be_visible()


def test_zone_changes_every_time_on_the_page(shop: RxFerrix, opened: Opened) -> None:
    job = scheduled(shop, "echo", "fine")
    asked = shop.job(job).scheduled_for

    page = opened("section=jobs&zone=Pacific/Kiritimati")  # 14 hours ahead of UTC

    expect(row(page, job)).to_contain_text((asked + timedelta(hours=14)).strftime("%H:%M:%S"))


def test_zone_chosen_in_the_bar_changes_every_time_on_the_page(
    shop: RxFerrix, opened: Opened
) -> None:
    job = scheduled(shop, "echo", "fine")
    asked = shop.job(job).scheduled_for
    page = opened()

    page.get_by_label("Time zone").click()
    page.keyboard.type("Kiritimati")
    menu_item(page, "Pacific/Kiritimati").click()

    expect(row(page, job)).to_contain_text((asked + timedelta(hours=14)).strftime("%H:%M:%S"))
    page.wait_for_url(re.compile("zone=Pacific"))


def test_page_of_an_app_that_has_stopped_says_that_its_server_is_gone(
    shop: RxFerrix, opened: Opened, complaints: Complaints
) -> None:
    complaints.allowed = GONE
    page = opened()

    shop.stop()

    expect(page.get_by_text("The server is gone.")).to_be_visible(timeout=20_000)


def test_page_whose_server_outlives_its_app_says_that_it_is_stale(
    shop: RxFerrix, free_port: int, page: Page, complaints: Complaints
) -> None:
    del complaints
    served = serve(shop, free_port, "localhost")
    try:
        page.goto(served.url)
        page.get_by_text("LIVE", exact=True).wait_for()
        expect(page.get_by_role("alert")).to_be_hidden()

        shop.stop()

        expect(page.get_by_role("alert")).to_contain_text("Stale")
    finally:
        served.stop()


@pytest.mark.parametrize(
    ("button", "name", "holds"),
    [
        ("CSV", "jobs.csv", b"a lamp"),
        ("Parquet", "jobs.parquet", b"a lamp"),
        ("SQL", "jobs.sql", b"SELECT"),
    ],
)
def test_what_is_filtered_is_taken_away_as_a_file(
    shop: RxFerrix, opened: Opened, button: str, name: str, holds: bytes
) -> None:
    scheduled(shop, "echo", "a lamp")
    page = opened("section=jobs&text=lamp")

    with page.expect_download() as downloading:
        page.get_by_role("button", name=button).click()

    assert downloading.value.suggested_filename == name
    assert holds in downloading.value.path().read_bytes()


def test_theme_is_toggled_and_kept(opened: Opened) -> None:
    page = opened("section=overview")

    page.get_by_label("Toggle theme").click()
    page.wait_for_url(re.compile("is_dark=true"))
    page.reload()

    page.locator(".mui-dark").first.wait_for()


def test_two_browsers_see_each_others_actions(
    shop: RxFerrix, opened: Opened, browser: Browser, url: str, complaints: Complaints
) -> None:
    job = scheduled(shop, "hold", "order 3")
    here = opened()
    there = browser.new_context().new_page()
    complaints.watch(there)
    there.goto(f"{url}?section=jobs")

    row(there, job).get_by_label("Cancel").click()

    expect(row(here, job)).to_contain_text("canceled")
    there.context.close()


SECTIONS = ("overview", "jobs", "crons", "clock", "pools", "log")


@pytest.mark.parametrize("section", SECTIONS)
def test_what_users_wrote_is_shown_as_text(shop: RxFerrix, opened: Opened, section: str) -> None:
    scheduled(shop, NASTY, NASTY)
    scheduled(shop, "fail", NASTY, pool=NASTY)
    shop.run_cron_now(NASTY)

    page = opened(f"section={section}")

    shown = page.get_by_text(re.compile(re.escape(NASTY)) if section != "clock" else "UTC")
    shown.locator("visible=true").first.wait_for()
    assert page.locator("img[src=x]").count() == 0


def test_what_users_wrote_is_shown_as_text_on_the_job_page(shop: RxFerrix, opened: Opened) -> None:
    job = scheduled(shop, "fail", NASTY, pool=NASTY)

    page = opened(f"section=jobs&job={job}")

    shown = page.get_by_text(re.compile(re.escape(NASTY)))
    shown.locator("visible=true").first.wait_for()
    assert page.locator("img[src=x]").count() == 0


def test_empty_overview_says_what_to_do_next(page: Page, free_port: int) -> None:
    app = RxFerrix(interactive=False).start()
    served = app.serve(free_port)

    page.goto(f"{served.url}?section=overview")

    expect(page.get_by_text("No cron is declared.")).to_be_visible()
    served.stop()
    app.stop()


def test_request_through_a_proxy_gets_no_app(browser: Browser, shop: RxFerrix, url: str) -> None:
    scheduled(shop, "echo", "secret lamp")
    context = browser.new_context(extra_http_headers={"X-Forwarded-For": "127.0.0.1"})
    page = context.new_page()

    page.goto(f"{url}?section=jobs")

    expect(page.get_by_text("Sign in to see this app")).to_be_visible()
    assert "secret lamp" not in page.content()
    context.close()
