"""`panel serve dashboard`: sign-in and roles, a server that dies, an app that is broken."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import duckdb
import pytest
from playwright.sync_api import Browser, Page, expect

from rxferrix_lab import RxFerrix
from rxferrix_lab.storage.store import Store
from tests.browser.conftest import GONE, Complaints, Server
from tests.browser.shop import make_shop

pytestmark = pytest.mark.browser

KEEP_SOCKETS = """
window.sockets = []
const Plain = WebSocket
window.WebSocket = class extends Plain {
  constructor(...how) { super(...how); window.sockets.push(this) }
}
"""
GRID_ID = """
() => [...Bokeh.documents[0]._all_models.values()].find(model => model.data?.rows !== undefined).id
"""
SEND = "frames => frames.forEach(frame => window.sockets.at(-1).send(frame))"


def signed_in(browser: Browser, server: Server, user: str) -> Page:
    page = browser.new_context().new_page()
    page.set_default_timeout(30_000)
    page.add_init_script(KEEP_SOCKETS)
    page.goto(f"{server.url}?section=jobs")
    page.locator("input[name=username]").fill(user)
    page.locator("input[name=password]").fill("secret")
    page.locator("button, input[type=submit]").first.click()
    page.get_by_text("LIVE", exact=True).wait_for()
    page.locator("tbody tr").first.wait_for()
    return page


@pytest.fixture
def with_sign_in(server: Server, tmp_path: Path) -> Server:
    """A server where ann is an operator and bob is not."""
    users = tmp_path / "users.json"
    users.write_text(json.dumps({"ann": "secret", "bob": "secret"}))
    server.start(
        *("--basic-auth", str(users), "--cookie-secret", "pepper"),
        RXFERRIX_OPERATORS="ann, carl",
    )
    return server


def test_operator_and_viewer_sign_in(browser: Browser, with_sign_in: Server) -> None:
    ann, bob = (signed_in(browser, with_sign_in, user) for user in ("ann", "bob"))

    expect(ann.get_by_text("ann · operator")).to_be_visible()
    expect(ann.get_by_role("button", name=re.compile("Cancel all"))).to_be_visible()
    expect(bob.get_by_text("bob · viewer")).to_be_visible()
    expect(bob.get_by_role("button", name=re.compile("Cancel all"))).to_have_count(0)


def cancellation(grid: str, job: str) -> list[str]:
    """What the operator's browser sends for a click on a row's button."""
    entries = [["model", {"id": grid}], ["node", "act"]]
    detail = {"type": "map", "entries": [["detail", ["cancel", job]]]}
    values = {"type": "map", "entries": [*entries, ["data", detail]]}
    event = {"type": "event", "name": "dom_event", "values": values}
    sent = {"kind": "MessageSent", "msg_type": "bokeh_event", "msg_data": event}
    header = {"msgid": "by-hand", "msgtype": "PATCH-DOC"}
    return [json.dumps(header), "{}", json.dumps({"events": [sent]})]


def test_viewer_who_sends_the_operators_message_by_hand_is_refused_and_logged(
    browser: Browser, with_sign_in: Server, tmp_path: Path
) -> None:
    ann, bob = (signed_in(browser, with_sign_in, user) for user in ("ann", "bob"))
    row = bob.locator("tr", has_text="held").first
    job = row.get_attribute("data-id")
    assert job is not None

    bob.evaluate(SEND, cancellation(bob.evaluate(GRID_ID), job))

    expect(bob.get_by_text("bob may not cancel")).to_be_visible()
    ann.goto(f"{with_sign_in.url}?section=log")
    logged = ann.locator(".rx-entry", has_text="operator · bob")
    expect(logged).to_contain_text("PermissionDeniedError: bob may not cancel")
    bob.reload()
    expect(bob.locator(f"tr[data-id='{job}']")).to_contain_text("running")
    with_sign_in.kill()
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as connection:
        found = connection.execute(
            "SELECT function, caller, outcome FROM _execution_log WHERE identity = 'bob'"
        ).fetchall()
    assert found == [("_system/scheduler:cancel", "operator", "failed")]


def test_operator_who_sends_the_same_message_is_obeyed(
    browser: Browser, with_sign_in: Server
) -> None:
    ann = signed_in(browser, with_sign_in, "ann")
    job = ann.locator("tr", has_text="held").first.get_attribute("data-id")
    assert job is not None

    ann.evaluate(SEND, cancellation(ann.evaluate(GRID_ID), job))

    expect(ann.locator(f"tr[data-id='{job}']")).to_contain_text("canceled")


def test_page_comes_back_after_the_server_was_killed(
    page: Page, server: Server, complaints: Complaints
) -> None:
    complaints.allowed = GONE
    server.start()
    page.goto(f"{server.url}?section=crons&zone=Asia%2FTokyo")
    page.get_by_text("LIVE", exact=True).wait_for()

    server.kill()
    expect(page.get_by_text("The server is gone.")).to_be_visible(timeout=20_000)
    server.start()

    expect(page.get_by_text("The server is gone.")).to_have_count(0, timeout=30_000)
    page.get_by_text("LIVE", exact=True).wait_for()
    assert "section=crons" in page.url
    assert "zone=Asia%2FTokyo" in page.url


def test_app_that_cannot_be_imported_shows_the_end_of_its_traceback(
    page: Page, server: Server, tmp_path: Path, checkout: Path, complaints: Complaints
) -> None:
    del complaints
    (tmp_path / "broken.py").write_text("import rxferrix_lab\nprices = {}['lamp']\n")

    server.start(target="broken:app", PYTHONPATH=f"{checkout}:{tmp_path}")
    page.goto(server.url)

    expect(page.get_by_text("KeyError: 'lamp'")).to_be_visible(timeout=30_000)
    expect(page.get_by_text("-c 'import broken'")).to_be_visible()


def test_database_of_another_process_is_named_and_nothing_is_blank(
    page: Page, server: Server, tmp_path: Path, complaints: Complaints
) -> None:
    del complaints
    holder = make_shop(tmp_path / "shop.duckdb").start()

    server.start()
    page.goto(server.url)

    expect(page.get_by_text("shop.duckdb")).to_be_visible(timeout=30_000)
    holder.stop()
    page.reload()
    expect(page.get_by_text("LIVE", exact=True)).to_be_visible(timeout=30_000)


def test_server_answers_before_anybody_opened_a_page(server: Server) -> None:
    server.start()

    with urlopen(server.url) as answer:
        assert answer.status == 200


ROWS = 1_000_000


@pytest.fixture
def million(tmp_path: Path) -> Iterator[RxFerrix]:
    """A shop that has done a million jobs, running."""
    path = tmp_path / "shop.duckdb"
    store = Store(path)
    store.open()
    store.close()
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            f"""
            INSERT INTO _scheduled_jobs BY NAME
            SELECT range AS id, 'echo' AS "function", 'mutation' AS kind,
                '{{"text":"order ' || range || '"}}' AS args,
                CASE WHEN range % 1000 = 0 THEN 'failed' ELSE 'succeeded' END AS state,
                'user' AS trigger, now() AS scheduled_for, now() AS due_at, now() AS created_at,
                now() AS started_at, now() AS finished_at, 1 AS attempt, 1 AS max_attempts,
                0 AS missed, 1 AS revision
            FROM range(1, {ROWS + 1})
            """
        )
    shop = make_shop(path).start()
    yield shop
    shop.stop()


def test_million_jobs_are_filtered_and_paged_to_the_end(
    page: Page, million: RxFerrix, free_port: int, complaints: Complaints
) -> None:
    del complaints
    served = million.serve(free_port)
    page.goto(f"{served.url}?section=jobs&function=echo")

    page.get_by_label("Last page").click()
    page.locator("tr[data-id='1']").wait_for()
    page.get_by_label("Previous page").click()
    page.locator("tr[data-id='100']").wait_for()
    page.get_by_role("group", name="States").get_by_role("button", name="failed").click()
    expect(page.get_by_text("of 1 000".replace(" ", "\N{NARROW NO-BREAK SPACE}"))).to_be_visible()
