"""scripts/checker takes the program of a release from its wheel, by digest, and of nothing else.

    python3 checker_test.py FOLDER    which is not used
"""

import contextlib
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = 77
NAME = "ddptrain_check-0.1.0"


class Checker(unittest.TestCase):
    """A checkout of one source file, and a wheel whose program prints its words."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.home = pathlib.Path(folder.name)
        self.checkout = self.home / "checkout"
        for place in ("scripts", "src", "cmake", "recipes", "schemas", "wheels"):
            (self.checkout / place).mkdir(parents=True)
        shutil.copy(ROOT / "scripts/checker", self.checkout / "scripts")
        shutil.copy(ROOT / "scripts/packages-checker.txt", self.checkout / "scripts")
        for file in ("CMakeLists.txt", "recipes/shapes.yaml", "schemas/components.json", "src/main.cpp"):
            (self.checkout / file).write_text("no project\n")
        self.wheel = self.checkout / f"wheels/{NAME}-py3-none-any.whl"
        with zipfile.ZipFile(self.wheel, "w") as archive:
            archive.writestr(f"{NAME}.data/scripts/ddptrain-check", '#!/bin/sh\necho "of the wheel: $*"\n')
            archive.writestr(f"{NAME}.dist-info/METADATA", "Metadata-Version: 2.1\nName: ddptrain-check\nVersion: 0.1.0\n")
            archive.writestr(f"{NAME}.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: py3-none-any\n")
            archive.writestr(f"{NAME}.dist-info/RECORD", "")
        self.name_wheel()

    def name_wheel(self, sources=None, digest=None):
        (self.checkout / "scripts/checker-wheel.txt").write_text("")
        sources = sources or self.call("--sources").stdout.strip()
        digest = digest or hashlib.sha256(self.wheel.read_bytes()).hexdigest()
        (self.checkout / "scripts/checker-wheel.txt").write_text(
            f"# sources {sources}\nddptrain-check==0.1.0 --hash=sha256:{digest}\n")

    def call(self, *words):
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(self.home), "XDG_CACHE_HOME": str(self.home / "cache"),
                       "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self.checkout / "wheels"), "PIP_CONFIG_FILE": os.devnull}
        return subprocess.run([self.checkout / "scripts/checker", *words], env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)

    def test_a_release_runs_the_program_of_its_wheel(self):
        self.assertEqual(self.call("validate", "a b").stdout, "of the wheel: validate a b\n")
        self.wheel.unlink()  # kept
        self.assertEqual(self.call("version").stdout, "of the wheel: version\n")

    def test_fetch_only_installs(self):
        self.assertEqual((self.call("--fetch").returncode, self.call("--fetch").stdout), (0, ""))
        self.assertTrue(os.access(pathlib.Path(self.call("--where").stdout.strip()) / "ddptrain", os.X_OK))

    def test_changed_sources_are_not_those_of_the_wheel(self):
        for file in ("src/main.cpp", "recipes/shapes.yaml"):  # `init` writes recipes that are in the program
            with self.subTest(file), self.changed(self.checkout / file):
                ended = self.call("--fetch")
                self.assertEqual((ended.returncode, ended.stderr), (1, ""))
        self.assertEqual(self.call("--fetch").returncode, 0)

    @contextlib.contextmanager
    def changed(self, path):
        before = path.read_text()
        path.write_text("changed\n")
        yield
        path.write_text(before)

    def test_another_digest_is_refused_and_the_program_built(self):
        self.name_wheel(digest="0" * 64)
        ended = self.call("version")
        self.assertEqual((ended.returncode, ended.stdout), (1, ""))
        self.assertIn("checker: ddptrain-check==0.1.0 could not be installed: ", ended.stderr)
        self.assertIn("checker: building the program that checks recipes (once; kept in ", ended.stderr)
        self.assertIn("checker: the program could not be built; it needs CMake 3.25, g++ 12 and a few libraries.", ended.stderr)


if __name__ == "__main__":
    if subprocess.run(["/usr/bin/python3", "-m", "pip", "--version"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
        print("skipped: no python3-pip")
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1])
