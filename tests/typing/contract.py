"""What both type checkers must refuse, and what they must let through.

Never run: `tests/test_typing.py` reads what mypy and pyright say about it. A line that ends in
`# refused: mypy[code] pyright[rule]` must be refused by both, with those codes and no others;
every line without such a mark must be accepted by both.
"""

from datetime import datetime, timedelta
from typing import assert_type

from rxferrix_lab import (
    ActionCtx,
    JobId,
    MutationCtx,
    QueryCtx,
    RxFerrix,
    SyncActionCtx,
    WorkResult,
)

app = RxFerrix()
minute = timedelta(minutes=1)


# --- the colours ---


@app.query
def unread(ctx: QueryCtx, user: str) -> list[str]:
    return [user, str(ctx.now())]


@app.mutation
def follow_up(ctx: MutationCtx, user: str, times: int = 1) -> int:
    return ctx.db.insert("notes", {"reader": user, "times": times})


@app.mutation(internal=True)
def sent(ctx: MutationCtx, work_id: JobId, user: str, result: WorkResult[str]) -> None: ...


@app.action
async def send_email(ctx: ActionCtx, to: str) -> str:
    await ctx.sleep(minute)
    return to


@app.action
def resize_image(ctx: SyncActionCtx, path: str) -> int:
    ctx.sleep(minute)
    return len(path)


@app.action(grace=minute)
async def build_report(ctx: ActionCtx) -> None:
    await ctx.run_mutation(follow_up, "ann", times=2)


@app.query  # refused: mypy[deprecated] pyright[reportDeprecated]
async def awaited_query(ctx: QueryCtx) -> int:
    return 1


@app.mutation  # refused: mypy[deprecated] pyright[reportDeprecated]
async def awaited_mutation(ctx: MutationCtx) -> int:
    return 1


@app.mutation(internal=True)  # refused: mypy[type-var] pyright[reportArgumentType]
async def awaited_internal_mutation(ctx: MutationCtx) -> int:
    return 1


@app.mutation  # refused: mypy[arg-type] pyright[reportArgumentType]
def mutation_with_the_context_of_an_action(ctx: ActionCtx) -> None: ...


# --- scheduling in a transaction ---


@app.mutation
def signup(ctx: MutationCtx, user: str) -> JobId:
    scheduler = ctx.scheduler
    assert_type(scheduler.run_after(minute, follow_up, user), JobId)
    scheduler.run_after(minute, follow_up, user, times=2)
    scheduler.run_after(minute, send_email, to=user)
    scheduler.run_after(minute, resize_image, "portrait.png")
    scheduler.run_at(ctx.now(), build_report)
    scheduler.run_at(1_800_000_000_000, build_report)
    scheduler.with_retries(3).run_after(minute, send_email, user)
    assert_type(scheduler.cancel(JobId(1)), bool)

    scheduler.run_after(minute, unread, user)  # refused: mypy[arg-type] pyright[reportArgumentType]
    scheduler.run_at(ctx.now(), unread, user)  # refused: mypy[arg-type] pyright[reportArgumentType]
    scheduler.run_after(minute, len, user)  # refused: mypy[arg-type] pyright[reportArgumentType]
    scheduler.run_after(60, follow_up, user)  # refused: mypy[arg-type] pyright[reportArgumentType]
    scheduler.run_at("noon", follow_up, user)  # refused: mypy[arg-type] pyright[reportArgumentType]
    scheduler.run_at(minute, follow_up, user)  # refused: mypy[arg-type] pyright[reportArgumentType]
    scheduler.run_after(minute, follow_up, 1)  # refused: mypy[arg-type] pyright[reportArgumentType]
    scheduler.run_after(minute, follow_up)  # refused: mypy[call-arg] pyright[reportCallIssue]
    scheduler.run_after(minute, follow_up, "a", 1, 2)  # refused: mypy[call-arg] pyright[reportCallIssue]
    scheduler.run_after(minute, follow_up, "a", often=1)  # refused: mypy[call-arg] pyright[reportCallIssue]
    scheduler.run_after(minute, follow_up, "a", times="2")  # refused: mypy[arg-type] pyright[reportArgumentType]
    scheduler.run_at(ctx.now(), send_email)  # refused: mypy[call-arg] pyright[reportCallIssue]
    scheduler.run_at(ctx.now(), send_email, 1)  # refused: mypy[arg-type] pyright[reportArgumentType]
    scheduler.with_retries("3")  # refused: mypy[arg-type] pyright[reportArgumentType]
    scheduler.cancel("1")  # refused: mypy[arg-type] pyright[reportArgumentType]

    return scheduler.run_after(minute, follow_up, user)


# --- pools ---


@app.mutation
def send_all(ctx: MutationCtx, user: str) -> None:
    pool = ctx.scheduler.pool("emails")
    assert_type(pool.enqueue(send_email, user), JobId)
    pool.enqueue_after(minute, send_email, user)
    pool.enqueue_at(ctx.now(), resize_image, "portrait.png")
    pool.with_retries(2).on_complete(sent, user).enqueue(send_email, to=user)

    pool.enqueue(follow_up, user)  # refused: mypy[arg-type] pyright[reportArgumentType]
    pool.enqueue(unread, user)  # refused: mypy[arg-type] pyright[reportArgumentType]
    pool.enqueue(send_email)  # refused: mypy[call-arg] pyright[reportCallIssue]
    pool.enqueue(send_email, 1)  # refused: mypy[arg-type] pyright[reportArgumentType]
    pool.enqueue(send_email, user, user)  # refused: mypy[call-arg] pyright[reportCallIssue]
    pool.enqueue_after(60, send_email, user)  # refused: mypy[arg-type] pyright[reportArgumentType]
    pool.enqueue_after(minute, follow_up, user)  # refused: mypy[arg-type] pyright[reportArgumentType]
    pool.enqueue_at(ctx.now(), send_email)  # refused: mypy[call-arg] pyright[reportCallIssue]
    pool.on_complete(sent, 1)  # refused: mypy[arg-type] pyright[reportArgumentType]
    pool.on_complete(follow_up, user)  # refused: mypy[arg-type] pyright[reportArgumentType]
    pool.on_complete(send_email, user)  # refused: mypy[arg-type] pyright[reportArgumentType]


# --- actions ---


@app.action
async def welcome(ctx: ActionCtx, user: str) -> None:
    assert_type(await ctx.run_query(unread, user), list[str])
    assert_type(await ctx.run_mutation(follow_up, user), int)
    assert_type(await ctx.run_action(send_email, user), str)
    assert_type(await ctx.run_action(resize_image, user), int)
    assert_type(await ctx.scheduler.run_after(minute, follow_up, user), JobId)
    await ctx.scheduler.pool("emails").on_complete(sent, user).enqueue(send_email, user)
    assert_type(await ctx.scheduler.cancel(JobId(1)), bool)

    ctx.scheduler.run_after(minute, follow_up, user)  # refused: mypy[unused-coroutine] pyright[reportUnusedCoroutine]
    ctx.scheduler.pool("emails").enqueue(send_email, user)  # refused: mypy[unused-coroutine] pyright[reportUnusedCoroutine]
    ctx.run_mutation(follow_up, user)  # refused: mypy[unused-coroutine] pyright[reportUnusedCoroutine]
    await ctx.scheduler.run_after(minute, unread, user)  # refused: mypy[arg-type] pyright[reportArgumentType]
    await ctx.scheduler.run_after(60, follow_up, user)  # refused: mypy[arg-type] pyright[reportArgumentType]
    await ctx.scheduler.run_after(minute, follow_up)  # refused: mypy[call-arg] pyright[reportCallIssue]
    await ctx.scheduler.pool("emails").enqueue(follow_up, user)  # refused: mypy[arg-type] pyright[reportArgumentType]
    await ctx.scheduler.pool("emails").on_complete(sent, 1).enqueue(send_email, user)  # refused: mypy[arg-type] pyright[reportArgumentType]
    await ctx.run_query(follow_up, user)  # refused: mypy[arg-type] pyright[reportArgumentType]
    await ctx.run_mutation(unread, user)  # refused: mypy[arg-type] pyright[reportArgumentType]
    await ctx.run_action(send_email, 1)  # refused: mypy[arg-type] pyright[reportArgumentType]


@app.action
def thumbnails(ctx: SyncActionCtx, path: str) -> None:
    assert_type(ctx.run_query(unread, path), list[str])
    assert_type(ctx.run_mutation(follow_up, path), int)
    assert_type(ctx.scheduler.run_after(minute, follow_up, path), JobId)
    ctx.scheduler.pool("emails").on_complete(sent, path).enqueue(send_email, path)

    ctx.scheduler.run_after(minute, unread, path)  # refused: mypy[arg-type] pyright[reportArgumentType]
    ctx.scheduler.pool("emails").enqueue(follow_up, path)  # refused: mypy[arg-type] pyright[reportArgumentType]
    ctx.run_mutation(follow_up)  # refused: mypy[call-arg] pyright[reportCallIssue]


@app.action  # refused: mypy[arg-type] pyright[reportArgumentType]
def action_in_a_thread_with_the_context_of_a_loop(ctx: ActionCtx) -> None: ...


# --- crons and intervals ---

app.cron("welcome", "0 0 9 * * *", welcome, "ann")
app.cron("report", "0 0 * * * *", build_report)
app.cron_tz("digest", "0 0 9 * * *", "Europe/Bucharest", follow_up, "ann", times=2)
app.interval("heartbeat", minute, resize_image, path="portrait.png")

app.cron("welcome", "0 0 9 * * *", welcome)  # refused: mypy[call-arg] pyright[reportCallIssue]
app.cron("welcome", "0 0 9 * * *", welcome, 1)  # refused: mypy[arg-type] pyright[reportArgumentType]
app.cron("report", "0 0 * * * *", build_report, "extra")  # refused: mypy[call-arg] pyright[reportCallIssue]
app.cron("unread", "0 0 9 * * *", unread, "ann")  # refused: mypy[arg-type] pyright[reportArgumentType]
app.cron_tz("unread", "0 0 9 * * *", "Asia/Tokyo", unread, "ann")  # refused: mypy[arg-type] pyright[reportArgumentType]
app.cron_tz("digest", "0 0 9 * * *", "Asia/Tokyo", follow_up)  # refused: mypy[call-arg] pyright[reportCallIssue]
app.interval("heartbeat", 30, resize_image, "portrait.png")  # refused: mypy[arg-type] pyright[reportArgumentType]
app.interval("heartbeat", minute, unread, "ann")  # refused: mypy[arg-type] pyright[reportArgumentType]
app.interval("heartbeat", minute, resize_image)  # refused: mypy[call-arg] pyright[reportCallIssue]


# --- from the program ---


async def program(when: datetime) -> None:
    assert_type(await app.run_query(unread, "ann"), list[str])
    assert_type(await app.run_mutation(signup, "ann"), JobId)
    assert_type(await app.run_action(send_email, "ann"), str)
    assert_type(await app.scheduler.run_at(when, follow_up, "ann"), JobId)
    async for texts in app.subscribe(unread, "ann"):
        assert_type(texts, list[str])

    await app.scheduler.run_at(when, unread, "ann")  # refused: mypy[arg-type] pyright[reportArgumentType]
    app.scheduler.run_at(when, follow_up, "ann")  # refused: mypy[unused-coroutine] pyright[reportUnusedCoroutine]
    app.subscribe(follow_up, "ann")  # refused: mypy[arg-type] pyright[reportArgumentType]


assert_type(app.call(unread, "ann"), list[str])
assert_type(app.call(signup, "ann"), JobId)
assert_type(app.call(send_email, "ann"), str)
app.call(unread)  # refused: mypy[call-arg] pyright[reportCallIssue]
app.call(signup, 1)  # refused: mypy[arg-type] pyright[reportArgumentType]
