// Plug-ins, and the devices of machines of a test's choice.
#include "accelerator/accelerator.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/version.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "accelerator/code_cache.h"
#include "accelerator/devices.h"
#include "accelerator/plugin.h"
#include "base/error.h"
#include "simulated/use.h"
#include "support/where.h"

namespace ddptrain {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Accelerator, OfTheCpuIsThereAndCountsNoMemory) {
  const auto& cpu = accelerator(DeviceKind::cpu);
  EXPECT_EQ(cpu.type(), c10::kCPU);
  EXPECT_EQ(cpu.count(), 1);
  EXPECT_EQ(cpu.memory(0).total, 0);
  EXPECT_EQ(cpu.name(0), "CPU");
  EXPECT_FALSE(cpu.facts(0).traits.has_bf16);
}

// The program's folder has the plug-in, this test's has not.
TEST(CudaPlugin, SaysWhatWouldDoWhereItIsMissing) {
  try {
    accelerator(DeviceKind::cuda);
    GTEST_SKIP() << "the loader found "
                 << "libddptrain_cuda.so on its own path";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::device);
    EXPECT_STREQ(
        error.what(),
        "CUDA cannot be used: this ddptrain was built without it: 'libddptrain_cuda.so' is "
        "not next to the program; build on a machine with the CUDA toolkit and nccl.h");
  }
}

TEST(CudaPlugin, LoadsWhereItsLibrariesAre) {
  const auto path = std::filesystem::path(test::build_folder()) / "libddptrain_cuda.so";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "not built: CUDA or NCCL headers are missing";
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) {
    // Only a library of NVIDIA's may be missing, never a symbol.
    const std::string why = dlerror();
    EXPECT_THAT(why, HasSubstr("cannot open shared object file"));
    GTEST_SKIP() << why;
  }
  const auto entry = reinterpret_cast<AcceleratorEntry*>(dlsym(library, AcceleratorPlugin::symbol));
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry()->version, AcceleratorPlugin::current);
  EXPECT_STREQ(entry()->torch, TORCH_VERSION);
  EXPECT_EQ(entry()->open({cached_code}).type(), c10::kCUDA);
}

/// What a command prints of a library.
std::string printed(const std::string& command, const std::string& library) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(
      ::popen((command + " '" + library + "'").c_str(), "r"), &::pclose);
  std::string text;
  std::array<char, 4096> buffer;
  while (const auto got = std::fread(buffer.data(), 1, buffer.size(), pipe.get()))
    text.append(buffer.data(), got);
  return text;
}

// The program does not show its functions to libraries: one that is missing is found on a machine
// with CUDA alone.
TEST(CudaPlugin, HasAllFunctionsOfDdptrainThatItCalls) {
  const auto path = test::build_folder() + "/libddptrain_cuda.so";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "not built: CUDA or NCCL headers are missing";
  const auto text = printed("nm --dynamic --undefined-only", path);
  EXPECT_THAT(text, HasSubstr("cudaLaunchKernel"));
  EXPECT_THAT(text, testing::Not(HasSubstr("8ddptrain")));
}

// An RPATH would win over LD_LIBRARY_PATH, and its empty last part would be the current folder.
TEST(CudaPlugin, CanBePointedAtAnotherLibTorchByTheEnvironment) {
  const auto path = test::build_folder() + "/libddptrain_cuda.so";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "not built: CUDA or NCCL headers are missing";
  const auto text = printed("readelf -d", path);
  EXPECT_THAT(text, HasSubstr("(RUNPATH)"));
  EXPECT_THAT(text, testing::Not(HasSubstr("(RPATH)")));
  EXPECT_THAT(text, testing::Not(HasSubstr(":]")));
}

// NCCL 2.28.9 is 22809 in its header; ncclConfig_t has other fields in 2.27.3.
TEST(Versions, ConflictUnlessTheyAreTheSame) {
  EXPECT_EQ(version_conflict("NCCL", 22809, 22809), "");
  EXPECT_EQ(version_conflict("NCCL", 22809, 22703),
            "NCCL here has version 22703, and this ddptrain was built for 22809; install the "
            "version that torch names, or build here");
}

// PyTorch's index has builds for CPUs, whose version an installed one has, too: "2.11.0+cpu".
TEST(CudaPlugin, SaysThatLibTorchIsForCpus) {
  EXPECT_EQ(missing_library("libtorch_cuda.so: cannot open shared object file", "2.11.0", false),
            "LibTorch here is a build for CPUs (libtorch_cuda.so: cannot open shared object file); "
            "'pip install --force-reinstall torch==2.11.0' from PyPI has CUDA, and so has 'make "
            "setup-cuda TORCH=2.11.0'");
  EXPECT_EQ(missing_library("libcudnn.so.9: cannot open shared object file", "2.11.0", false),
            "libcudnn.so.9: cannot open shared object file (the nvidia packages that torch names "
            "belong next to LibTorch: 'pip install --force-reinstall torch==2.11.0', or 'make "
            "setup-cuda TORCH=2.11.0')");
}

// As in the tarball.
TEST(CudaPlugin, SaysHowALibTorchOfOursGetsCuda) {
  EXPECT_EQ(missing_library("libtorch_cuda.so: cannot open shared object file", "2.11.0", true),
            "LibTorch came without CUDA's libraries (libtorch_cuda.so: cannot open shared object "
            "file); 'ddptrain setup cuda' fetches them (2.7 GB)");
}

/// A library of the driver while it lives, in the place of the machine's.
class FakeDriver {
 public:
  explicit FakeDriver(const std::string& file)
      : library_(dlopen((test::build_folder() + "/fake_driver/" + file).c_str(), RTLD_NOW)) {
    EXPECT_NE(library_, nullptr) << dlerror();
  }
  ~FakeDriver() {
    dlclose(library_);
    ::unsetenv("FAKE_GPUS");
    ::unsetenv("CUDA_VISIBLE_DEVICES");
  }
  FakeDriver(const FakeDriver&) = delete;
  FakeDriver& operator=(const FakeDriver&) = delete;
  int ask(const char* symbol) const {
    return reinterpret_cast<int (*)()>(dlsym(library_, symbol))();
  }

 private:
  void* library_;
};

bool has_a_driver() {
  for (const auto* file : {"libnvidia-ml.so.1", "libcuda.so.1"})
    if (void* library = dlopen(file, RTLD_LAZY)) {
      dlclose(library);
      return true;
    }
  return false;
}

class Gpus : public testing::Test {
 protected:
  void SetUp() override {
    if (has_a_driver()) GTEST_SKIP() << "this machine has a driver of its own";
  }
};

TEST_F(Gpus, AreNoneWithoutADriver) { EXPECT_EQ(visible_gpus(), 0); }

TEST_F(Gpus, AreThoseOfNvml) {
  const FakeDriver driver("nvidia_ml/libnvidia-ml.so.1");
  ::setenv("FAKE_GPUS", "4", 1);
  EXPECT_EQ(visible_gpus(), 4);
}

TEST_F(Gpus, AreHiddenByAListOfTheOthers) {
  const FakeDriver driver("nvidia_ml/libnvidia-ml.so.1");
  ::setenv("FAKE_GPUS", "4", 1);
  const auto with = [](const char* list) {
    ::setenv("CUDA_VISIBLE_DEVICES", list, 1);
    return visible_gpus();
  };
  EXPECT_EQ(with("2"), 1);
  EXPECT_EQ(with("0,2"), 2);
  EXPECT_EQ(with("GPU-8932f937-d72c,GPU-4a02,GPU-77"), 3);
  EXPECT_EQ(with("0,1,2,3,4,5"), 4);
  EXPECT_EQ(with(""), 0);
  EXPECT_EQ(with("-1"), 0);
  EXPECT_EQ(with("0,-1,1"), 1);
  EXPECT_EQ(with("0,9,1"), 1);
}

// As in a container that has libcuda alone; a process that started it could not fork ranks.
TEST_F(Gpus, AreCountedByTheDriverInAChildWithoutNvml) {
  const FakeDriver driver("cuda/libcuda.so.1");
  ::setenv("FAKE_GPUS", "3", 1);
  EXPECT_EQ(visible_gpus(), 3);
  EXPECT_EQ(driver.ask("fake_driver_started"), 0);
}

TEST_F(Gpus, HaveAnAddressOnTheBus) {
  EXPECT_EQ(bus_address(DeviceKind::cuda, 0), "");
  const FakeDriver driver("nvidia_ml/libnvidia-ml.so.1");
  ::setenv("FAKE_GPUS", "4", 1);
  EXPECT_EQ(bus_address(DeviceKind::cuda, 2), "0000:1d:00.0");
  EXPECT_EQ(bus_address(DeviceKind::cuda, 4), "");
  EXPECT_EQ(bus_address(DeviceKind::cpu, 0), "");
  ::setenv("CUDA_VISIBLE_DEVICES", "3, GPU-1", 1);
  EXPECT_EQ(bus_address(DeviceKind::cuda, 0), "0000:1e:00.0");
  EXPECT_EQ(bus_address(DeviceKind::cuda, 1), "0000:1c:00.0");
  EXPECT_EQ(bus_address(DeviceKind::cuda, 2), "");
}

TEST_F(Gpus, HaveADriverWhoseVersionNvmlKnows) {
  EXPECT_EQ(driver_version(), "");
  const FakeDriver driver("nvidia_ml/libnvidia-ml.so.1");
  EXPECT_EQ(driver_version(), "580.65.06");
}

// LibTorch's allocator reads the variable when it is opened, and never again: in a process where
// no other test has opened the plug-in.
void expect_growing_segments() {
  const auto settings_after_opening = [] {
    EXPECT_ANY_THROW({
      accelerator(DeviceKind::cuda);
      throw Error(Exit::device, "it opened");
    });
    const char* text = std::getenv("PYTORCH_ALLOC_CONF");
    return std::string(text ? text : "");
  };
  ::unsetenv("PYTORCH_ALLOC_CONF");
  EXPECT_EQ(settings_after_opening(), "expandable_segments:True");
  ::unsetenv("PYTORCH_ALLOC_CONF");
  keep_segment_sizes();  // as a process of several devices does before
  EXPECT_EQ(settings_after_opening(), "expandable_segments:False");
  ::setenv("PYTORCH_ALLOC_CONF", "max_split_size_mb:128", 1);
  keep_segment_sizes();
  EXPECT_EQ(settings_after_opening(), "max_split_size_mb:128");
  ::unsetenv("PYTORCH_ALLOC_CONF");
  ::setenv("PYTORCH_CUDA_ALLOC_CONF", "max_split_size_mb:128", 1);
  EXPECT_EQ(settings_after_opening(), "");
  ::unsetenv("PYTORCH_CUDA_ALLOC_CONF");
}

TEST(CudaPlugin, IsOpenedWithSegmentsThatGrowUnlessTheUserSaysOtherwise) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        expect_growing_segments();
        std::_Exit(testing::Test::HasFailure() ? 1 : 0);
      },
      testing::ExitedWithCode(0), "");
}

TEST(FindDevices, HaveTheTraitsThatTheirAcceleratorSays) {
  test::allow_the_simulated_device();
  EXPECT_FALSE(find_devices(DeviceKind::simulated).traits.has_bf16);
  ::setenv("DDPTRAIN_SIMULATED_TRAITS", "bf16", 1);
  const auto traits = find_devices(DeviceKind::simulated).traits;
  ::unsetenv("DDPTRAIN_SIMULATED_TRAITS");
  EXPECT_TRUE(traits.has_bf16);
  EXPECT_FALSE(traits.gains_by_channels_last);
}

TEST(FindDevices, NamesThoseThatWork) {
  test::allow_the_simulated_device();
  ::setenv("DDPTRAIN_SIMULATED_COUNT", "3", 1);
  const auto found = find_devices(DeviceKind::simulated);
  ::unsetenv("DDPTRAIN_SIMULATED_COUNT");
  EXPECT_THAT(found.names, ElementsAre("simulated 0", "simulated 1", "simulated 2"));
  EXPECT_EQ(found.why_none, "");
}

TEST(FindDevices, SaysInOneLineWhyThereIsNone) {
  test::allow_the_simulated_device();
  ::setenv("DDPTRAIN_SIMULATED_FAULT", "the driver is too old\nframe #0: in a library", 1);
  const auto found = find_devices(DeviceKind::simulated);
  ::unsetenv("DDPTRAIN_SIMULATED_FAULT");
  EXPECT_THAT(found.names, IsEmpty());
  EXPECT_EQ(found.why_none, "the simulated device cannot be used: the driver is too old");
}

}  // namespace
}  // namespace ddptrain
