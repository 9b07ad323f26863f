// Seeds LibTorch's generator before each test, so that no test depends on those before it.
#include <ATen/CPUGeneratorImpl.h>
#include <gtest/gtest.h>

#include <mutex>

namespace {

class Seeding final : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo&) override {
    auto generator = at::detail::getDefaultCPUGenerator();
    const std::lock_guard lock(generator.mutex());
    generator.set_current_seed(1);
  }
};

// GoogleTest deletes it.
const bool seeds = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new Seeding);
  return true;
}();

}  // namespace
