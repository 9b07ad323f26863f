"""The cell magic in a real Jupyter kernel.

    python3 notebook_test.py VENV    with DDPTRAIN_PROGRAM and PYTHONPATH; ipykernel comes from PyPI into VENV
"""

import json
import os
import pathlib
import queue
import subprocess
import sys
import tempfile
import time
import unittest

SKIPPED = 77
TIMEOUT = 300
RECIPE = (pathlib.Path(__file__).parent / "small.yaml").read_text()


def enter(venv):
    """Goes on in an environment that has ipykernel, which is made if it is missing."""
    python = os.path.join(venv, "bin", "python")
    if os.path.realpath(sys.prefix) == os.path.realpath(venv):
        return
    if subprocess.run([python, "-c", "import ipykernel, jupyter_client"], stderr=subprocess.DEVNULL).returncode \
            if os.path.exists(python) else True:
        for command in ([sys.executable, "-m", "venv", "--clear", venv],
                        [python, "-m", "pip", "install", "--quiet", "ipykernel", "jupyter_client"]):
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.returncode != 0:
                print(f"skipped: {' '.join(command)} ended with {done.returncode}\n{done.stdout[-500:]}")
                sys.exit(SKIPPED)
    os.execv(python, [python, "-B", *sys.argv])


class Shown:
    """What a cell showed: its reply, text of both streams, and the texts of displays, in their order."""

    def __init__(self):
        self.reply, self.stream, self.displays, self.updates, self.error = None, "", [], 0, ""

    @property
    def text(self):
        return "\n".join([self.stream, *self.displays, self.error])


class Notebook(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        from jupyter_client.manager import start_new_kernel

        home = tempfile.TemporaryDirectory()
        cls.addClassCleanup(home.cleanup)
        cls.home = pathlib.Path(home.name)
        (cls.home / "bin").mkdir()
        (cls.home / "bin/ddptrain").symlink_to(os.environ["DDPTRAIN_PROGRAM"])
        environment = {**os.environ, "PATH": f"{cls.home}/bin:{os.environ['PATH']}"}
        subprocess.run(["ddptrain", "data", "make", "shapes", "shapes", "--train", "4", "--val", "2"], env=environment,
                       cwd=cls.home, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        cls.manager, cls.client = start_new_kernel(kernel_name="python3", env=environment, cwd=home.name)
        cls.addClassCleanup(cls.manager.shutdown_kernel, now=True)
        cls.addClassCleanup(cls.client.stop_channels)
        reply = cls("cell").cell("%load_ext ddptrain")
        if reply.reply["status"] != "ok":
            raise AssertionError(reply.text)

    def cell(self, code="", while_it_runs=None):
        message = self.client.execute(code)
        shown = Shown()
        end = time.monotonic() + TIMEOUT
        while True:
            if while_it_runs and while_it_runs():
                while_it_runs = None
            try:
                got = self.client.get_iopub_msg(timeout=0.2)
            except queue.Empty:
                self.assertLess(time.monotonic(), end, "the cell does not end: " + shown.text)
                continue
            if got["parent_header"].get("msg_id") != message:
                continue
            kind, content = got["msg_type"], got["content"]
            if kind == "stream":
                shown.stream += content["text"]
            elif kind in ("display_data", "update_display_data"):
                shown.updates += kind == "update_display_data"
                shown.displays.append(content["data"].get("text/plain", ""))
            elif kind == "error":
                shown.error = "\n".join(content["traceback"])
            elif kind == "status" and content["execution_state"] == "idle":
                break
        shown.reply = self.reply_to(message)
        return shown

    def reply_to(self, message):
        """Not just the next one: a slow kernel answers every request that waited for its start."""
        while True:
            got = self.client.get_shell_msg(timeout=TIMEOUT)
            if got["parent_header"].get("msg_id") == message:
                return got["content"]

    def run_of(self, name):
        runs = sorted((self.home / name / "small").glob("[0-9]*"))
        return json.loads((runs[-1] / "run.json").read_text()), runs[-1]

    def test_a_cell_is_a_recipe(self):
        shown = self.cell(f"%%ddptrain seed=7 --runs plain\n{RECIPE}")
        self.assertEqual(shown.reply["status"], "ok", shown.text)
        record, folder = self.run_of("plain")
        self.assertEqual((record["result"], record["seed"]), ("done", 7))
        self.assertIn(f"<ddptrain.Run {folder.resolve()}: done", shown.text)
        self.assertIn("step 4/4", shown.text)

    def test_a_mistake_names_the_line_of_the_cell(self):
        code = f"%%ddptrain --runs mistake\n{RECIPE}".replace("lr: 0.1", "lrr: 0.1")
        number = next(i for i, line in enumerate(code.split("\n"), 1) if "lrr" in line)
        line = code.split("\n")[number - 1]
        shown = self.cell(code)
        self.assertEqual(shown.reply["status"], "error")
        place = f"cell:{number}:{line.index('lrr') + 1}: error[unknown-key]: optimizer: 'lrr' is not an option of 'sgd'"
        self.assertIn(place, shown.error)
        self.assertIn(f"{number:5} | {line}\n      | {' ' * line.index('lrr')}^", shown.error)
        self.assertNotIn("Traceback", shown.text)
        self.assertFalse((self.home / "mistake").exists())

    def test_check_starts_nothing(self):
        shown = self.cell(f"%%ddptrain --check --runs checked\n{RECIPE}")
        self.assertEqual((shown.reply["status"], shown.stream), ("ok", "cell: good\n"))
        self.assertFalse((self.home / "checked").exists())
        self.assertEqual(self.cell(f"%%ddptrain --check optimizer.lr=-1\n{RECIPE}").reply["status"], "error")

    def test_an_unknown_word_is_refused(self):
        shown = self.cell(f"%%ddptrain --rnk 1\n{RECIPE}")
        self.assertIn("error: %%ddptrain has no option '--rnk'; it has key=value, --runs FOLDER,", shown.error)

    def test_progress_is_live_and_bounded(self):
        begin = time.monotonic()
        shown = self.cell(f"%%ddptrain train.duration='2000 steps' eval.every='2000 steps' --runs many\n{RECIPE}")
        seconds = time.monotonic() - begin
        self.assertEqual(shown.reply["status"], "ok", shown.text)
        self.assertLessEqual(shown.updates, 2 * seconds + 3)
        self.assertLess(len(shown.text), 2000 * (2 * seconds + 3), "2000 log lines are not all in the notebook")
        self.assertIn("step 2000/2000", shown.displays[-2])

    def test_interrupt_saves_and_stops(self):
        def interrupt():
            found = list((self.home / "long/small").glob("001/events.jsonl"))
            if not found or '"step"' not in found[0].read_text():
                return False
            self.manager.interrupt_kernel()
            return True

        shown = self.cell(f"%%ddptrain train.duration='1000000 steps' eval.every='1000000 steps' --runs long\n{RECIPE}", interrupt)
        self.assertEqual(shown.reply["status"], "ok", shown.text)
        record, folder = self.run_of("long")
        self.assertEqual((record["result"], record["exit_code"]), ("interrupted", 130))
        self.assertTrue(list((folder / "checkpoints").glob("step-*")))
        self.assertIn("interrupted: finishing the step and saving", shown.text)
        self.assertIn("interrupted; to continue it: ddptrain resume ", shown.stream)

    def test_a_rank_can_be_watched(self):
        shown = self.cell(f"%%ddptrain --rank 1 --runs ranks\n{RECIPE}parallel: {{mode: ddp, devices: 2}}\n")
        self.assertEqual(shown.reply["status"], "ok", shown.text)
        log = (self.run_of("ranks")[1] / "log.rank1.txt").read_text().strip().split("\n")
        self.assertIn("-- rank 1\n", shown.displays[-2])
        self.assertIn(log[-1], shown.displays[-2])

    def test_several_runs_at_once(self):
        for name in ("first", "second"):
            code = f"%%ddptrain --start {name} --runs {name}\n{RECIPE}".replace("4 steps", "300 steps")
            self.assertEqual(self.cell(code).reply["status"], "ok")
        shown = self.cell("print(first.running, second.running, first.wait(), second.wait(), len(first.run.metric_rows()))")
        self.assertEqual(shown.stream.split()[2:], ["0", "0", "150"], shown.text)


if __name__ == "__main__":
    enter(sys.argv[1])
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
