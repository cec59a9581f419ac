"""Stored pools in step with the declared ones (contract 6.5)."""

from dataclasses import replace

from rxferrix_lab.domain.given import checked_text
from rxferrix_lab.domain.workpool import PoolRecord, Workpool, check_parallelism
from rxferrix_lab.engine.program import Program
from rxferrix_lab.errors import UnknownPoolError
from rxferrix_lab.storage.transaction import Transaction


def reconcile(transaction: Transaction, program: Program) -> None:
    """Take over declared sizes that changed; a size set by an operator outlives a restart."""
    stored = transaction.pools()
    for pool in program.pools.values():
        kept = _declared_again(stored.get(pool.name), pool)
        if kept != stored.get(pool.name):
            transaction.save_pool(pool.name, kept)
    if program.is_interactive:  # a cell may declare it again
        return
    for name in stored.keys() - program.pools.keys():
        if not transaction.jobs_where(pool=name):
            transaction.save_pool(name, None)


def _declared_again(stored: PoolRecord | None, pool: Workpool) -> PoolRecord:
    declared = pool.max_parallelism
    if stored is None or stored.declared_parallelism != declared:
        return PoolRecord(pool.name, declared, declared, pool.retries)
    return replace(stored, retries=pool.retries)


def resize(transaction: Transaction, name: str, max_parallelism: int) -> None:
    """Give the pool another number of slots.

    Raises:
        UnknownPoolError: if there is no such pool.
        ValueError: for a number outside 0 to 100,000.
    """
    check_parallelism(max_parallelism)
    pools = transaction.pools()
    if checked_text(name, "a pool's name") not in pools:
        raise UnknownPoolError(name, sorted(pools))
    transaction.save_pool(name, replace(pools[name], max_parallelism=max_parallelism))
