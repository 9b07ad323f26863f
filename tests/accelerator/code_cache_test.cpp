#include "accelerator/code_cache.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "base/files/files.h"
#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

class CodeCache : public testing::Test {
 protected:
  CodeCache() {
    if (const char* before = std::getenv("XDG_CACHE_HOME")) before_ = before;
    ::setenv("XDG_CACHE_HOME", folder_.path().c_str(), 1);
  }
  ~CodeCache() override {
    if (before_)
      ::setenv("XDG_CACHE_HOME", before_->c_str(), 1);
    else
      ::unsetenv("XDG_CACHE_HOME");
  }
  /// Code of a kernel, whose compilations it counts.
  std::string code(const std::string& description = "add, sm_90") {
    return cached_code(description, [&] {
      ++compilations_;
      return "code of " + description;
    });
  }
  std::string kept_file() const {
    return std::filesystem::directory_iterator(kernels())->path().string();
  }
  std::string kernels() const { return folder_.path() + "/ddptrain/kernels"; }

  TemporaryFolder folder_;
  std::optional<std::string> before_;
  int compilations_ = 0;
};

TEST_F(CodeCache, CompilesWhatItIsAskedForOnce) {
  EXPECT_EQ(code(), "code of add, sm_90");
  EXPECT_EQ(code(), "code of add, sm_90");
  EXPECT_EQ(compilations_, 1);
  EXPECT_EQ(code("add, sm_100"), "code of add, sm_100");
  EXPECT_EQ(compilations_, 2);
}

TEST_F(CodeCache, CompilesAgainWhatWasDamaged) {
  code();
  auto text = read_text(kept_file());
  text.back() ^= 1;
  write_atomically(kept_file(), text);
  EXPECT_EQ(code(), "code of add, sm_90");
  EXPECT_EQ(compilations_, 2);
  EXPECT_EQ(code(), "code of add, sm_90");
  EXPECT_EQ(compilations_, 2);
}

TEST_F(CodeCache, DoesWithoutAFolder) {
  write_atomically(folder_.path() + "/ddptrain", "a file where the folder would be");
  EXPECT_EQ(code(), "code of add, sm_90");
  EXPECT_EQ(code(), "code of add, sm_90");
  EXPECT_EQ(compilations_, 2);
}

}  // namespace
}  // namespace ddptrain
