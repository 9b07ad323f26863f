"""A run that was started from Python: the program as a child process, and a handle to it."""

import collections
import json
import os
import re
import signal
import subprocess
import threading

from . import _program
from ._runs import Run, lines_of

KEPT_LINES = 2000
_RUN_FOLDER = re.compile(r"run folder (.+)$")


class RunFailed(RuntimeError):
    """The program ended with another exit code than 0; its messages."""

    def __init__(self, code, messages):
        super().__init__(f"ddptrain ended with exit code {code}\n{messages}")
        self.code = code
        self.messages = messages


def as_yaml(value):
    """A value of an override. Text stays as it is, as on the command line: "2 epochs", "1e-3", "[a, b]"."""
    return value if isinstance(value, str) else json.dumps(value)


def override_words(overrides, prefix=""):
    """{"train": {"duration": "2 epochs"}, "optimizer.lr": 0.1} as the words of a command line."""
    words = []
    for name, value in overrides.items():
        if isinstance(value, dict):
            words += override_words(value, f"{prefix}{name}.")
        else:
            words.append(f"{prefix}{name}={as_yaml(value)}")
    return words


def recipe_input(recipe):
    """(word of the command line, text for stdin or None)."""
    if isinstance(recipe, dict):
        return "-", json.dumps(recipe)
    if isinstance(recipe, str) and "\n" in recipe:
        return "-", recipe
    return os.fspath(recipe), None


class Training:
    """A started run. `folder` is None until the program has made one."""

    def __init__(self, words, text=None, cwd=None, program=None):
        self.cwd = os.path.abspath(cwd or os.curdir)
        self.folder = None
        self.command = ["ddptrain", *words]
        self._lines = collections.deque(maxlen=KEPT_LINES)
        self._count = 0
        self._lock = threading.Lock()
        # A session of its own: an interrupt of the notebook reaches it once, through stop().
        self._process = subprocess.Popen(self.command, executable=program or _program.program(), cwd=self.cwd,
                                         env=_program.environment(), text=True, encoding="utf-8", errors="replace",
                                         start_new_session=True,
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        try:
            with self._process.stdin as stdin:
                stdin.write(text or "")
        except BrokenPipeError:  # it ended at once, and says why
            pass

    def _read(self):
        with self._process.stdout as output:
            for line in output:
                self._add(line.rstrip("\n"))

    def _add(self, line):
        found = _RUN_FOLDER.search(line)
        with self._lock:
            self._lines.append(line)
            self._count += 1
            if found and self.folder is None:
                self.folder = os.path.join(self.cwd, found.group(1))

    def new_lines(self, seen):
        """(lines after the first `seen` that are still kept, how many there were by now)."""
        with self._lock:
            fresh = min(self._count - seen, len(self._lines))
            return (list(self._lines)[-fresh:] if fresh else []), self._count

    @property
    def running(self):
        return self._process.poll() is None

    @property
    def pid(self):
        return self._process.pid

    def wait(self, timeout=None):
        """The exit code; subprocess.TimeoutExpired after `timeout` seconds."""
        code = self._process.wait(timeout)
        self._reader.join()
        return code if code >= 0 else 128 - code  # of a signal, as a shell has it

    def result(self, timeout=None):
        """The Run, when it has ended; raises RunFailed with the program's messages."""
        code = self.wait(timeout)
        if code != 0:
            raise RunFailed(code, self.tail(40))
        return self.run

    def stop(self, timeout=None):
        """Finishes the step, saves and ends, as the first Ctrl-C does; a second call ends at once. Returns the exit code,
        or None if it has not ended after `timeout` seconds (None: waits)."""
        self.interrupt()
        try:
            return self.wait(timeout)
        except subprocess.TimeoutExpired:
            return None

    def interrupt(self):
        """Sends the interrupt and does not wait."""
        if self.running:
            self._process.send_signal(signal.SIGINT)

    @property
    def run(self):
        """The Run of its folder; None before there is one."""
        ready = self.folder and os.path.exists(os.path.join(self.folder, "run.json"))
        return Run(self.folder) if ready else None

    @property
    def metrics(self):
        """A row per evaluation so far."""
        return self.run.metrics if self.run else []

    def tail(self, lines=10, rank=None):
        """The last lines of what the program wrote, or of a rank's log."""
        if rank is None:
            return "\n".join(list(self._lines)[-lines:])
        if not self.folder:
            return ""
        name = "log.txt" if rank == 0 else f"log.rank{rank}.txt"
        return "\n".join(lines_of(os.path.join(self.folder, name))[-lines:])

    def __repr__(self):
        state = "running" if self.running else f"ended with exit code {self.wait()}"
        return f"<ddptrain.Training {self.folder or ' '.join(self.command)}: {state}>"


def run(recipe, *, arguments=(), cwd=None, program=None, **overrides):
    """Starts `ddptrain run` and returns a Training at once.

    recipe      a path, a recipe's text (of several lines) or a dict
    arguments   more words of the command line, such as ["--auto-resume"]
    cwd         the folder that paths of the command line and of a recipe's text are relative to
    overrides   keys of the recipe: run(r, seed=7, optimizer={"lr": 0.1}, **{"train.duration": "2 epochs"})
    """
    word, text = recipe_input(recipe)
    return Training(["run", word, *override_words(overrides), *arguments], text, cwd, program)
