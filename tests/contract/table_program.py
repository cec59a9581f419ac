"""An app with one table, and any function run in it as a mutation."""

from collections.abc import Callable
from typing import Any

from rxferrix_lab import Mutation, MutationCtx, RxFerrix, TestApp

LARGEST = 2**63 - 1
Body = Callable[[MutationCtx], object]


def app_with(columns: str = "text VARCHAR", name: str = "notes") -> RxFerrix:
    """An interactive app with one table."""
    return RxFerrix(interactive=True).table(name, columns)


async def do(t: TestApp, app: RxFerrix, body: Body) -> Any:  # noqa: ANN401  # what it returns
    """Run a function as a mutation of its own."""

    def run(ctx: MutationCtx) -> Any:  # noqa: ANN401  # what it returns
        return body(ctx)

    mutation: Mutation[[], Any] = app.mutation(name="body")(run)
    return await t.run_mutation(mutation)


def draw(ctx: MutationCtx) -> int:
    """Insert a row; its id."""
    return ctx.db.insert("notes", {})


def draw_three(ctx: MutationCtx) -> list[int]:
    """Insert three rows; their ids."""
    return [draw(ctx), draw(ctx), draw(ctx)]
