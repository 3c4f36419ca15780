"""Change a module in many small ways, and see which changes its tests do not notice.

    python scripts/mutate.py syntax/ancestors.py --tests tests/syntax
    python scripts/mutate.py outputs.py --tests tests/test_base_modules.py --sample 100

Each change (a mutant) is one of: another operator or comparison, a condition negated, a number plus
one, a text or flag changed, `min` for `max`, `set` for `Counter`, a statement left out, `None`
returned. A mutant is killed if a test fails or hangs. The survivors are listed with their lines:
each is a gap in the tests, or equivalent to the original. Error messages and annotations are not
changed.

The tests are collected once. For each mutant a process is forked, the code of the functions is
replaced in it, and those tests run that call the changed function, the quickest first. No file is
changed. Processes that the tests start themselves run the original code. Needs `os.fork`.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import json
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import FrameType, FunctionType, ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "syntagma"
IMPORT = "<module>"
"""Place of changes to what runs when the module is imported."""
OPERATORS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.Add, ast.Pow: ast.Mult, ast.MatMult: ast.Add,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitAnd,
    ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
NAMES = {
    "min": "max", "max": "min", "any": "all", "all": "any", "argmax": "argmin", "argmin": "argmax",
    "amax": "amin", "minimum": "maximum", "maximum": "minimum", "Counter": "set", "cumsum": "abs",
}  # fmt: skip

Change = tuple[ast.AST, str, Callable[[], None]]
"""A node to change, what is changed, and the function that does it."""


def changes(tree: ast.AST) -> Iterator[Change]:
    """Yield the changes of a tree, always in the same order."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Raise | ast.JoinedStr | ast.Import | ast.ImportFrom):
            continue
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):  # a docstring
            continue
        yield from _changes_of(node)
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list", "type_params"):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from _inside(node, child)


def _inside(parent: ast.AST, child: ast.AST) -> Iterator[Change]:
    holder = ast.Module([child], [])  # type: ignore[list-item]
    yield from changes(holder)
    if isinstance(child, ast.stmt) and _can_be_left_out(child):
        for _, value in ast.iter_fields(parent):
            if isinstance(value, list) and child in value:
                place = value.index(child)
                blank = ast.copy_location(ast.Pass(), child)
                yield child, "left out", partial(value.__setitem__, place, blank)


def _can_be_left_out(node: ast.stmt) -> bool:
    if isinstance(node, ast.Expr):
        return not isinstance(node.value, ast.Constant)
    return isinstance(node, ast.AugAssign | ast.Assign | ast.Continue | ast.Break | ast.Delete)


def _changes_of(node: ast.AST) -> Iterator[Change]:
    for name in ("op", "ops"):
        value = getattr(node, name, None)
        if isinstance(value, list):
            if type(value[0]) in OPERATORS:
                new = OPERATORS[type(value[0])]
                yield node, new.__name__, partial(value.__setitem__, 0, new())
        elif type(value) in OPERATORS:
            other = OPERATORS[type(value)]
            yield node, other.__name__, partial(setattr, node, "op", other())
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub | ast.Invert):
        same = ast.UAdd() if not isinstance(node.op, ast.Not) else None
        if same is not None and not isinstance(node.op, ast.Invert):
            yield node, "sign dropped", lambda: setattr(node, "op", same)
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        negated = ast.copy_location(ast.UnaryOp(ast.Not(), node.test), node.test)
        yield node, "condition negated", lambda: setattr(node, "test", negated)
    if isinstance(node, ast.comprehension) and node.ifs:
        yield node.ifs[0], "filter dropped", lambda: setattr(node, "ifs", [])
    if isinstance(node, ast.Return) and node.value is not None:
        none = ast.copy_location(ast.Constant(None), node.value)
        yield node, "None returned", lambda: setattr(node, "value", none)
    if isinstance(node, ast.Constant):
        yield from _other_constant(node)
    for field in ("id", "attr"):
        if (new_name := NAMES.get(getattr(node, field, ""))) is not None:
            yield node, new_name, partial(setattr, node, field, new_name)


def _other_constant(node: ast.Constant) -> Iterator[Change]:
    value = node.value
    if isinstance(value, bool):
        yield node, str(not value), lambda: setattr(node, "value", not value)
    elif isinstance(value, int | float):
        yield node, f"{value + 1}", lambda: setattr(node, "value", value + 1)
    elif isinstance(value, str) and "\n" not in value and " " not in value:
        yield node, f"{value + 'XX'!r}", lambda: setattr(node, "value", value + "XX")


def places(tree: ast.Module) -> dict[int, str]:
    """Map the id of each node to the name of the function or method that it is in."""
    found: dict[int, str] = {}

    def visit(node: ast.AST, names: tuple[str, ...], function: str) -> None:
        found[id(node)] = function
        is_function = isinstance(node, ast.FunctionDef)
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names = (*names, node.name)
        for name, value in ast.iter_fields(node):
            is_body = is_function and name == "body" and function == IMPORT
            inner = ".".join(names) if is_body else function
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    visit(child, names, inner)

    visit(tree, (), IMPORT)
    return found


def mutant(source: str, number: int) -> tuple[str, str, ast.Module]:
    """The description of a change, the function that it is in, and the changed tree."""
    tree = ast.parse(source)
    place = places(tree)
    for index, (node, what, change) in enumerate(changes(tree)):
        if index == number:
            shown = ast.unparse(node).splitlines()[0][:70]
            change()
            at = f"{getattr(node, 'lineno', 0)}: `{shown}`: {what}"
            return at, place.get(id(node), IMPORT), ast.fix_missing_locations(tree)
    raise IndexError(number)


def replace_code(module: ModuleType, tree: ast.Module) -> None:
    """Run the changed module, and put its code and values into the one that is imported."""
    assert module.__file__ is not None
    new = ModuleType(module.__name__)
    new.__file__ = module.__file__
    # Dataclasses look their module up by name.
    sys.modules[module.__name__] = new
    try:
        exec(compile(tree, module.__file__, "exec", dont_inherit=True), new.__dict__)
    finally:
        sys.modules[module.__name__] = module
    for name, value in vars(new).items():
        old = vars(module).get(name)
        if name.startswith("__") or getattr(value, "__module__", module.__name__) != new.__name__:
            continue
        if isinstance(old, type) and isinstance(value, type):
            for key, attribute in vars(value).items():
                _replace(old, key, vars(old).get(key), attribute)
        else:
            for holder in [*sys.modules.values()]:
                if old is not None and getattr(holder, "__dict__", {}).get(name) is old:
                    _replace(holder, name, old, value)


def _replace(holder: Any, name: str, old: Any, new: Any) -> None:
    functions = [_function(value) for value in (old, new)]
    if functions[0] is not None and functions[1] is not None:
        functions[0].__code__ = functions[1].__code__
        functions[0].__defaults__ = functions[1].__defaults__
        functions[0].__kwdefaults__ = functions[1].__kwdefaults__
    elif not (name.startswith("__") and name.endswith("__")) and functions == [None, None]:
        with suppress(AttributeError, TypeError):
            setattr(holder, name, new)


def _function(value: Any) -> FunctionType | None:
    """The function inside a method, property, cache or context manager."""
    for name in ("__func__", "fget", "func"):
        value = getattr(value, name, value) if not isinstance(value, FunctionType) else value
    while hasattr(value, "__wrapped__"):
        value = value.__wrapped__
    return value if isinstance(value, FunctionType) else None


class Mutants:
    """A plugin of pytest: runs mutants in place of the collected tests.

    Args:
        path: of the module.
        asked: the options of the command line.
    """

    def __init__(self, path: Path, asked: argparse.Namespace) -> None:
        self.path, self.asked = path, asked
        self.source = path.read_text(encoding="utf-8")
        self.seconds: dict[str, float] = {}
        self.called: dict[str, list[str]] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run the tests once unchanged, then those that reach each mutant."""
        with tempfile.TemporaryDirectory() as folder:
            record = Path(folder) / "record.json"
            _, status = os.waitpid(_fork(lambda: self._record(session, record)), 0)
            if status:
                sys.exit("the tests fail without any change; mend them first")
            self.seconds, self.called = json.loads(record.read_text())
        name = ".".join([PACKAGE, *Path(self.asked.module).with_suffix("").parts])
        module = importlib.import_module(name)
        n_all = sum(1 for _ in changes(ast.parse(self.source)))
        numbers = list(range(n_all))
        if self.asked.sample is not None and self.asked.sample < n_all:
            numbers = sorted(random.Random(self.asked.seed).sample(numbers, self.asked.sample))
        _say(f"{self.asked.module}: {len(numbers)} of {n_all} mutants")
        survivors = self._run_all(session, module, numbers)
        killed = len(numbers) - len(survivors)
        _say(f"{self.asked.module}: killed {killed} of {len(numbers)}, {killed / len(numbers):.0%}")
        return True

    def _record(self, session: pytest.Session, record: Path) -> int:
        """Run the tests unchanged; write their seconds, and the functions that each calls."""
        seconds, called = {}, {}
        for item in session.items:
            names: set[str] = set()

            def trace(frame: FrameType, *_: object, names: set[str] = names) -> None:
                if frame.f_code.co_filename == str(self.path):
                    names.add(frame.f_code.co_qualname.partition(".<locals>")[0])

            threading.settrace(trace)
            sys.settrace(trace)
            begin = time.monotonic()
            failed = _run(session, [item])
            sys.settrace(None)
            if failed:
                return 1
            seconds[item.nodeid], called[item.nodeid] = time.monotonic() - begin, [*names]
        record.write_text(json.dumps([seconds, called]))
        return 0

    def _run_all(
        self, session: pytest.Session, module: ModuleType, numbers: list[int]
    ) -> list[str]:
        running: dict[int, tuple[str, float]] = {}
        survivors, waiting = [], list(reversed(numbers))
        while waiting or running:
            while waiting and len(running) < self.asked.processes:
                what, function, tree = mutant(self.source, waiting.pop())
                items = self._items(session, function)
                limit = 30 + 10 * sum(self.seconds[item.nodeid] for item in items)

                def work(tree: ast.Module = tree, items: list[pytest.Item] = items) -> int:
                    replace_code(module, tree)
                    return int(_run(session, items))

                running[_fork(work)] = f"{function} {what}", time.monotonic() + limit
            for process, (what, deadline) in list(running.items()):
                ended, status = os.waitpid(process, os.WNOHANG)
                if not ended and time.monotonic() < deadline:
                    continue
                # What the tests started must not outlive them.
                with suppress(ProcessLookupError):
                    os.killpg(process, signal.SIGKILL)
                if not ended:
                    os.waitpid(process, 0)
                elif status == 0:
                    survivors.append(what)
                    _say(f"  survived  {what}")
                elif os.waitstatus_to_exitcode(status) != 1:
                    _say(f"  crashed   {what}")
                del running[process]
            time.sleep(0.02)
        return survivors

    def _items(self, session: pytest.Session, function: str) -> list[pytest.Item]:
        """The tests that call a function, the quickest first."""
        items = [
            item
            for item in session.items
            if function in self.called[item.nodeid]
            or (function == IMPORT and self.called[item.nodeid])
        ]
        return sorted(items, key=lambda item: self.seconds[item.nodeid])


def _run(session: pytest.Session, items: list[pytest.Item]) -> bool:
    """Run tests until one fails; whether one did."""
    for item, following in zip(items, [*items[1:], None], strict=True):
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if session.testsfailed:
            return True
    return False


def _fork(work: Callable[[], int]) -> int:
    """Run a function in a forked, silent process with its own group; the process id."""
    process = os.fork()
    if process == 0:
        status = 3
        try:
            os.setsid()
            silent = os.open(os.devnull, os.O_WRONLY)
            for stream in (1, 2):
                os.dup2(silent, stream)
            status = work()
        finally:
            os._exit(status)
    return process


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def main() -> None:
    """Parse the command line, collect the tests and run the mutants."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("module", help="path below src/syntagma")
    parser.add_argument("--tests", nargs="+", required=True)
    parser.add_argument("--sample", type=int, help="so many mutants, chosen at random")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT))
    os.environ["OMP_NUM_THREADS"] = "1"
    mutants = Mutants(ROOT / "src" / PACKAGE / asked.module, asked)
    options = ["-q", "-s", "-p", "no:cacheprovider", *asked.tests]
    sys.exit(pytest.main(options, plugins=[mutants]))


if __name__ == "__main__":
    main()
