"""A check, its result, and what all checks share: the program, its data, the time of a slot."""
import dataclasses
import json
import os
import subprocess
import time

SLOT_SECONDS = 480


class Skip(Exception):
    """This check has no meaning here; the text says why."""


class Failure(Exception):
    """What was found and what was expected."""


@dataclasses.dataclass
class Result:
    slot: int
    check: str
    status: str  # passed, failed or skipped
    figure: str = ""
    reason: str = ""
    seconds: float = 0


@dataclasses.dataclass
class Ended:
    code: int  # 128 + n for signal n, as in a shell
    out: str
    err: str
    seconds: float


def expect(holds, text):
    if not holds:
        raise Failure(text)


def last_lines(text, count=4):
    return " | ".join(line for line in text.strip().splitlines()[-count:])


class Bench:
    """Where the checks run. `device` is cuda or simulated, `work` an empty folder."""

    def __init__(self, options, work):
        self.device = options.device
        self.program = os.path.abspath(options.program)
        self.tests = os.path.abspath(options.tests)
        self.root = options.root  # holds recipes/, configs/ and bench/
        self.work = work
        self.data = os.path.join(work, "data")
        self.deadline = time.monotonic() + SLOT_SECONDS
        self.parallel = 1 if options.device == "simulated" else max(1, min(4, (os.cpu_count() or 1) // 4))
        self.variables = dict(os.environ, DDPTRAIN_DATA=self.data)
        if options.device == "simulated":
            plugin = os.path.join(os.path.dirname(self.program), "libddptrain_simulated.so")
            self.variables.setdefault("DDPTRAIN_SIMULATED_DEVICE", plugin)

    @property
    def on_cuda(self):
        return self.device == "cuda"

    def cuda_only(self, why):
        if not self.on_cuda:
            raise Skip(why)

    def left(self):
        return self.deadline - time.monotonic()

    def folder(self, name):
        path = os.path.join(self.work, name)
        os.makedirs(path, exist_ok=True)
        return path

    def start(self, words, **more):
        """The program with these words, started: the caller waits or kills."""
        return subprocess.Popen([self.program, *words], cwd=self.work, env={**self.variables, **more},
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                errors="replace", start_new_session=True)

    def wait(self, process, limit):
        begun = time.monotonic()
        try:
            out, err = process.communicate(timeout=max(1, min(limit, self.left())))
        except subprocess.TimeoutExpired:
            kill_group(process)
            out, err = process.communicate()
            raise Failure(f"no end after {time.monotonic() - begun:.0f} s: {last_lines(err)}") from None
        code = process.returncode if process.returncode >= 0 else 128 - process.returncode
        return Ended(code, out, err, time.monotonic() - begun)

    def run(self, words, limit=120, code=0, **more):
        """The program to its end, which must have this exit code (None: any)."""
        if self.left() < 1:
            raise Failure(f"the slot's {SLOT_SECONDS} s are over")
        ended = self.wait(self.start(words, **more), limit)
        expect(code is None or ended.code == code, f"exit code {ended.code}, not {code}: {last_lines(ended.err)}")
        return ended


def kill_group(process):
    try:
        os.killpg(process.pid, 9)
    except ProcessLookupError:
        pass


def events_of(run, kind):
    with open(os.path.join(run, "events.jsonl"), encoding="utf-8") as file:
        return [event for event in map(json.loads, file) if event["event"] == kind]


def losses_of(run):
    return [event["train/loss"] for event in events_of(run, "step")]


def checkpoints_of(run):
    folder = os.path.join(run, "checkpoints")
    return [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.startswith("step-")]
