"""What the wheel has in it, and that it trains where pip puts it: DDPTRAIN_BUILD is the build folder.

    python3 wheel_test.py FOLDER    for the wheels and an environment
"""

import base64
import csv
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["DDPTRAIN_BUILD"])
FOLDER = pathlib.Path(sys.argv[1]).resolve()
SKIPPED = 77


def output(*words, **options):
    return subprocess.run(list(map(str, words)), check=True, stdout=subprocess.PIPE, text=True, **options).stdout


def cached(name):
    return re.search(rf"^{name}:\w+=(.*)$", (BUILD / "CMakeCache.txt").read_text(), re.MULTILINE).group(1)


def newest(library, paths):
    """The newest version of a library's symbols that files need, by readelf (the wheel's tag comes from objdump)."""
    needs = "".join(output("readelf", "--version-info", "--wide", path).split("version needs")[-1] for path in paths)
    found = re.findall(rf"Name: {library}_([0-9.]+)", needs)
    return max(tuple(map(int, number.split("."))) for number in found)


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        shutil.rmtree(FOLDER, ignore_errors=True)
        environment = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}
        for name in ("first", "second"):
            output(ROOT / "scripts/wheel", BUILD, "--out", FOLDER / name, env=environment)
        [cls.path] = (FOLDER / "first").glob("ddptrain-*.whl")
        cls.archive = zipfile.ZipFile(cls.path)
        cls.addClassCleanup(cls.archive.close)
        cls.names = cls.archive.namelist()
        cls.info = next(name for name in cls.names if name.endswith("/METADATA")).split("/")[0]
        cls.archive.extractall(FOLDER / "tree")
        cls.programs = [path for path in (FOLDER / "tree/ddptrain").rglob("*")
                        if path.is_file() and path.read_bytes()[:4] == b"\x7fELF"]

    def text(self, name):
        return self.archive.read(name).decode()

    def test_two_builds_have_the_same_bytes(self):
        self.assertEqual(self.path.read_bytes(), (FOLDER / "second" / self.path.name).read_bytes())

    def test_has_the_version_of_the_project_and_asks_for_its_torch(self):
        version = re.search(r"VERSION ([0-9.]+) LANG", (ROOT / "CMakeLists.txt").read_text()).group(1)
        torch = ".".join(cached("DDPTRAIN_TORCH_VERSION").split(".")[:2])
        metadata = self.text(f"{self.info}/METADATA").split("\n\n")[0].split("\n")
        self.assertIn(f"Version: {version}", metadata)
        self.assertIn(f"Requires-Dist: torch =={torch}.*", metadata)
        self.assertEqual(sum(line.startswith("Requires-Dist") for line in metadata), 1)
        self.assertIn({"2.11": "Requires-Python: >=3.10", "2.15": "Requires-Python: >=3.11"}[torch], metadata)  # torch's own
        self.assertIn(f"VERSION = '{version}'\nTORCH = '{torch}.", self.text("ddptrain/_build.py"))
        self.assertIn(f"'{torch}.\"*", self.text(f"{self.info[:-10]}.data/scripts/ddptrain"))

    def test_record_has_the_digest_of_every_file(self):
        rows = list(csv.reader(self.text(f"{self.info}/RECORD").splitlines()))
        self.assertEqual(sorted(row[0] for row in rows), sorted(self.names))
        for name, digest, size in rows:
            if name.endswith("/RECORD"):
                continue
            content = self.archive.read(name)
            wanted = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
            self.assertEqual((digest, size), (f"sha256={wanted}", str(len(content))), name)

    def test_has_programs_plugins_recipes_and_completions_but_nothing_of_torch(self):
        for name in ("ddptrain/bin/ddptrain", "ddptrain/share/ddptrain/schemas/recipe.json",
                     "ddptrain/share/ddptrain/recipes/shapes.yaml", f"{self.info[:-10]}.data/data/share/man/man1/ddptrain.1",
                     f"{self.info}/licenses/LICENSE"):
            self.assertIn(name, self.names)
        self.assertTrue(any(name.endswith("libddptrain_parquet.so") for name in self.names))
        pattern = re.compile(r"/lib(torch|c10|gomp|cud|cupti|nccl|stdc\+\+|gcc_s|resolv|c\.so|m\.so|pthread)")
        self.assertEqual([name for name in self.names if pattern.search(name)], [])
        self.assertEqual([name for name in self.names if "__pycache__" in name], [])

    def test_programs_may_be_executed_and_nothing_else(self):
        executable = {entry.filename for entry in self.archive.infolist() if entry.external_attr >> 16 & 0o111}
        programs = {str(path.relative_to(FOLDER / "tree")) for path in self.programs}
        self.assertEqual(executable, programs | {f"{self.info[:-10]}.data/scripts/ddptrain"})

    def test_libraries_are_looked_for_in_the_wheel_and_in_torch_alone(self):
        for path in self.programs:
            dynamic = output("readelf", "-d", path)
            self.assertNotIn("RUNPATH", dynamic, path)
            [search] = re.findall(r"RPATH\).*\[(.*)\]", dynamic)
            places = {os.path.normpath(each.replace("$ORIGIN", str(path.parent))) for each in search.split(":")}
            self.assertEqual(places, {str(FOLDER / "tree/ddptrain/lib/ddptrain"), str(FOLDER / "tree/torch/lib")}, path)

    def test_names_no_folder_of_this_machine(self):
        words = [str(BUILD), str(ROOT / "src"), os.path.expanduser("~") + "/"]
        for name in self.names:
            if ".so" in name or "/licenses/" in name:  # of other projects
                continue
            content = self.archive.read(name)
            self.assertEqual([word for word in words if len(word) > 2 and word.encode() in content], [], name)

    def test_the_tag_is_what_the_symbols_need(self):
        tag = tuple(map(int, re.search(r"py3-none-manylinux_(\d+)_(\d+)_x86_64\.whl$", self.path.name).groups()))
        self.assertGreaterEqual(tag, newest("GLIBC", self.programs))
        # libstdc++ of GCC 12, which came with glibc 2.35 (Ubuntu 22.04); of GCC 11: 2.34 (RHEL 9).
        self.assertLessEqual(newest("GLIBCXX", self.programs), {(2, 34): (3, 4, 29)}.get(tag, (3, 4, 30)))
        self.assertLessEqual(tag, (2, 35), "fewer systems can install the wheel: say so in docs/installing.md")

    def test_installed_by_pip_it_trains(self):
        venv = FOLDER / "venv"
        if subprocess.run([sys.executable, "-m", "venv", venv], stdout=subprocess.DEVNULL).returncode != 0:
            self.skipTest("no python3-venv")
        output(venv / "bin/pip", "install", "--quiet", "--no-index", "--no-deps", self.path)
        ddptrain = venv / "bin/ddptrain"
        missing = subprocess.run([ddptrain, "doctor"], stderr=subprocess.PIPE, text=True)
        self.assertEqual(missing.returncode, 4)
        minor = ".".join(cached("DDPTRAIN_TORCH_VERSION").split(".")[:2])
        self.assertRegex(missing.stderr, r"^error: 'doctor' needs libddptrain_engine\.so, and torch is missing: ddptrain [0-9.]+ needs "
                                         rf"torch {minor}; {venv}/bin/python3\.\d+ -m pip install 'torch=={minor}\.\*'\n$")
        torch = pathlib.Path(cached("LIBTORCH"))
        [site] = venv.glob("lib/python3*/site-packages")
        for folder in (torch, torch.parent / "nvidia"):
            if folder.exists():
                (site / folder.name).symlink_to(folder)
        work = FOLDER / "work"
        work.mkdir()
        shutil.copy(pathlib.Path(__file__).parent / "small.yaml", work)
        output(ddptrain, "data", "make", "shapes", "shapes", "--train", "4", "--val", "2", cwd=work)
        trained = output(ddptrain, "run", "small.yaml", cwd=work, stderr=subprocess.STDOUT)
        self.assertIn("done in", trained)
        moved = venv.rename(FOLDER / "moved")
        self.assertIn("ddptrain 0", output(moved / "bin/ddptrain", "version"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
