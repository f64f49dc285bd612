"""The pytest plugin of `benchmarks.faults`: notes which test enters which line, or runs chosen
tests in a given order.

It notes when `FAULTS_RECORD` names a file for what it noted, and chooses when `FAULTS_TESTS` names
a file of test ids; the test that fails is written beside that, into a file that ends in `.failed`.
"""

from __future__ import annotations

import json
import os
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.faults_watch import CONTEXT


def pytest_configure(config: pytest.Config) -> None:
    if file := os.environ.get("FAULTS_RECORD"):
        config.pluginmanager.register(Record(Path(file)))
    if file := os.environ.get("FAULTS_TESTS"):
        config.pluginmanager.register(Choice(Path(file)))


class Record:
    """Names, for coverage.py, the test or the wide fixture that runs, and notes seconds, failures
    and users of fixtures.
    """

    def __init__(self, file: Path) -> None:
        self._file, self._context = file, ""
        self._caches: list[Callable[[], None]] = []
        self._modules = 0
        self.seconds: dict[str, float] = defaultdict(float)
        self.failed: set[str] = set()
        self.users: dict[str, list[str]] = defaultdict(list)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        for item in session.items:
            for definitions in getattr(item, "_fixtureinfo").name2fixturedefs.values():  # noqa: B009
                for definition in definitions:
                    if definition.scope != "function":
                        self.users[_name(definition)].append(item.nodeid)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._forget()
        self._enter(item.nodeid)
        try:
            return (yield)
        finally:
            self._enter("")

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Iterator[None]:
        if fixturedef.scope == "function":
            return (yield)
        before = self._context
        self._enter(_name(fixturedef))
        try:
            return (yield)
        finally:
            self._enter(before)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid] += report.duration
        if report.failed:
            self.failed.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        noted = {"seconds": self.seconds, "failed": sorted(self.failed), "users": self.users}
        self._file.write_text(json.dumps(noted), encoding="utf-8")

    def _enter(self, context: str) -> None:
        import coverage

        self._context = os.environ[CONTEXT] = context
        current = coverage.Coverage.current()
        if current is None:
            raise pytest.UsageError(
                "coverage.py did not start by itself: install version 7.11 or newer"
            )
        current.switch_context(context)

    def _forget(self) -> None:
        """Empty the memories of `sliders`, so that each test enters what it uses."""
        modules = [
            module
            for name, module in list(sys.modules.items())
            if name.partition(".")[0] == "sliders"
        ]
        if len(modules) != self._modules:
            self._modules = len(modules)
            values = [value for module in modules for value in vars(module).values()]
            self._caches = [
                value.cache_clear
                for value in values
                if callable(getattr(value, "cache_clear", None))
            ]
        for forget in self._caches:
            forget()


class Choice:
    """Keeps only the chosen tests, in the order in which they are named."""

    def __init__(self, file: Path) -> None:
        self._place = {
            name: place for place, name in enumerate(file.read_text(encoding="utf-8").splitlines())
        }
        self._failed = file.with_suffix(".failed")

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        left = [item for item in items if item.nodeid not in self._place]
        items[:] = sorted(
            (item for item in items if item.nodeid in self._place),
            key=lambda item: self._place[item.nodeid],
        )
        config.hook.pytest_deselected(items=left)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._failed.write_text(report.nodeid, encoding="utf-8")


def _name(definition: Any) -> str:
    """A fixture that several tests share, as a context of coverage.py."""
    return f"fixture {definition.baseid}::{definition.argname}"
