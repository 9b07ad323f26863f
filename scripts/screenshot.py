"""Runs the commands below on a terminal in FOLDER and draws what stands there in the end.

    screenshot.py FOLDER PICTURE.svg
"""

import fcntl
import io
import os
import pty
import struct
import subprocess
import sys
import termios

import pyte
from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.style import Style
from rich.terminal_theme import MONOKAI
from rich.text import Text

COLUMNS, ROWS = 106, 200
COMMANDS = [
    "ddptrain run configs/quickstart.yaml parallel.mode=ddpp",
    "ddptrain run configs/quickstart.yaml eval.every='4 epochs' checkpoint.every='4 epochs'",
]


def shown(command, folder, stream):
    """Runs `command` on a terminal of its own and feeds what it writes to `stream`."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, COLUMNS, 0, 0))
    process = subprocess.Popen(
        ["bash", "-c", command], cwd=folder, stdin=theirs, stdout=theirs, stderr=theirs,
        env={**os.environ, "TERM": "xterm-256color"}, start_new_session=True)
    os.close(theirs)
    while True:
        try:
            data = os.read(ours, 65536)
        except OSError:  # the other side is closed
            break
        if not data:
            break
        stream.feed(data)
    process.wait()
    os.close(ours)


def color(name):
    names = {"brown": "yellow"}  # pyte's word
    if name == "default":
        return None
    if len(name) == 6 and all(c in "0123456789abcdef" for c in name):
        return "#" + name
    return names.get(name, name)


def line(cells):
    text = Text()
    for column in range(COLUMNS):
        cell = cells[column]
        text.append(cell.data, Style(color=color(cell.fg), bold=cell.bold, italic=cell.italics))
    text.rstrip()
    return text


def main(folder, picture):
    screen = pyte.Screen(COLUMNS, ROWS)
    stream = pyte.ByteStream(screen)
    for command in COMMANDS:
        stream.feed(b"\x1b[1;32m$\x1b[0m " + command.encode() + b"\r\n")
        shown(command, folder, stream)
    lines = [line(screen.buffer[row]) for row in range(screen.cursor.y)]
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), legacy_windows=False)
    for each in lines:
        console.print(each, soft_wrap=True)
    # Fonts of the reader's machine: a document of ours fetches nothing.
    start = CONSOLE_SVG_FORMAT.index("    @font-face")
    end = CONSOLE_SVG_FORMAT.index("    .{unique_id}-matrix")
    form = CONSOLE_SVG_FORMAT[:start] + CONSOLE_SVG_FORMAT[end:]
    console.save_svg(picture, title="ddptrain", theme=MONOKAI, code_format=form, unique_id="t")


main(*sys.argv[1:])
