// Opens the device first: LibTorch looks for CUDA once and for good.
#include <ATen/Context.h>
#include <c10/core/ScalarType.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "gpu/device.h"
#include "recipe/recipe.h"
#include "support/where.h"

namespace ddptrain::gpu {
namespace {

constexpr int kSkipped = 77;  // for ctest

const Accelerator* opened = nullptr;

DeviceKind kind_of(const char* name) {
  if (std::strcmp(name, "simulated") == 0) {
    const auto library = test::build_folder() + "/libddptrain_simulated.so";
    ::setenv(kSimulatedDevice, library.c_str(), 0);
    return DeviceKind::simulated;
  }
  if (std::strcmp(name, "cuda") == 0) return DeviceKind::cuda;
  std::fprintf(stderr, "DDPTRAIN_GPU_TEST_DEVICE is '%s', not cuda or simulated\n", name);
  std::exit(2);
}

/// As prepare_process of train/run does for fp32, without which LibTorch lets cuDNN use TF32. The
/// same kernels each time, where cuDNN has such.
void compute_as_fp32() {
  auto& context = at::globalContext();
  context.setAllowTF32CuDNN(false);
  context.setDeterministicCuDNN(true);
}

int skip(const std::string& why) {
  std::printf("[  SKIPPED ] all tests of a device: %s\n", why.c_str());
  return kSkipped;
}

}  // namespace

const Accelerator& tested() { return *opened; }
c10::Device device() { return {tested().type(), 0}; }

bool takes_large_networks() {
  const char* wanted = std::getenv("DDPTRAIN_LONG");
  return device().is_cuda() || (wanted && std::strcmp(wanted, "1") == 0);
}

double relative_distance(const at::Tensor& far, const at::Tensor& near, double rounding) {
  const auto a = far.detach().to(at::kCPU, at::kDouble), b = near.detach().to(at::kDouble);
  const double difference = (a - b).norm().item<double>();
  return difference <= rounding ? 0 : (difference - rounding) / b.norm().item<double>();
}

int main_of(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const char* name = std::getenv("DDPTRAIN_GPU_TEST_DEVICE");
  if (name == nullptr) return skip("DDPTRAIN_GPU_TEST_DEVICE names none (cuda or simulated)");
  try {
    opened = &accelerator(kind_of(name));
    if (opened->count() == 0) return skip("there is none of kind " + std::string(name));
    opened->select(0);
    opened->be_deterministic();
    compute_as_fp32();
  } catch (const std::exception& error) {
    return skip(error.what());
  }
  return RUN_ALL_TESTS();
}

}  // namespace ddptrain::gpu

int main(int argc, char** argv) { return ddptrain::gpu::main_of(argc, argv); }
