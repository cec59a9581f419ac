"""The DuckDB file: opened, locked, kept small, read and written.

The only floor that knows SQL and duckdb. It decides no transition, reads no clock and is never
async.
"""
