"""A running app whose files may not grow for a while, as on a full disk.

Takes commands on standard input and answers each with one line: `write` calls mutations until one
is refused, `limit` sets the size that no file may exceed, `lift` takes it away, `begin` starts an
action, `wait` waits for its end, `end` stops the app.
"""

import resource
import signal
import sys
from datetime import timedelta
from pathlib import Path

import anyio
import anyio.to_thread

from rxferrix_lab import ActionCtx, JobId, MutationCtx, RxFerrix, StoreUnavailableError

HEADROOM = 200_000
NOW = timedelta(0)


def make_app(path: Path) -> RxFerrix:
    """The app of this process, and of the test that looks at what is left."""
    app = RxFerrix(path)
    app.table("notes", "text VARCHAR")

    @app.mutation
    def note(ctx: MutationCtx, text: str) -> int:
        return ctx.db.insert("notes", {"text": text})

    @app.action
    async def act(ctx: ActionCtx) -> None:
        await ctx.sleep(timedelta(milliseconds=200))

    @app.mutation
    def begin(ctx: MutationCtx) -> JobId:
        return ctx.scheduler.run_after(NOW, act)

    return app


async def write_until_refused(app: RxFerrix, acknowledged: list[int]) -> str:
    """Write rows of 10 kB until the disk takes no more."""
    for number in range(1000):
        try:
            acknowledged.append(await app.run_mutation("note", f"{number}" * 5_000))
        except StoreUnavailableError:
            return f"refused after {len(acknowledged)}"
    return "never refused"


def limit(path: Path) -> None:
    """No file of this process grows further than a little beyond the log."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    log = Path(f"{path}.wal")
    size = max(path.stat().st_size, log.stat().st_size if log.exists() else 0)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + HEADROOM, resource.RLIM_INFINITY))


async def main(path: Path) -> None:
    """Do what the parent says."""
    app, acknowledged, jobs = make_app(path), list[int](), list[JobId]()
    async with app:
        while (command := (await anyio.to_thread.run_sync(sys.stdin.readline)).strip()) != "end":
            answer = "done"
            if command == "limit":
                limit(path)
            elif command == "lift":
                resource.setrlimit(
                    resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
                )
            elif command == "begin":
                jobs.append(await app.run_mutation("begin"))
            elif command == "write":
                answer = await write_until_refused(app, acknowledged)
            elif command == "wait":
                answer = type(await app.wait(jobs[-1])).__name__
            print(answer, flush=True)  # noqa: T201  # to the parent
    print(" ".join(map(str, acknowledged)), flush=True)  # noqa: T201  # to the parent


if __name__ == "__main__":
    anyio.run(main, Path(sys.argv[1]))
