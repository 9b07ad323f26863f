"""The command `ddptrain` of a Python environment: which program it becomes, with which torch."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from environments import TELL, VERSION, install, make_torch


def called(command, *words, path="/usr/bin:/bin", **variables):
    return subprocess.run([str(command), *words], env={"PATH": path, **variables}, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)


class Command(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.prefix = pathlib.Path(self.folder.name).resolve() / "venv"
        self.site = self.prefix / "lib" / VERSION / "site-packages"
        self.command = install(self.site, self.prefix / "bin")

    def problem(self, command=None, **variables):
        """What the program is started with, to print it where a verb needs torch."""
        ended = called(command or self.command, "-c", 'echo "$DDPTRAIN_TORCH_PROBLEM|${LD_LIBRARY_PATH-}"', **variables)
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        problem, library_path = ended.stdout.split("|")
        self.assertEqual(library_path, "\n")
        return problem

    def remedy(self, command=None, target=""):
        python = self.problem(command).split("; ")[1].split(" -m ")[0]
        self.assertTrue(os.access(python, os.X_OK), python)
        return f"ddptrain 0.1.0 needs torch 2.11; {python} -m pip install {target}'torch==2.11.*'"

    def test_becomes_the_program_without_python_where_torch_is_next_to_it(self):
        make_torch(self.site)
        tools = pathlib.Path(self.folder.name) / "tools"  # all that the script needs
        tools.mkdir()
        for tool in ("grep", "bash"):
            (tools / tool).symlink_to(f"/usr/bin/{tool}")
        ended = called(self.command, *TELL, path=str(tools))
        self.assertEqual((ended.stdout, ended.stderr), (f"{self.command}||a b c\n", ""))

    def test_passes_the_exit_code_on(self):
        make_torch(self.site)
        self.assertEqual(called(self.command, "-c", "exit 6").returncode, 6)

    def test_is_named_as_it_was_typed(self):
        make_torch(self.site)
        ended = called("/bin/bash", "-c", 'ddptrain "$@"', "bash", *TELL, path=f"{self.command.parent}:/usr/bin:/bin")
        self.assertEqual(ended.stdout, "ddptrain||a b c\n")

    def test_works_after_a_move_and_through_a_link(self):
        make_torch(self.site)
        moved = self.prefix.rename(self.prefix.parent / "moved")
        self.assertEqual(called(moved / "bin/ddptrain", "-c", "echo yes").stdout, "yes\n")
        link = self.prefix.parent / "link"
        link.symlink_to(moved / "bin/ddptrain")
        self.assertEqual(called(link, *TELL).stdout, f"{link}||a b c\n")

    def test_finds_a_package_of_pip_target(self):
        target = self.prefix.parent / "target"
        command = install(target, target / "bin")
        self.assertEqual(self.problem(command), "torch is missing: " + self.remedy(command, f"--target {target} "))
        make_torch(target)
        self.assertEqual(called(command, *TELL).stdout, f"{command}||a b c\n")

    def test_names_a_torch_elsewhere_by_the_library_path(self):
        torch = make_torch(self.prefix.parent / "elsewhere")
        ended = called(self.command, *TELL, PYTHONPATH=str(torch.parent))
        self.assertEqual(ended.stdout, f"{self.command}|{torch}/lib|a b c\n", ended.stderr)
        ended = called(self.command, *TELL, PYTHONPATH=str(torch.parent), LD_LIBRARY_PATH="/mine")
        self.assertEqual(ended.stdout, f"{self.command}|{torch}/lib:/mine|a b c\n")

    def test_takes_the_torch_that_fits_of_two(self):
        wrong, right = (make_torch(self.prefix.parent / name, version) for name, version in
                        (("wrong", "2.12.0"), ("right", "2.11.1")))
        ended = called(self.command, *TELL, PYTHONPATH=f"{wrong.parent}:{right.parent}")
        self.assertEqual(ended.stdout, f"{self.command}|{right}/lib|a b c\n", ended.stderr)

    def test_reports_that_torch_is_missing(self):
        self.assertEqual(self.problem(), "torch is missing: " + self.remedy())

    def test_reports_another_version(self):
        torch = make_torch(self.site, "2.12.0+cpu")
        self.assertEqual(self.problem(), f"torch 2.12.0+cpu in {torch} does not fit: " + self.remedy())

    def test_reports_a_version_that_begins_alike(self):
        torch = make_torch(self.site, "2.110.0")
        self.assertEqual(self.problem(), f"torch 2.110.0 in {torch} does not fit: " + self.remedy())

    def test_reports_another_abi(self):
        torch = make_torch(self.site, new_strings=False)
        self.assertEqual(self.problem(),
                         f"torch 2.11.0+cu130 in {torch} has another C++ ABI (_GLIBCXX_USE_CXX11_ABI=0): " + self.remedy())

    def test_is_not_rescued_by_a_torch_that_the_loader_would_not_take(self):
        wrong = make_torch(self.site, "2.12.0")
        right = make_torch(self.prefix.parent / "right")
        self.assertEqual(self.problem(PYTHONPATH=str(right.parent)), f"torch 2.12.0 in {wrong} does not fit: " + self.remedy())

    def test_takes_no_folder_named_torch_without_libraries(self):
        (self.prefix.parent / "sources/torch").mkdir(parents=True)
        self.assertEqual(self.problem(PYTHONPATH=str(self.prefix.parent / "sources")), "torch is missing: " + self.remedy())

    def refused(self, command, path="/usr/bin:/bin"):
        """The sentence of a command that does not start its program."""
        ended = called(command, *TELL, path=path)
        self.assertEqual((ended.returncode, ended.stdout), (4, ""))
        return ended.stderr

    def test_reports_a_c_library_that_is_too_old(self):
        make_torch(self.site)
        newer = install(self.prefix.parent / "newer", self.prefix.parent / "newer/bin", c_library="9.99")
        number = os.confstr("CS_GNU_LIBC_VERSION")  # "glibc 2.36"
        self.assertEqual(self.refused(newer), "error: ddptrain needs glibc 9.99 or newer (Ubuntu 22.04, Debian 12, RHEL 10), and "
                                              f"this system has {number}; use a container (docs/installing.md)\n")

    def test_reports_another_c_library(self):
        other = install(self.prefix.parent / "other", self.prefix.parent / "other/bin", loader=self.prefix / "none")
        has = "musl" if list(pathlib.Path("/lib").glob("ld-musl-*")) else "none in /lib64"
        self.assertEqual(self.refused(other), "error: ddptrain needs glibc 2.35 or newer (Ubuntu 22.04, Debian 12, RHEL 10), and "
                                              f"this system has {has}; use a container (docs/installing.md)\n")

    def test_reports_another_kind_of_machine(self):
        other = install(self.prefix.parent / "other", self.prefix.parent / "other/bin", loader=self.prefix / "none")
        uname = self.prefix / "tools/uname"
        uname.parent.mkdir()
        uname.write_text("#!/bin/sh\necho aarch64\n")
        uname.chmod(0o755)
        self.assertEqual(self.refused(other, path=f"{uname.parent}:/usr/bin:/bin"),
                         "error: ddptrain runs on x86-64 alone, and this machine is aarch64\n")

    def test_says_that_the_package_is_gone(self):
        (self.site / "ddptrain/bin/ddptrain").unlink()
        ended = called(self.command)
        self.assertEqual((ended.returncode, ended.stdout), (4, ""))
        self.assertEqual(ended.stderr, f"error: no package ddptrain belongs to {self.command}; install it again\n")

    def test_runs_as_a_module(self):
        make_torch(self.site)
        ended = called(sys.executable, "-m", "ddptrain", *TELL, PYTHONPATH=str(self.site))
        self.assertEqual(ended.stdout, "ddptrain||a b c\n", ended.stderr)

    def test_imports_nothing_of_torch(self):
        torch = make_torch(self.site)
        (torch / "__init__.py").write_text("raise SystemExit('torch was imported')\n")
        other = install(self.prefix.parent / "other", self.prefix.parent / "other/bin")
        ended = called(other, "-c", "echo yes", PYTHONPATH=str(self.site))
        self.assertEqual((ended.stdout, ended.stderr), ("yes\n", ""))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
