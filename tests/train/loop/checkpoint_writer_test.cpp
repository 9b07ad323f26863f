// Checkpoints written while training continues equal those written synchronously.
#include "train/loop/checkpoint_writer.h"

#include <ATen/ops/ones.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "base/error.h"
#include "checkpoint/checkpoint.h"
#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using When = CheckpointWriter::When;

Checkpoint ones(std::int64_t step) {
  Checkpoint checkpoint;
  checkpoint.step = step;
  checkpoint.model = {{"weight", at::ones({100, 100})}};
  checkpoint.state = "{}";
  return checkpoint;
}

class Writing : public testing::TestWithParam<When> {
 protected:
  std::string root() const { return folder_ / "checkpoints"; }
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& folder : list_checkpoints(root()))
      found.push_back(fs::path(folder).filename());
    return found;
  }
  const TemporaryFolder folder_;
};

TEST_P(Writing, KeepsWhatWasTakenWhileTrainingGoesOn) {
  CheckpointWriter writer(GetParam());
  auto checkpoint = ones(7);
  writer.write(parts_of(checkpoint), {root(), 2, {}});
  if (GetParam() == When::in_background) checkpoint.model[0].tensor.zero_();
  const auto folder = writer.wait();
  ASSERT_TRUE(folder);
  EXPECT_TRUE(load_checkpoint(*folder).model[0].tensor.equal(at::ones({100, 100})));
  EXPECT_FALSE(writer.written()) << "it is reported once";
  EXPECT_FALSE(writer.wait());
}

TEST_P(Writing, IsToldWhenTheFilesAreWhole) {
  CheckpointWriter writer(GetParam());
  writer.write(parts_of(ones(7)), {root(), 2, {}});
  std::optional<std::string> folder;
  while (!(folder = writer.written())) std::this_thread::yield();
  EXPECT_EQ(fs::path(*folder).filename(), "step-00000007");
  load_checkpoint(*folder);
}

TEST_P(Writing, LinksTheBestAndDeletesWhatIsNotKept) {
  CheckpointWriter writer(GetParam());
  for (const std::int64_t step : {1, 2, 3, 4}) {
    writer.write(parts_of(ones(step)), {root(), 2, 1});
    writer.wait();
  }
  EXPECT_THAT(names(), ElementsAre("step-00000001", "step-00000003", "step-00000004"));
  EXPECT_EQ(fs::read_symlink(root() + "/best"), "step-00000001");
}

// Where the folder belongs there is a file.
TEST_P(Writing, ThatFailsIsTheErrorOfWhoAsks) {
  folder_.write("checkpoints", "a file");
  CheckpointWriter writer(GetParam());
  try {
    writer.write(parts_of(ones(1)), {root(), 2, {}});
    writer.wait();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::data);
  }
}

TEST_P(Writing, EndsBeforeItsWriterIsGone) {
  {
    CheckpointWriter writer(GetParam());
    writer.write(parts_of(ones(5)), {root(), 2, {}});
  }
  EXPECT_THAT(names(), ElementsAre("step-00000005"));
}

INSTANTIATE_TEST_SUITE_P(Both, Writing, testing::Values(When::at_once, When::in_background),
                         [](const auto& when) {
                           return when.param == When::at_once ? "AtOnce" : "InBackground";
                         });

TEST(WritingInTheBackground, LeavesAFailureToAnotherErrorThatEndsTheRun) {
  const TemporaryFolder folder;
  folder.write("checkpoints", "a file");
  CheckpointWriter writer(When::in_background);
  writer.write(parts_of(ones(1)), {folder / "checkpoints", 2, {}});
}

}  // namespace
}  // namespace ddptrain
