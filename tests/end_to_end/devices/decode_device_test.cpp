// data.decode_device in whole runs: what the device decodes, and what a person reads where it does
// not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "end_to_end/devices/jpeg_recipe.h"
#include "end_to_end/ranks/machines.h"

namespace ddptrain::end_to_end {
namespace {

using testing::HasSubstr;
using testing::Not;

class DecodeDevice : public testing::Test {
 protected:
  DecodeDevice() { write_jpeg_recipe(folder_); }

  Ended trained(const std::string& name, std::vector<std::string> more,
                const Variables& variables = simulating()) const {
    more.insert(more.begin(), {"run", "jpegs.yaml", "output.dir=runs", "name=" + name});
    return Program(more, folder_.path(), variables).wait();
  }
  std::string weights(const std::string& name) const {
    return read(folder_ / ("runs/" + name + "/latest/checkpoints/step-00000006/model.safetensors"));
  }
  std::string recipe(const std::string& name) const {
    return read(folder_ / ("runs/" + name + "/latest/recipe.yaml"));
  }

  Folder folder_;
};

// The simulated device decodes by libjpeg, whole images as exact decoding does.
TEST_F(DecodeDevice, DecodesWhatTheCpuWouldHave) {
  for (const char* mode : {"none", "dp", "ddp"}) {
    const std::vector<std::string> devices{
        "parallel.device=simulated", std::string("parallel.mode=") + mode,
        std::string("parallel.devices=") + (mode == std::string("none") ? "1" : "2")};
    auto words = devices;
    words.emplace_back("data.decode_device=gpu");
    const auto far = std::string("far-") + mode, near = std::string("near-") + mode;
    const auto ended = trained(far, words);
    ASSERT_EQ(ended.code, 0) << ended.err;
    ASSERT_EQ(trained(near, devices).code, 0);
    EXPECT_EQ(weights(far), weights(near)) << mode;
  }
}

TEST_F(DecodeDevice, OfAutoIsWrittenIntoTheRun) {
  ASSERT_EQ(trained("device", {"parallel.device=simulated", "data.decode_device=auto"}).code, 0);
  EXPECT_THAT(recipe("device"), HasSubstr("decode_device: gpu"));
  const auto without = simulating({{"DDPTRAIN_SIMULATED_NVJPEG", "none"}});
  const auto ended =
      trained("without", {"parallel.device=simulated", "data.decode_device=auto"}, without);
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("data.decode_device: auto: images are decoded on the CPU; there "
                                   "is no simulated nvJPEG\n"));
  EXPECT_THAT(recipe("without"), HasSubstr("decode_device: cpu"));
  ASSERT_EQ(trained("cpu", {"parallel.device=cpu", "data.decode_device=auto"}).code, 0);
  EXPECT_THAT(recipe("cpu"), HasSubstr("decode_device: cpu"));
}

TEST_F(DecodeDevice, ThatIsMissingIsAnError) {
  const auto without = simulating({{"DDPTRAIN_SIMULATED_NVJPEG", "none"}});
  const auto ended = trained("a", {"parallel.device=simulated", "data.decode_device=gpu"}, without);
  EXPECT_EQ(ended.code, 4);
  EXPECT_THAT(ended.err, HasSubstr("data.decode_device: there is no simulated nvJPEG\n"));
  const auto on_cpu = trained("b", {"data.decode_device=gpu"}, with({}));
  EXPECT_EQ(on_cpu.code, 4);
  EXPECT_THAT(on_cpu.err, HasSubstr("data.decode_device: the run has no GPU; write 'cpu', or "
                                    "'auto' for runs on both\n"));
}

// Evaluation decodes on the CPU: a run of GPUs is scored anywhere.
TEST_F(DecodeDevice, IsNotNeededToScoreItsRun) {
  ASSERT_EQ(trained("a", {"parallel.device=simulated", "data.decode_device=gpu"}).code, 0);
  const auto scored =
      run({"eval", "runs/a/latest", "parallel.device=cpu"}, folder_.path(), environment());
  EXPECT_EQ(scored.code, 0) << scored.err;
  EXPECT_THAT(scored.err, Not(HasSubstr("decode_device")));
}

}  // namespace
}  // namespace ddptrain::end_to_end
