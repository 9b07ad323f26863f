// What a job keeps of its recipe.
#include "jobs/job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files/files.h"
#include "recipe/load/load.h"
#include "support/temporary_folder.h"
#include "train/catalogs.h"

namespace ddptrain {
namespace {

using testing::HasSubstr;

const char* const kRecipe = R"(recipe: 1
model: mnist_net
data: {type: mnist, root: digits}
batch: {global: 64}
train: {duration: 1 epochs}
parallel: {device: cpu}
)";

// A size that was found from the devices' memory is recorded, and a resumed run reads it there.
TEST(Job, RecordsTheMicroBatchThatWasFound) {
  const TemporaryFolder folder;
  const auto file = folder / "recipe.yaml";
  write_atomically(file, kRecipe);
  make_folders(folder / "digits");
  auto loaded = load_recipe({file}, {}, all_catalogs());
  ASSERT_EQ(render(loaded.problems), "");
  auto job = make_job(loaded.recipe, loaded.tree, {});
  EXPECT_THAT(job.recipe_text, HasSubstr("micro: 64, accumulate: 1}  # micro: auto"));
  auto found = job.recipe;
  found.batch.micro = Auto<std::int64_t>(16);
  found.batch.accumulate = Auto<std::int64_t>(4);
  write_atomically(file, job.record(found));
  EXPECT_THAT(read_text(file), HasSubstr("micro: 16, accumulate: 4}  # micro: auto"));
  auto again = load_recipe({file}, {}, all_catalogs());
  ASSERT_EQ(render(again.problems), "");
  EXPECT_FALSE(again.recipe.batch.micro.automatic());
  EXPECT_EQ(to_text(make_job(again.recipe, again.tree, {}).placement.batch),
            "global 64 = micro 16 x accumulate 4 x 1 device");
}

}  // namespace
}  // namespace ddptrain
