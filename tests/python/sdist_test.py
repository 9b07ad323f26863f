"""What the source distribution has in it, and that pyproject.toml asks for what the wheel asks for.

    python3 sdist_test.py FOLDER    for the archives
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import unittest

import yaml  # Debian's python3-yaml; tomllib came with Python 3.11

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = pathlib.Path(sys.argv[1]).resolve()
SKIPPED = 77


def value(name, text):
    """Of a line `name = VALUE` of TOML, for strings and lists of strings, which are the same in YAML."""
    return yaml.safe_load(re.search(rf"^{name} = (.*)$", text, re.MULTILINE).group(1))


class SourceDistribution(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        shutil.rmtree(FOLDER, ignore_errors=True)
        for name in ("first", "second"):
            subprocess.run([ROOT / "scripts/sdist", FOLDER / name], check=True, stdout=subprocess.DEVNULL)
        [cls.path] = (FOLDER / "first").iterdir()
        cls.archive = tarfile.open(cls.path)
        cls.addClassCleanup(cls.archive.close)
        cls.name = cls.path.name.removesuffix(".tar.gz")

    def text(self, name):
        return self.archive.extractfile(f"{self.name}/{name}").read().decode()

    def test_two_of_them_have_the_same_bytes(self):
        self.assertEqual(self.path.read_bytes(), (FOLDER / "second" / self.path.name).read_bytes())

    def test_has_what_the_build_reads_and_no_tests(self):
        names = set(self.archive.getnames())
        for name in ("pyproject.toml", "PKG-INFO", "CMakeLists.txt", "LICENSE", "src/CMakeLists.txt", "schemas/components.json",
                     "scripts/setup", "scripts/wheel", "scripts/fetch-wheels", "python/ddptrain/_build.py", "docs/ddptrain.1"):
            self.assertIn(f"{self.name}/{name}", names)
        self.assertEqual([name for name in names if name.startswith((f"{self.name}/tests", f"{self.name}/bench"))], [])

    def test_pyproject_asks_for_what_the_wheel_asks_for(self):
        stated = self.text("PKG-INFO").split("\n\n")[0].split("\n")
        project = self.text("pyproject.toml")
        self.assertIn(f"Name: {value('name', project)}", stated)
        self.assertIn(f"Summary: {value('description', project)}", stated)
        self.assertIn(f"Requires-Python: {value('requires-python', project)}", stated)
        self.assertEqual([line for line in stated if line.startswith("Requires-Dist")],
                         [f"Requires-Dist: {each}" for each in value("dependencies", project)])
        pattern = value("regex", project).replace("(?P<value>", "(")
        self.assertIn(f"Version: {re.search(pattern, self.text('CMakeLists.txt')).group(1)}", stated)
        self.assertEqual(self.name, f"ddptrain-{re.search(pattern, self.text('CMakeLists.txt')).group(1)}")


if __name__ == "__main__":
    if subprocess.run(["git", "-C", ROOT, "rev-parse"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
        print("skipped: not a checkout of git")
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1])
