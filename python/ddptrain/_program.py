"""The native program of this package, and the torch whose libraries it loads.

The program has the relative path of a torch in the same site-packages folder (DT_RPATH), which the loader tries before
LD_LIBRARY_PATH. A torch elsewhere is found here, without importing it, and named by LD_LIBRARY_PATH.
"""

import importlib.util
import mmap
import os
import re
import shutil
import sys

from . import _build

PACKAGE = os.path.dirname(os.path.realpath(__file__))
LACKING = 4  # the exit code of the program for a machine that lacks something
PROBLEM = "DDPTRAIN_TORCH_PROBLEM"  # a variable that the program reads


class TorchProblem(RuntimeError):
    """No torch that the program can be started with; one sentence, and what to do."""


def torch_folders():
    """Folders of torch that have LibTorch in them, in the order in which they count: next to this package, on sys.path,
    and where an import hook finds it."""
    places = [os.path.dirname(PACKAGE), *sys.path]
    found = [os.path.join(place or os.getcwd(), "torch") for place in places]
    try:
        spec = importlib.util.find_spec("torch")
    except (ImportError, ValueError):  # a broken parent or a module without a spec
        spec = None
    found += list(spec.submodule_search_locations or []) if spec else []
    found = [folder for folder in found if os.path.exists(os.path.join(folder, "lib", "libtorch_cpu.so"))]
    return list(dict.fromkeys(map(os.path.realpath, found)))


def version_of(torch):
    """"2.11.0+cu130"; empty if the folder does not tell."""
    try:
        with open(os.path.join(torch, "version.py"), encoding="utf-8") as file:
            match = re.search(r"^__version__ = ['\"]([^'\"]+)", file.read(), re.MULTILINE)
    except OSError:
        return ""
    return match.group(1) if match else ""


def has_new_strings(torch):
    """Whether it was compiled with _GLIBCXX_USE_CXX11_ABI=1: its functions then take std::__cxx11 strings."""
    try:
        with open(os.path.join(torch, "lib", "libc10.so"), "rb") as file:
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
                return text.find(b"__cxx1112basic_string") >= 0
    except (OSError, ValueError):
        return False


def minor(version):
    return ".".join(version.split("+")[0].split(".")[:2])


def problem_of(torch):
    """Why the program cannot use this torch; empty if it can."""
    version = version_of(torch)
    if minor(version) != minor(_build.TORCH):
        return f"torch {version or 'of an unknown version'} in {torch} does not fit"
    if not has_new_strings(torch):
        return f"torch {version} in {torch} has another C++ ABI (_GLIBCXX_USE_CXX11_ABI=0)"
    return ""


def choose_torch(folders):
    """The folder to load; raises TorchProblem. The loader takes the one next to the package whatever comes later."""
    wanted = minor(_build.TORCH)
    site = os.path.dirname(PACKAGE)
    target = "" if os.path.basename(site) in ("site-packages", "dist-packages") else f"--target {site} "
    remedy = f"{sys.executable or 'python3'} -m pip install {target}'torch=={wanted}.*'"
    if not folders:
        raise TorchProblem(f"torch is missing: ddptrain {_build.VERSION} needs torch {wanted}; {remedy}")
    choice = folders[:1] if folders[0] == os.path.realpath(os.path.join(site, "torch")) else folders
    for folder in choice:
        if not problem_of(folder):
            return folder
    raise TorchProblem(f"{problem_of(folders[0])}: ddptrain {_build.VERSION} needs torch {wanted}; {remedy}")


def environment():
    """That of the program: os.environ, with LD_LIBRARY_PATH where the loader would not find torch, or why none fits."""
    variables = dict(os.environ)
    if not _build.TORCH:
        return variables
    try:
        torch = choose_torch(torch_folders())
    except TorchProblem as problem:  # a verb that needs torch prints it; others run
        variables[PROBLEM] = str(problem)
        return variables
    if torch != os.path.realpath(os.path.join(os.path.dirname(PACKAGE), "torch")):
        parts = [os.path.join(torch, "lib"), variables.get("LD_LIBRARY_PATH", "")]
        variables["LD_LIBRARY_PATH"] = os.pathsep.join(part for part in parts if part)
    return variables


def program():
    """Its path: of the wheel, else the one on PATH."""
    own = os.path.join(PACKAGE, "bin", "ddptrain")
    if os.path.exists(own):
        return own
    found = shutil.which("ddptrain")
    if not found:
        raise FileNotFoundError("no program: this is a checkout's python/ folder, and PATH has no ddptrain")
    return found


def typed_name():
    """The program as it was called, for the commands that it prints."""
    called = sys.argv[0]
    name = os.path.basename(called)
    if name in ("-c", "__main__.py", "_program.py"):
        return "ddptrain"
    return name if shutil.which(name) == called else called


def main():
    """Becomes the program."""
    try:
        path = program()
        os.execve(path, [typed_name(), *sys.argv[1:]], environment())
    except OSError as error:
        sys.stderr.write(f"error: cannot start the program: {error}\n")
        sys.exit(LACKING)
