"""The app that the browser tests look at."""

import os
from datetime import timedelta
from pathlib import Path

from rxferrix_lab import ActionCtx, MutationCtx, RxFerrix, Workpool

NASTY = "<img src=x onerror=alert(1)>"


def make_shop(database: str | Path) -> RxFerrix:
    """An app whose jobs end when they are told to."""
    shop = RxFerrix(database, interactive=False, grace=timedelta(seconds=1))
    shop.workpool(Workpool("orders", max_parallelism=2))
    shop.workpool(Workpool(NASTY, max_parallelism=1))

    @shop.action
    async def hold(ctx: ActionCtx, what: str) -> str:
        await ctx.canceled()
        return what

    @shop.action
    async def fail(ctx: ActionCtx, why: str) -> str:
        del ctx
        raise ValueError(why)

    @shop.mutation
    def echo(ctx: MutationCtx, text: str) -> str:
        del ctx
        return text

    @shop.mutation(name=NASTY)
    def nasty(ctx: MutationCtx, text: str) -> str:
        del ctx
        return text

    shop.interval("held", timedelta(days=1), hold, "held")
    shop.cron("nightly", "0 0 3 * * *", echo, "night")
    shop.cron(NASTY, "0 0 4 * * *", echo, NASTY)
    shop.interval("tick", timedelta(days=1), echo, "tick")
    return shop


if "SHOP" in os.environ:
    app = make_shop(Path(os.environ["SHOP"]) / "shop.duckdb")
