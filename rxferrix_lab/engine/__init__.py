"""The engine: takes due jobs, runs them, records what became of them.

Knows the program only by `program.Program`; knows no decorator, no context and no screen.
"""
