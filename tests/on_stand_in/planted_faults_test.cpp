// The stand-in finds what is wrong with a program, and nothing with a right one: what shows that a
// run without a report of it means something.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "on_stand_in/stand_in_run.h"

namespace ddptrain::end_to_end {
namespace {

using ::testing::MatchesRegex;

struct PlantedFault {
  std::string program, name;
  std::string sentence;  // a regular expression of the whole
  int code = 134;        // aborted
};

void PrintTo(const PlantedFault& fault, std::ostream* out) { *out << fault.name; }

class PlantedFaults : public ::testing::TestWithParam<PlantedFault> {
 protected:
  void SetUp() override {
    if (stand_in_folder().empty()) GTEST_SKIP() << kNoStandIn;
  }
};

TEST_P(PlantedFaults, AreFound) {
  const auto& [program, name, sentence, code] = GetParam();
  const auto run = on_stand_in({name}, 2, {}, stand_in_folder() + "/" + program);
  EXPECT_EQ(run.ended.code, code) << run.ended.err;
  EXPECT_THAT(run.faults, MatchesRegex(sentence + "\n"));
}

constexpr const char* kTo = "a copy to the device on stream [0-9]+ of device 0";
constexpr const char* kAdd = "kernel add_relu_float on stream [0-9]+ of device 0";
constexpr const char* kAddOnDefault = "kernel add_relu_float on the default stream of device 0";
constexpr const char* kAt = " [0-9]+ bytes at 0x[0-9a-f]+";
constexpr const char* kNoOrder = ": no event orders the two";
constexpr const char* kBroken = "the capture of stream [0-9]+ of device 0 is broken by ";
constexpr const char* kForbidden = ", which CUDA forbids while a stream is captured";

std::string text(std::initializer_list<const char*> parts) {
  std::string all;
  for (const auto* part : parts) all += part;
  return all;
}

INSTANTIATE_TEST_SUITE_P(
    Order, PlantedFaults,
    ::testing::Values(
        PlantedFault{"cuda_faults", "missing_event",
                     text({kAdd, " reads", kAt, ", which ", kTo, " may still write", kNoOrder})},
        PlantedFault{"cuda_faults", "early_event",
                     text({kAdd, " reads", kAt, ", which ", kTo, " may still write", kNoOrder})},
        PlantedFault{"cuda_faults", "early_overwrite",
                     text({kTo, " writes", kAt, ", which ", kAdd, " may still read", kNoOrder})},
        PlantedFault{
            "cuda_faults", "wrong_stream",
            text({kAddOnDefault, " reads", kAt, ", which ", kTo, " may still write", kNoOrder})},
        PlantedFault{"torch_faults", "missing_wait",
                     text({"a copy on the device on the default stream of device 0 reads", kAt,
                           ", which ", kTo, " may still write", kNoOrder})},
        PlantedFault{"torch_faults", "missing_record_stream",
                     text({"LibTorch's allocation of a block on stream [0-9]+ of device 0 writes",
                           kAt, ", which a copy on the device on the default stream of device 0 ",
                           "may still read", kNoOrder})}));

INSTANTIATE_TEST_SUITE_P(
    HostMemory, PlantedFaults,
    ::testing::Values(
        PlantedFault{"cuda_faults", "pinned_buffer_reused",
                     "a copy to the device: 1024 bytes of host memory at 0x[0-9a-f]+ were changed "
                     "before their copy ran"},
        PlantedFault{"cuda_faults", "pinned_buffer_written_before_its_copy",
                     "a copy to the host: 1024 bytes of host memory at 0x[0-9a-f]+ were written "
                     "before the copy to them ran"},
        PlantedFault{"cuda_faults", "pinned_buffer_freed",
                     text({"cudaFreeHost of", kAt, ", which ", kTo, " may still read"})}));

INSTANTIATE_TEST_SUITE_P(
    Kernels, PlantedFaults,
    ::testing::Values(
        PlantedFault{"cuda_faults", "empty_grid",
                     text({kAddOnDefault, " is launched with an empty grid: 0 x 1 x 1 blocks of ",
                           "256 x 1 x 1 threads"})},
        PlantedFault{"cuda_faults", "kernel_beyond_its_allocation",
                     text({kAddOnDefault, " reads", kAt, ", beyond an allocation of", kAt})},
        PlantedFault{"cuda_faults", "kernel_on_freed_memory",
                     text({kAddOnDefault, " reads", kAt, ", where nothing is allocated"})},
        PlantedFault{"cuda_faults", "kernel_on_memory_of_another_device",
                     text({"kernel add_relu_float on the default stream of device 1 reads", kAt,
                           ", memory of device 0"})},
        PlantedFault{"cuda_faults", "graph_on_freed_memory",
                     text({"kernel add_relu_float of a graph on stream [0-9]+ of device 0 reads",
                           kAt, ", where nothing is allocated"})}));

// CUDA answers with an error, and the capture ends as one that is broken.
INSTANTIATE_TEST_SUITE_P(
    InCaptures, PlantedFaults,
    ::testing::Values(
        PlantedFault{"cuda_faults", "allocation_in_a_capture",
                     text({kBroken, "cudaMalloc", kForbidden}), 0},
        PlantedFault{"cuda_faults", "code_loaded_in_a_capture",
                     text({kBroken, "cudaLibraryLoadData", kForbidden}), 0},
        PlantedFault{"cuda_faults", "query_in_a_capture",
                     text({kBroken, "cudaEventQuery", kForbidden}), 0},
        PlantedFault{"cuda_faults", "wait_in_a_capture",
                     text({kBroken, "cudaStreamSynchronize of stream [0-9]+ of device 0, whose ",
                           "work is not done but captured"}),
                     0},
        PlantedFault{"cuda_faults", "wait_for_an_event_from_outside",
                     text({kBroken, "a wait of stream [0-9]+ of device 0 for an event that was ",
                           "recorded outside of it"}),
                     0},
        PlantedFault{
            "cuda_faults", "stream_left_in_a_capture",
            "the capture of stream [0-9]+ of device 0 ends while stream [0-9]+ of device 0 "
            "has work in it that no event joined",
            0},
        PlantedFault{
            "cuda_faults", "capture_of_the_default_stream",
            "a capture of the default stream of device 0: CUDA captures other streams only", 0},
        PlantedFault{"cuda_faults", "pageable_memory_in_a_capture",
                     "a graph gets a copy from pageable host memory at 0x[0-9a-f]+ on stream "
                     "[0-9]+ of device 0, which need not be there when the graph is replayed"}));

TEST(RightPrograms, AreLeftAlone) {
  if (stand_in_folder().empty()) GTEST_SKIP() << kNoStandIn;
  for (const auto* program : {"cuda_faults", "torch_faults"}) {
    for (const auto* seed : {"1", "2", "3", "4", "5"}) {
      const auto run =
          on_stand_in({"right"}, 1, {{"STAND_IN_SEED", seed}}, stand_in_folder() + "/" + program);
      EXPECT_EQ(run.ended.code, 0) << run.ended.err;
      EXPECT_EQ(run.faults, "");
    }
  }
}

TEST(RightPrograms, MayCaptureStreamsThatEventsJoin) {
  if (stand_in_folder().empty()) GTEST_SKIP() << kNoStandIn;
  const auto run = on_stand_in({"right_capture"}, 1, {}, stand_in_folder() + "/cuda_faults");
  EXPECT_EQ(run.ended.code, 0) << run.ended.err;
  EXPECT_EQ(run.faults, "");
}

TEST(FirstUseOfAKernelInACapture, IsCounted) {
  if (stand_in_folder().empty()) GTEST_SKIP() << kNoStandIn;
  const auto run =
      on_stand_in({"first_load_in_a_capture"}, 1, {}, stand_in_folder() + "/cuda_faults");
  EXPECT_EQ(run.ended.code, 0) << run.ended.err;
  EXPECT_EQ(run.faults, "");
  EXPECT_EQ(run.loads, "add_relu_float\n");
}

}  // namespace
}  // namespace ddptrain::end_to_end
