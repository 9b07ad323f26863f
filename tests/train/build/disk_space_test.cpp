// Room for checkpoints is known before the first step.
#include "train/build/disk_space.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "base/files/files.h"
#include "support/temporary_folder.h"
#include "train/loop/loop.h"
#include "train/loop/state.h"
#include "train/small_training.h"

namespace ddptrain {
namespace {

using namespace test;
using testing::HasSubstr;

std::int64_t bytes_of_all(const Checkpoint& checkpoint) {
  std::int64_t bytes = 0;
  for (const auto* tensors : {&checkpoint.model, &checkpoint.optimizer, &checkpoint.ema})
    for (const auto& [name, tensor] : *tensors)
      if (name != "ema_updates") bytes += static_cast<std::int64_t>(tensor.nbytes());
  return bytes;
}

TEST(DiskSpace, OfACheckpointIsKnownBeforeTheOptimizerHasState) {
  auto world = single_world();
  auto t = small_training(world, {.norm = true});
  t.ema = std::make_unique<Ema>(t.engine->model().named_parameters(), 0.9);
  const auto before = checkpoint_bytes(t);
  EXPECT_GT(before, bytes_of_all(capture(t)));
  train(t);
  EXPECT_EQ(before, bytes_of_all(capture(t)));
  EXPECT_EQ(checkpoint_bytes(t), before);
}

TEST(DiskSpace, IsForTheLastTheBestAndOneThatIsBeingWritten) {
  auto world = single_world();
  auto t = small_training(world, {});
  t.recipe.checkpoint.keep_last = 3;
  t.recipe.checkpoint.every = {1, Duration::Unit::steps};
  EXPECT_EQ(most_checkpoints(t, 0), 4);
  t.recipe.checkpoint.keep_best.emplace();
  EXPECT_EQ(most_checkpoints(t, 0), 5);
  t.recipe.checkpoint.keep_best.reset();
  t.recipe.checkpoint.every = {3, Duration::Unit::steps};
  EXPECT_EQ(most_checkpoints(t, 0), 2);  // of six steps: the third, the last
}

TEST(DiskSpace, CountsWhatIsThereAlready) {
  EXPECT_EQ(lack_of_space({"runs", 100, 60, 40}), "");
  EXPECT_THAT(lack_of_space({"runs", 5 << 20, 1 << 20, 1 << 20}),
              HasSubstr("no space for the run's checkpoints in 'runs': up to 5.0 MiB at once, "
                        "1.0 MiB are free"));
}

TEST(DiskSpace, ThatIsLackingIsSaidOnAllRanks) {
  const auto thrown = play(make_thread_worlds(2), [](World& world) {
    SmallRun run;
    run.mode = Mode::ddp;
    auto t = small_training(world, run);
    t.recipe.checkpoint.every = {1, Duration::Unit::seconds};
    t.recipe.checkpoint.keep_last = std::int64_t{1} << 45;
    require_space(t, 0, "/tmp");
  });
  for (const auto& error : thrown)
    EXPECT_THAT(message_of(error), HasSubstr("no space for the run's checkpoints in '/tmp'"));
}

TEST(DiskSpace, OfTheNodesIsForTheFilesOfTheirRanks) {
  const TemporaryFolder folder;
  const auto& root = folder.path();
  const auto thrown = play(make_thread_worlds(2), [&](World& world) {
    SmallRun run;
    run.mode = Mode::ddp;
    auto t = small_training(world, run);
    t.recipe.checkpoint.local = LocalCheckpointSpec{};
    t.recipe.checkpoint.local->every = {1, Duration::Unit::seconds};
    const auto space = free_space(root).bytes;
    // Room for all of them with the files of one rank, not with those of two.
    t.recipe.checkpoint.keep_last = space / checkpoint_bytes(t) * 3 / 2;
    EXPECT_NO_THROW(require_local_space(t, 0, root, 1));
    require_local_space(t, 0, root, 2);
  });
  for (const auto& error : thrown) {
    EXPECT_THAT(message_of(error),
                HasSubstr("rank 0: no space for the run's checkpoints in '" + root + "'"));
    EXPECT_THAT(message_of(error), HasSubstr("choose another 'checkpoint.local.dir', or a smaller "
                                             "'checkpoint.keep_last'"));
  }
}

}  // namespace
}  // namespace ddptrain
