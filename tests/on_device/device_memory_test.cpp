// What a run says where a device's memory ends.
#include "train/device_memory.h"

#include <gtest/gtest.h>

#include "launch/failure.h"
#include "simulated/use.h"
#include "train/placement.h"

namespace ddptrain {
namespace {

Placement on_one() {
  test::simulated_accelerator();
  Placement placement;
  placement.device = DeviceKind::simulated;
  placement.ids = {0};
  return placement;
}

std::string explained(const Placement& placement, std::exception_ptr error) {
  try {
    explain_memory(placement, 0, std::move(error));
  } catch (const Error& found) {
    EXPECT_EQ(found.code(), Exit::memory);
    return found.what();
  } catch (const std::exception& other) {
    return std::string("not explained: ") + other.what();
  }
}

TEST(DeviceMemoryError, NamesTheOptionThatDecidesHowMuchIsNeeded) {
  const auto in = [](const char* phase) { return std::make_exception_ptr(OutOfMemory(phase, "")); };
  EXPECT_EQ(explained(on_one(), in("the forward pass")),
            "batch.micro: out of memory in the forward pass; 'batch.micro=auto "
            "batch.accumulate=auto' finds what fits with the same result, and "
            "'train.precision=bf16' needs less");
  EXPECT_EQ(explained(on_one(), in("evaluation")),
            "eval.batch: out of memory in evaluation; a smaller one needs less");
}

TEST(DeviceMemoryError, SaysWhatTheDeviceHas) {
  simulated::set_memory(std::int64_t{80} << 30);
  const auto placement = on_one();
  const auto text =
      explained(placement, std::make_exception_ptr(OutOfMemory("evaluation", "2.00 GiB")));
  simulated::set_memory(0);
  EXPECT_EQ(text.find("eval.batch: out of memory in evaluation, where 2.00 GiB more were asked "
                      "for; the device has 80.0 GiB, and at most "),
            0U)
      << text;
}

TEST(DeviceMemoryError, IsOnlyThat) {
  const auto other = std::make_exception_ptr(std::runtime_error("a bug"));
  EXPECT_EQ(explained(on_one(), other), "not explained: a bug");
  const auto message = std::make_exception_ptr(Error(Exit::memory, "not even one sample fits"));
  EXPECT_EQ(explained(on_one(), message), "not even one sample fits");
  const auto on_cpu = std::make_exception_ptr(std::runtime_error("can't allocate memory"));
  EXPECT_EQ(explained(Placement{}, on_cpu),
            "out of memory; a smaller model, batch.micro or eval.batch needs less");
  EXPECT_EQ(explained(Placement{}, other), "not explained: a bug");
}

}  // namespace
}  // namespace ddptrain
