// An installed tree runs from any folder.
#include <gtest/gtest.h>

#include <filesystem>

#include "program.h"
#include "support/where.h"

namespace ddptrain::end_to_end {
namespace {

TEST(Install, TheInstalledTreeTrainsAndHoldsItsSchema) {
  const Folder folder;
  const auto build = test::build_folder();
  const auto installed =
      Program({"--install", build, "--prefix", folder / "usr"}, folder.path(), {}, "cmake").wait();
  ASSERT_EQ(installed.code, 0) << installed.err;
  const auto program = folder / "usr/bin/ddptrain", share = folder / "usr/share/ddptrain";
  EXPECT_EQ(Program({"schema"}, folder.path(), {}, program).wait().out,
            read(share + "/schemas/recipe.json"));
  const auto trained = Program({"run", share + "/configs/quickstart.yaml", "data.root=" + shapes(),
                                "train.duration=1 step", "~expect"},
                               folder.path(), {}, program)
                           .wait();
  EXPECT_EQ(trained.code, 0) << trained.err;
  EXPECT_TRUE(exists(folder / "runs/quickstart/001/checkpoints/step-00000001"));
}

}  // namespace
}  // namespace ddptrain::end_to_end
