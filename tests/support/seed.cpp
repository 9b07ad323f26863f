// Seeds LibTorch's generator before each test as a process begins, so that a test finds the same
// numbers whichever tests ran before it.
#include <ATen/CPUGeneratorImpl.h>
#include <c10/core/GeneratorImpl.h>
#include <gtest/gtest.h>

#include <mutex>

namespace {

class Seeding final : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo&) override {
    auto generator = at::detail::getDefaultCPUGenerator();
    const std::lock_guard lock(generator.mutex());
    generator.set_current_seed(c10::default_rng_seed_val);
  }
};

// GoogleTest deletes it.
const bool seeds = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new Seeding);
  return true;
}();

}  // namespace
