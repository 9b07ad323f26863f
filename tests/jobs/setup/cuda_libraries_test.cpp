// `setup cuda` from an index of this machine, whose wheels have the form of torch's and NVIDIA's.
#include "jobs/setup/cuda_libraries.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/files/digest.h"
#include "base/files/files.h"
#include "cli/cli_output.h"
#include "sources/archives.h"
#include "sources/https_server.h"
#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

/// A program that was installed with the first half of LibTorch, and an index.
class CudaLibrariesTest : public testing::Test {
 protected:
  CudaLibrariesTest() : server_(site_, keys_) {
    folder_.write("lib/libtorch_cpu.so", "LibTorch 9");
    // Its digest by Python's hashlib and base64.urlsafe_b64encode.
    add_wheel("torch", "2.11.0", "torch-2.11.0-cp312-none-linux.whl",
              {{"torch/lib/libtorch_cpu.so", "LibTorch 9"},
               {"torch/lib/libtorch_cuda.so", "cuda"},
               {"torch/lib/libc10_cuda.so", "c10"},
               {"torch/lib/libtorch_python.so", "python"},
               {"torch/cuda/__init__.py", "code"},
               {"torch-2.11.0.dist-info/licenses/LICENSE", "license"},
               {"torch-2.11.0.dist-info/RECORD",
                "torch/lib/libtorch.so,sha256=abc,3\ntorch/lib/libtorch_cpu.so,"
                "sha256=QfZUPupDHDm7JF6awCuE1jT_xgd-0o6-FjrVOcxRMtM,10\n"}});
    add_wheel("nvidia-cublas", "13.1", "nvidia_cublas-13.1-py3-none-any.whl",
              {{"nvidia/cu13/lib/libcublas.so.13", "cublas"},
               {"nvidia/cu13/lib/libcublas.a", "archive"},
               {"nvidia/cu13/include/cublas.h", "header"}});
  }

  void add_wheel(const std::string& package, const std::string& version, const std::string& name,
                 const std::vector<Item>& items) {
    const auto path = folder_.write("site/files/" + name, zip_of(items));
    const auto digest = digest_file(DigestKind::sha256, path);
    folder_.write("site/" + package + "/index.html",
                  "<a href=\"../files/" + name + "#sha256=" + digest + "\">" + name + "</a>");
    wheels_ += package + "==" + version + " --hash=sha256:" + digest + "\n";
  }
  void remove_file(const std::string& name) const { fs::remove(folder_ / name); }

  bool install_from(const std::string& index, std::optional<std::string> given = {}) const {
    return install({wheels_, folder_ / "lib", index, std::move(given)});
  }
  bool install_all() const { return install_from(index_); }
  template <class Action>
  static std::string problem(const Action& action) {
    try {
      action();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Exit::data);
      return error.what();
    }
    return "none";
  }
  std::string problem() const {
    return problem([&] { install_all(); });
  }

  /// The files of lib/cuda that are libraries or licenses.
  std::vector<std::string> installed() const {
    std::vector<std::string> files;
    const fs::path cuda = folder_ / "lib/cuda";
    if (fs::exists(cuda))
      for (const auto& entry : fs::recursive_directory_iterator(cuda))
        if (entry.is_regular_file()) files.push_back(entry.path().lexically_relative(cuda));
    std::sort(files.begin(), files.end());
    return files;
  }

  const TemporaryFolder folder_;
  const std::string site_ = (fs::create_directories(folder_ / "site"), folder_ / "site");
  const std::string keys_ = (fs::create_directories(folder_ / "keys"), folder_ / "keys");
  const HttpsServer server_;
  const std::string index_ = server_.url("").substr(0, server_.url("").size() - 1);
  std::string wheels_;
};

TEST_F(CudaLibrariesTest, LieWhereThePlugInLooks) {
  EXPECT_TRUE(install_all());
  EXPECT_THAT(
      installed(),
      testing::ElementsAre("nvidia/cu13/lib/libcublas.so.13", "torch-2.11.0.dist-info/RECORD",
                           "torch-2.11.0.dist-info/licenses/LICENSE", "torch/lib/libc10_cuda.so",
                           "torch/lib/libtorch_cuda.so", "wheels.txt"));
  EXPECT_EQ(read_text(folder_ / "lib/cuda/torch/lib/libtorch_cuda.so"), "cuda");
  EXPECT_FALSE(fs::exists(folder_ / "lib/.cuda"));
  EXPECT_FALSE(install_all());
}

TEST_F(CudaLibrariesTest, ContinueWhereACallWasInterrupted) {
  const auto page = read_text(folder_ / "site/nvidia-cublas/index.html");
  remove_file("site/nvidia-cublas/index.html");
  EXPECT_EQ(problem(), "the package index '" + index_ + "' has no nvidia-cublas 13.1 with sha256 " +
                           wheels_.substr(wheels_.rfind(':') + 1, 64) + "; PyPI has it");
  EXPECT_TRUE(installed().empty());
  folder_.write("site/nvidia-cublas/index.html", page);
  remove_file("site/torch/index.html");  // it need not be there any more
  EXPECT_TRUE(install_all());
  EXPECT_EQ(installed().size(), 6);
}

TEST_F(CudaLibrariesTest, AreReplacedByThoseOfAnotherVersion) {
  install_all();
  const auto torch = wheels_.substr(0, wheels_.find('\n') + 1);
  wheels_ = torch;
  EXPECT_TRUE(install_all());
  EXPECT_EQ(installed().size(), 5);
  EXPECT_EQ(read_text(folder_ / "lib/cuda/wheels.txt"), torch);
}

TEST_F(CudaLibrariesTest, OfAnUnfinishedOtherVersionAreDropped) {
  wheels_ += "nvidia-nccl==2 --hash=sha256:" + std::string(64, '0') + "\n";
  folder_.write("site/nvidia-nccl/index.html", "");
  EXPECT_THAT(problem(), HasSubstr("has no nvidia-nccl 2"));
  wheels_ = wheels_.substr(0, wheels_.find('\n') + 1);
  EXPECT_TRUE(install_all());
  EXPECT_EQ(installed().size(), 5);
}

TEST_F(CudaLibrariesTest, NeedTheLibTorchOfTheirWheel) {
  folder_.write("lib/libtorch_cpu.so", "LibTorch 8");
  EXPECT_EQ(problem(), "'" + folder_ / "lib/libtorch_cpu.so" +
                           "' is not that of torch 2.11.0's wheel on PyPI, whose CUDA libraries "
                           "would not fit it");
  EXPECT_TRUE(installed().empty());
}

TEST_F(CudaLibrariesTest, AreFilesOfTheDigestsThatArePinned) {
  folder_.write("site/files/nvidia_cublas-13.1-py3-none-any.whl", "something else");
  EXPECT_THAT(problem(), HasSubstr("nvidia_cublas-13.1-py3-none-any.whl' is "));
  EXPECT_TRUE(installed().empty());
}

TEST_F(CudaLibrariesTest, ComeByHttpsAlone) {
  const auto digest = wheels_.substr(wheels_.find(':') + 1, 64);
  folder_.write("site/torch/index.html",
                "<a href=\"http://files.example/t.whl#sha256=" + digest + "\">t.whl</a>");
  EXPECT_EQ(problem(), "the package index '" + index_ +
                           "' names 'http://files.example/t.whl' for torch 2.11.0, which is not "
                           "https");
}

TEST_F(CudaLibrariesTest, ComeFromAFolderOfWheels) {
  const auto given = folder_ / "site/files";
  EXPECT_TRUE(install_from("", given));
  EXPECT_EQ(installed().size(), 6);
  EXPECT_TRUE(fs::exists(given + "/torch-2.11.0-cp312-none-linux.whl"));
}

TEST_F(CudaLibrariesTest, OfAFolderAreNamedWhereTheyDoNotFit) {
  const auto given = folder_ / "site/files";
  EXPECT_EQ(problem([&] { install_from("", folder_ / "nowhere"); }),
            "'" + folder_ / "nowhere" + "' is not a folder");
  const auto wheel = folder_.write("site/files/nvidia_cublas-13.1-py3-none-any.whl", "else");
  // sha256sum of "else"
  EXPECT_THAT(
      problem([&] { install_from("", given); }),
      testing::StartsWith("sha256 of '" + wheel + "' is " + sha256("else") + ", and should be "));
  fs::remove(wheel);
  EXPECT_EQ(problem([&] { install_from("", given); }),
            "'" + given +
                "' has no wheel of nvidia-cublas 13.1; 'ddptrain setup cuda --list' prints what "
                "pip has to download");
}

TEST_F(CudaLibrariesTest, NeedAFolderThatMayBeWritten) {
  const auto lib = folder_ / "lib";
  fs::permissions(folder_.path(), fs::perms::all);
  fs::permissions(lib, fs::perms::all & ~(fs::perms::owner_write | fs::perms::group_write |
                                          fs::perms::others_write));
  const bool was_root = ::geteuid() == 0 && ::setresuid(65534, 65534, 0) == 0;
  const bool can_write = ::geteuid() == 0;
  const auto found = problem();
  if (was_root && ::setresuid(0, 0, 0) != 0) ::_exit(1);
  fs::permissions(lib, fs::perms::all);
  if (can_write) GTEST_SKIP() << "root cannot become another user here";
  EXPECT_EQ(found, "cannot write to '" + lib +
                       "', where CUDA's libraries belong; call it as the user who installed "
                       "ddptrain");
}

TEST(SetupCuda, ListsWhatIsPinned) {
  const auto printed = test::cli_output({"setup", "cuda", "--list"});
  std::string pinned;
  for (const auto* part : {"", "-cuda"}) {
    const auto text =
        read_text(test::in_source("scripts/libtorch/" + test::torch_version() + part + ".txt"));
    for (std::size_t at = 0; at < text.size();) {
      const auto end = text.find('\n', at) + 1;
      if (text[at] != '#') pinned += text.substr(at, end - at);
      at = end;
    }
  }
  EXPECT_EQ(printed.out, pinned);
  EXPECT_EQ(printed.code, 0);
}

TEST(SetupCuda, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(test::cli_output({"setup", "cude"}).err,
            "error: 'setup' knows no 'cude'; did you mean 'cuda'?\n");
}

}  // namespace
}  // namespace ddptrain
