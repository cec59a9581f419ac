"""Both type checkers refuse exactly the marked lines of `typing/contract.py`.

A mark names the code that each checker must give, so a line refused for another reason (a name
that was renamed, say) is noticed, and so is one that is no longer refused.
"""

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

Refusals = Mapping[int, frozenset[str]]  # the codes given for each line that was refused

CONTRACT = "tests/typing/contract.py"
MARK = re.compile(r"# refused: mypy\[(?P<mypy>[\w-]+)\] pyright\[(?P<pyright>\w+)\]$")


def marked(checkout: Path, checker: str) -> Refusals:
    lines = (checkout / CONTRACT).read_text().splitlines()
    marks = ((number, MARK.search(line)) for number, line in enumerate(lines, start=1))
    return {number: frozenset({mark[checker]}) for number, mark in marks if mark}


def by_line(found: Iterator[tuple[int, str]]) -> Refusals:
    lines: dict[int, frozenset[str]] = {}
    for line, code in found:
        lines[line] = lines.get(line, frozenset()) | {code}
    return lines


def run(command: list[str], folder: Path) -> str:
    """What a checker printed; one that could not run at all exits with 2 or more."""
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode in {0, 1}, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def mypy(checkout: Path) -> Refusals:
    reports = map(json.loads, run(["mypy", "--output=json", CONTRACT], checkout).splitlines())
    own = (each for each in reports if each["file"] == CONTRACT and each["severity"] == "error")
    return by_line((each["line"], each["code"]) for each in own)


@pytest.fixture(scope="module")
def pyright(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Refusals:
    # Named on the command line, the file would be left out: the project's settings exclude it.
    folder = tmp_path_factory.mktemp("pyright")
    project = {
        "include": [str(checkout / CONTRACT)],
        "extraPaths": [str(checkout)],
        "typeCheckingMode": "strict",
        "pythonVersion": "3.11",
    }
    (folder / "pyrightconfig.json").write_text(json.dumps(project))
    command = ["basedpyright", "--outputjson", "--project", str(folder)]
    report = json.loads(run([*command, "--pythonpath", sys.executable], checkout))
    found = [each for each in report["generalDiagnostics"] if each["severity"] == "error"]
    return by_line((each["range"]["start"]["line"] + 1, each["rule"]) for each in found)


@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_checker_refuses_exactly_the_marked_lines(
    checker: str, checkout: Path, request: pytest.FixtureRequest
) -> None:
    refused: Refusals = request.getfixturevalue(checker)
    marks = marked(checkout, checker)

    # One mistake may have two codes, which a checker sees as two; the marked one must be there.
    assert {line: codes & marks.get(line, codes) for line, codes in refused.items()} == marks


def test_contract_marks_every_kind_of_refusal(checkout: Path) -> None:
    codes = frozenset[str]().union(*marked(checkout, "mypy").values())

    assert codes == {"arg-type", "call-arg", "deprecated", "type-var", "unused-coroutine"}


def test_every_mark_is_readable(checkout: Path) -> None:
    source = (checkout / CONTRACT).read_text()
    mentioned = [line for line in source.splitlines() if "# refused:" in line and "`" not in line]

    assert len(mentioned) == len(marked(checkout, "mypy"))
