"""%%ddptrain: a notebook cell that is a recipe.

    %%ddptrain [key=value ...] [--runs FOLDER] [--rank N[,N]] [--check] [--start NAME]

    key=value       changes the recipe, as on the command line
    --runs FOLDER   where run folders go: output.dir
    --rank 1,2      shows the last lines of these ranks' logs too
    --check         only checks the recipe
    --start NAME    does not wait: NAME becomes the handle (NAME.wait(), NAME.stop(), NAME.tail(5, rank=1), NAME.run)

Interrupting the cell finishes the step, saves and ends the run; a second interrupt ends it at once.
"""

import html
import re
import shlex
import sys
import time

from ._training import Training

REFRESH_SECONDS = 0.5
PLAIN_SECONDS = 10.0  # where nothing can be replaced: a terminal, or a converted notebook
SHOWN_LINES = 12
INTERRUPTED = (130, 143)
_PLACE = re.compile(r"^-:(\d+):(\d+): ")
_PERIOD = re.compile(r"^step \d+/\d+ ")


class CellError(Exception):
    """What a notebook shows in place of a traceback."""

    def _render_traceback_(self):
        return [str(self)]


class Options:
    """The words of the cell's first line."""

    def __init__(self, line):
        self.overrides, self.ranks, self.check, self.start = [], [], False, None
        words = shlex.split(line)
        while words:
            word = words.pop(0)
            if word == "--check":
                self.check = True
            elif word in ("--runs", "--rank", "--start"):
                if not words:
                    raise CellError(f"error: '{word}' needs a value")
                self.take(word, words.pop(0))
            elif word.startswith("-") or not re.search(r"[=~]", word):
                raise CellError(f"error: %%ddptrain has no option '{word}'; it has key=value, --runs FOLDER, "
                                "--rank N[,N], --check and --start NAME")
            else:
                self.overrides.append(word)

    def take(self, word, value):
        if word == "--runs":
            self.overrides.append(f"output.dir={value}")
        elif word == "--rank":
            if not re.fullmatch(r"\d+(,\d+)*", value):
                raise CellError(f"error: '--rank {value}' is not a list of ranks such as 0,1")
            self.ranks = [int(each) for each in value.split(",")]
        elif value.isidentifier():
            self.start = value
        else:
            raise CellError(f"error: '--start {value}' is not a name of Python")


def with_places(lines, cell):
    """Messages with "cell:LINE:COLUMN" for the recipe on stdin, and the line of the cell with a mark below. The recipe
    begins with the cell's first line as a comment, so that line numbers are those of the cell."""
    source = cell.split("\n")
    shown = []
    for line in lines:
        match = _PLACE.match(line)
        if not match:
            shown.append(re.sub("^-: ", "cell: ", line))
            continue
        number, column = int(match.group(1)), int(match.group(2))
        shown.append(f"cell:{number}:{column}: {line[match.end():]}")
        if 1 < number <= len(source) + 1:
            shown += [f"{number:5} | {source[number - 2]}", "      | " + " " * (column - 1) + "^"]
    return shown


class Screen:
    """What a cell shows while its run is running: replaced in place in a notebook, at most twice a second; elsewhere a
    line every ten seconds."""

    def __init__(self, shell):
        self.handle = None
        self.replaces = hasattr(shell, "kernel")
        self.shown, self.next_time = "", 0.0

    def update(self, text, now=False):
        clock = time.monotonic()
        if text == self.shown or (clock < self.next_time and not now):
            return
        self.next_time = clock + (REFRESH_SECONDS if self.replaces else PLAIN_SECONDS)
        if self.replaces:
            self.replace(text)
        else:
            print(text.rsplit("\n", 1)[-1], flush=True)
        self.shown = text

    def replace(self, text):
        from IPython.display import display

        data = {"text/plain": text, "text/html": f"<pre>{html.escape(text)}</pre>"}
        if self.handle is None:
            self.handle = display(data, raw=True, display_id=True)
        else:
            self.handle.update(data, raw=True)


def picture(lines, training, ranks):
    """The lines that tell of the run's state: messages, evaluations, the newest log period last; then logs of ranks."""
    periods = [line for line in lines if _PERIOD.match(line)]
    others = [line for line in lines if not _PERIOD.match(line)]
    left_out = len(others) - SHOWN_LINES
    head = [f"... {left_out} more lines in log.txt"] if left_out > 0 else []
    shown = head + others[-SHOWN_LINES:] + periods[-1:]
    for rank in ranks:
        shown += [f"-- rank {rank}", training.tail(SHOWN_LINES, rank=rank) or "(nothing yet)"]
    return "\n".join(shown)


def watch(training, options, screen):
    """Shows a run until it has ended; returns its exit code."""
    lines, seen, asked, answer = [], 0, False, False
    while True:
        try:
            screen.update(picture(lines, training, options.ranks), now=answer)
            answer = False
            running = training.running
            fresh, seen = training.new_lines(seen)
            lines = (lines + fresh)[-500:]
            if not running:
                code = training.wait()
                fresh, seen = training.new_lines(seen)
                screen.update(picture((lines + fresh)[-500:], training, options.ranks), now=True)
                return code
            time.sleep(0.1)
        except KeyboardInterrupt:
            training.interrupt()
            lines.append("interrupted again: ending at once" if asked
                         else "interrupted: finishing the step and saving; interrupt again to end at once")
            asked = answer = True


def show_end(training, code, cell):
    """The run's numbers and curves; an error with the places of the cell where there is one."""
    if code == 0 or (code in INTERRUPTED and training.run):
        from IPython.display import display

        if training.run:
            display(training.run)
        if code != 0:
            print(f"interrupted; to continue it: ddptrain resume {training.folder}")
        return
    raise CellError("\n".join(with_places(training.tail(60).split("\n"), cell)))


def shell_of_ipython():
    from IPython import get_ipython

    return get_ipython()


def train_cell(line, cell):
    """Registered as the cell magic %%ddptrain."""
    options = Options(line)
    text = f"# %%ddptrain {line}\n{cell}"
    if options.check:
        training = Training(["validate", "-", *options.overrides], text)
        code = training.wait()
        message = "\n".join(with_places(training.tail(200).split("\n"), cell))
        if code != 0:
            raise CellError(message)
        print(message)
        return
    training = Training(["run", "-", *options.overrides, "--color", "never"], text)
    shell = shell_of_ipython()
    if options.start:
        shell.user_ns[options.start] = training
        print(f"started; {options.start}.tail() shows its last lines, {options.start}.stop() saves and ends it")
        return
    sys.stdout.flush()
    show_end(training, watch(training, options, Screen(shell)), cell)


train_cell.__doc__ = __doc__
