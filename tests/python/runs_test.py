"""Run folders read from Python, and runs started from it: DDPTRAIN_PROGRAM is the program."""

import json
import math
import os
import pathlib
import sys
import tempfile
import time
import unittest

import ddptrain
from ddptrain import _curves, _training

PROGRAM = os.environ["DDPTRAIN_PROGRAM"]
RECIPE = (pathlib.Path(__file__).parent / "small.yaml").read_text()


class ReadRun(unittest.TestCase):
    """A folder written by hand."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve() / "001"
        self.folder.mkdir()
        self.write("run.json", json.dumps({"result": "done", "seconds": 2.5, "metrics": {"valid/loss": 0.5},
                                           "best": {"step": 2, "metrics": {"valid/loss": 0.25}}}))
        self.write("metrics.csv", "step,epoch,samples,train/loss,valid/loss,test/loss\n2,0.5,16,1.5,0.25,\n4,1,32,1.25,0.5,0.75\n")
        self.write("events.jsonl", '{"event":"begin","step":0}\n{"event":"step","time":"x","step":2,"train/loss":1.5}\n'
                                   '{"event":"step","step":4,"train/loss":null}\n{"event":"st')
        self.write("log.txt", "one\ntwo\nthree\n")
        self.write("log.rank1.txt", "other\n")
        self.write("report.html", '<p class="a">&</p>')

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def test_metrics_are_the_rows_of_the_file(self):
        rows = ddptrain.load_run(self.folder).metric_rows()
        self.assertEqual([list(row.values()) for row in rows][1], [4, 1.0, 32, 1.25, 0.5, 0.75])
        self.assertIsInstance(rows[0]["step"], int)
        self.assertTrue(math.isnan(rows[0]["test/loss"]))

    def test_a_torn_line_is_left_out(self):
        run = ddptrain.load_run(self.folder)
        self.assertEqual([event["event"] for event in run.events], ["begin", "step", "step"])
        self.write("metrics.csv", "step,valid/loss\n2,0.25\n4,0.")
        self.assertEqual([row["step"] for row in run.metric_rows()], [2])

    def test_metrics_are_a_data_frame_or_a_list(self):
        metrics = ddptrain.load_run(self.folder).metrics
        self.assertEqual(list(metrics["step"]) if hasattr(metrics, "columns") else [row["step"] for row in metrics], [2, 4])

    def test_logs_are_those_of_a_rank(self):
        run = ddptrain.load_run(self.folder)
        self.assertEqual(run.log(lines=2), "two\nthree")
        self.assertEqual(run.log(rank=1), "other")
        with self.assertRaisesRegex(FileNotFoundError, r"has no log\.rank2\.txt; it has log\.rank1\.txt, log\.txt$"):
            run.log(rank=2)

    def test_latest_is_the_folder_that_it_leads_to(self):
        (self.folder.parent / "latest").symlink_to("001")
        self.assertEqual(ddptrain.load_run(self.folder.parent / "latest").folder, str(self.folder))

    def test_curves_have_a_panel_for_each_kind_of_value(self):
        run = ddptrain.load_run(self.folder)
        self.assertEqual(_curves.panels(run.step_rows(), run.metric_rows()), {"loss": {
            "train/loss": [(2, 1.5)], "valid/loss": [(2, 0.25), (4, 0.5)], "test/loss": [(4, 0.75)]}})
        page = run.curves()._repr_html_()
        self.assertEqual(page.count("<svg"), 1)
        self.assertEqual(page.count("<polyline"), 3)

    def test_a_page_shows_result_and_best(self):
        page = ddptrain.load_run(self.folder)._repr_html_()
        self.assertIn(": done in 2.5 s</p>", page)
        self.assertIn("<tr><td>valid/loss</td><td>0.5000</td><td>0.2500</td></tr>", page)
        self.assertIn("<th>best (step 2)</th>", page)

    def test_the_report_is_in_a_frame(self):
        page = ddptrain.load_run(self.folder).report(height=300)._repr_html_()
        self.assertIn('srcdoc="&lt;p class=&quot;a&quot;&gt;&amp;&lt;/p&gt;"', page)
        self.assertIn('height="300"', page)

    def test_a_folder_without_a_run_is_refused(self):
        with self.assertRaisesRegex(FileNotFoundError, r"/nowhere is no run folder: it has no run\.json$"):
            ddptrain.load_run("/nowhere")

    def test_a_run_before_its_first_evaluation_has_no_metrics(self):
        (self.folder / "metrics.csv").unlink()
        run = ddptrain.load_run(self.folder)
        self.assertEqual(run.metric_rows(), [])
        self.assertIn("no values yet", _curves.curves_page([], run.metric_rows()))


class Words(unittest.TestCase):
    def test_overrides_are_words_of_the_command_line(self):
        self.assertEqual(_training.override_words({"seed": 7, "train": {"duration": "2 epochs", "clip": None},
                                                   "train.channels_last": True, "metrics": ["accuracy"]}),
                         ["seed=7", "train.duration=2 epochs", "train.clip=null", "train.channels_last=true",
                          'metrics=["accuracy"]'])

    def test_a_recipe_is_a_path_a_text_or_a_dict(self):
        self.assertEqual(_training.recipe_input("a.yaml"), ("a.yaml", None))
        self.assertEqual(_training.recipe_input(pathlib.Path("a.yaml")), ("a.yaml", None))
        self.assertEqual(_training.recipe_input("recipe: 1\n"), ("-", "recipe: 1\n"))
        self.assertEqual(_training.recipe_input({"recipe": 1}), ("-", '{"recipe": 1}'))


class StartedRun(unittest.TestCase):
    """With the program, on a few synthetic images."""

    @classmethod
    def setUpClass(cls):
        cls.home = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.home.cleanup)
        made = _training.Training(["data", "make", "shapes", "shapes", "--train", "4", "--val", "2"], cwd=cls.home.name, program=PROGRAM)
        if made.wait() != 0:
            raise AssertionError(made.tail())

    def start(self, recipe=RECIPE, **overrides):
        return ddptrain.run(recipe, cwd=self.home.name, program=PROGRAM, **overrides)

    def test_leaves_a_run_whose_metrics_are_read(self):
        training = self.start()
        run = training.result()
        self.assertEqual(pathlib.Path(run.folder), pathlib.Path(training.folder).resolve())
        self.assertEqual([row["step"] for row in run.metric_rows()], [2, 4])
        self.assertEqual([row["step"] for row in run.step_rows()], [1, 2, 3, 4])
        self.assertEqual(run.record["metrics"]["valid/accuracy"], run.metric_rows()[-1]["valid/accuracy"])
        self.assertIn("done in", training.tail(30))
        self.assertIn("ended with exit code 0", repr(training))
        self.assertIn("duration: 4 steps", run.recipe)

    def test_a_mistake_raises_the_messages(self):
        with self.assertRaises(_training.RunFailed) as raised:
            self.start(optimizer={"lr": -1}).result()
        self.assertEqual(raised.exception.code, 2)
        self.assertIn("command line:1: error[bad-value]: optimizer.lr: -1 is below the minimum 0", str(raised.exception))

    def test_stop_saves(self):
        training = self.start(train={"duration": "1000000 steps"}, output={"dir": "stopped"})
        while training.running and not (training.run and training.run.step_rows()):
            time.sleep(0.05)
        self.assertEqual(training.stop(), 130)
        self.assertEqual(training.run.record["result"], "interrupted")
        self.assertTrue(os.listdir(training.run.path("checkpoints")))

    def test_each_rank_has_a_log(self):
        training = self.start(parallel={"mode": "ddp", "devices": 2}, output={"dir": "ranks"})
        training.result()
        self.assertIn("step 4", training.tail(30, rank=0))
        self.assertTrue(os.path.exists(training.run.path("log.rank1.txt")))
        self.assertEqual(training.tail(5, rank=1), training.run.log(rank=1, lines=5))

    def test_lines_are_given_once(self):
        training = self.start(output={"dir": "lines"})
        training.wait()
        lines, seen = training.new_lines(0)
        self.assertEqual(len(lines), seen)
        self.assertEqual(training.new_lines(seen), ([], seen))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
