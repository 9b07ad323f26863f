// `config` writes what suits this machine, for any recipe.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "end_to_end/program.h"

namespace ddptrain::end_to_end {
namespace {

TEST(Config, WritesAFileThatAnyRecipeRunsWith) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  const auto written = run({"config"}, folder.path(), environment());
  ASSERT_EQ(written.code, 0) << written.err;
  EXPECT_THAT(written.out, testing::HasSubstr("ddptrain run RECIPE.yaml machine.yaml\n"));
  EXPECT_THAT(read(folder / "machine.yaml"), testing::HasSubstr("\nparallel: {mode: "));
  const auto ended = run({"run", "small.yaml", "machine.yaml", "train.duration=1 step"},
                         folder.path(), environment());
  EXPECT_EQ(ended.code, 0) << ended.err;
}

TEST(Config, ReplacesNothingUnasked) {
  const Folder folder;
  write(folder / "machine.yaml", "mine");
  EXPECT_EQ(run({"config"}, folder.path()).code, 2);
  EXPECT_EQ(read(folder / "machine.yaml"), "mine");
  EXPECT_EQ(run({"config", "--force"}, folder.path()).code, 0);
  EXPECT_NE(read(folder / "machine.yaml"), "mine");
}

TEST(Config, WritesToStdoutToo) {
  const Folder folder;
  const auto ended = run({"config", "-"}, folder.path());
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, testing::HasSubstr("\noutput: {dir: " + folder / "runs}\n"));
  EXPECT_FALSE(exists(folder / "machine.yaml"));
}

}  // namespace
}  // namespace ddptrain::end_to_end
