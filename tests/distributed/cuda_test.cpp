#include "distributed/cuda.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/error.h"
#include "support/where.h"

namespace ddptrain {
namespace {

// The program's folder has the plug-in, this test's has not.
TEST(CudaPlugin, SaysWhatWouldDoWhereItIsMissing) {
  try {
    cuda_plugin();
    GTEST_SKIP() << "the loader found "
                 << "libddptrain_cuda.so on its own path";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::device);
    EXPECT_THAT(error.what(), testing::HasSubstr("this ddptrain was built without it"));
    EXPECT_THAT(error.what(), testing::HasSubstr("'parallel.device: cpu'"));
  }
}

TEST(CudaPlugin, LoadsWhereItsLibrariesAre) {
  const auto path = std::filesystem::path(test::build_folder()) / "libddptrain_cuda.so";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "not built: CUDA or NCCL headers are missing";
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) {
    // Only a library of NVIDIA's may be missing, never a symbol.
    const std::string why = dlerror();
    EXPECT_THAT(why, testing::HasSubstr("cannot open shared object file"));
    GTEST_SKIP() << why;
  }
  const auto entry = reinterpret_cast<CudaPluginEntry*>(dlsym(library, CudaPlugin::symbol));
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry()->version, CudaPlugin::current);
  EXPECT_GE(entry()->device_count(), 0);
}

}  // namespace
}  // namespace ddptrain
