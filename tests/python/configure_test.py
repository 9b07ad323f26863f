"""What cmake/LibTorch.cmake and src/accelerator/cuda choose when an existing build folder is configured again.

    python3 configure_test.py FOLDER    which is not used
"""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROJECT = """cmake_minimum_required(VERSION 3.25)
project(chooses LANGUAGES CXX)
include(cmake/LibTorch.cmake)
add_subdirectory(cuda)
"""


class Configure(unittest.TestCase):
    """A project with our files, and folders as scripts/setup leaves them for two versions of torch."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.home = pathlib.Path(folder.name).resolve()
        (self.home / "CMakeLists.txt").write_text(PROJECT)
        (self.home / "cmake").mkdir()
        shutil.copy(ROOT / "cmake/torch_fmt.cpp", self.home / "cmake")
        (self.home / "cuda").mkdir()
        text = (ROOT / "src/accelerator/cuda/CMakeLists.txt").read_text()
        (self.home / "cuda/CMakeLists.txt").write_text(text.split("file(GLOB kernels ")[0])  # without the library
        self.default("2.11.0")
        for version in ("2.11.0", "2.15.0"):
            self.make_torch(self.home / f"deps/libtorch-{version}", version)

    def default(self, version):
        text = (ROOT / "cmake/LibTorch.cmake").read_text()
        text = re.sub(r"set\(DDPTRAIN_TORCH_DEFAULT \S+\)", f"set(DDPTRAIN_TORCH_DEFAULT {version})", text)
        (self.home / "cmake/LibTorch.cmake").write_text(text)

    def make_torch(self, folder, version):
        for name in ("torch/lib/libtorch_cpu.so", "torch/lib/libtorch_cuda.so", "nvidia/cu13/include/cuda_runtime_api.h",
                     "nvidia/nccl/include/nccl.h"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).touch()
        (folder / "torch/version.py").write_text(f"__version__ = '{version}+cu130'\n")

    def configured(self, *words, **environment):
        """The folders of LibTorch, of CUDA's headers and of NCCL's."""
        names = {key: value for key, value in os.environ.items() if key != "LIBTORCH"}
        said = subprocess.run(["cmake", "-S", self.home, "-B", self.home / "build", *words], check=True, stdout=subprocess.PIPE,
                              text=True, env={**names, "DDPTRAIN_DEPS": str(self.home / "deps"), **environment}).stdout
        torch = re.search(r"^LIBTORCH:\w+=(.*)$", (self.home / "build/CMakeCache.txt").read_text(), re.MULTILINE).group(1)
        headers = re.search(r"CUDA plug-in: built with (\S+) and (\S+)", said).groups()
        return [pathlib.Path(os.path.normpath(each)) for each in (torch, *headers)]

    def expect(self, found, folder):
        self.assertEqual(found, [folder / "torch", folder / "nvidia/cu13/include", folder / "nvidia/nccl/include"])

    def test_another_default_version_is_taken(self):
        self.expect(self.configured(), self.home / "deps/libtorch-2.11.0")
        self.default("2.15.0")
        self.expect(self.configured(), self.home / "deps/libtorch-2.15.0")

    def test_torch_given_later_is_taken_and_so_is_the_default_again(self):
        self.configured()
        self.expect(self.configured("-DTORCH=2.15.0"), self.home / "deps/libtorch-2.15.0")
        self.expect(self.configured("-DTORCH="), self.home / "deps/libtorch-2.11.0")

    def test_a_folder_that_was_given_stays(self):
        mine = self.home / "mine"
        self.make_torch(mine, "2.11.0")
        self.expect(self.configured(LIBTORCH=str(mine / "torch")), mine)
        self.expect(self.configured(), mine)

    def test_headers_that_were_given_stay(self):
        mine = self.home / "nccl"
        mine.mkdir()
        self.configured(f"-DDDPTRAIN_NCCL_INCLUDE={mine}")
        self.default("2.15.0")
        self.assertEqual(self.configured()[2], mine)


if __name__ == "__main__":
    unittest.main(argv=["configure_test.py"])
