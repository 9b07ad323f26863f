"""Python environments with the package and stand-ins for torch and for the program, which is a copy of bash: with
TELL it prints the name that it was called by, LD_LIBRARY_PATH and its words."""

import os
import pathlib
import re
import shutil

ROOT = pathlib.Path(__file__).resolve().parents[2]
VERSION = f"python3.{os.sys.version_info[1]}"
LOADER = "/lib64/ld-linux-x86-64.so.2"
TELL = ["-c", 'IFS= read -r -d "" name < /proc/$$/cmdline; echo "$name|${LD_LIBRARY_PATH-}|$*"', "x", "a b", "c"]


def make_torch(site, version="2.11.0+cu130", new_strings=True):
    folder = pathlib.Path(site) / "torch"
    (folder / "lib").mkdir(parents=True)
    (folder / "lib/libtorch_cpu.so").touch()
    symbol = "_ZN3c105ErrorC1ENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE" if new_strings else "_ZN3c105ErrorC1ESs"
    (folder / "lib/libc10.so").write_text(symbol)
    (folder / "version.py").write_text(f"from typing import Optional\n__version__ = '{version}'\ncuda = '13.0'\n")
    return folder


def install(site, bin_folder, c_library="2.35", loader=LOADER):
    """The package in `site` and its command, which needs that glibc and that loader, in `bin_folder`; returns the
    command."""
    package = pathlib.Path(site) / "ddptrain"
    shutil.copytree(ROOT / "python/ddptrain", package, ignore=shutil.ignore_patterns("__pycache__"))
    text = (package / "_build.py").read_text()
    for name, value in (("VERSION", "'0.1.0'"), ("TORCH", "'2.11.0'")):
        text = re.sub(rf"^{name} = \S+", f"{name} = {value}", text, flags=re.MULTILINE)
    (package / "_build.py").write_text(text)
    (package / "bin").mkdir()
    shutil.copy("/bin/bash", package / "bin/ddptrain")
    command = pathlib.Path(bin_folder) / "ddptrain"
    command.parent.mkdir(parents=True, exist_ok=True)
    text = (ROOT / "python/scripts/ddptrain").read_text()
    command.write_text(text.replace("@TORCH@", "2.11").replace("@GLIBC@", c_library).replace(LOADER, str(loader)))
    command.chmod(0o755)
    return command
