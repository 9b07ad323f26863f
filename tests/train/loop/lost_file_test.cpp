// A file that is cut while a run reads it: the run is saved, and its end names the file.
#include <gmock/gmock.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <thread>

#include "base/error.h"
#include "launch/failure.h"
#include "sources/files/mapped_file.h"
#include "support/temporary_folder.h"
#include "train/finished_run.h"
#include "train/step/evaluate.h"

namespace ddptrain {
namespace {

using namespace test;

/// Sample i of a split is read from page i of a mapped file of zeros.
class MappedSamples final : public DrawnSamples {
 public:
  explicit MappedSamples(const std::string& path, Split split = Split::valid)
      : DrawnSamples(23, {}), file_(path), split_(split) {}
  bool load(Split split, std::int64_t index, const Draw& draw, Batch& batch,
            std::int64_t row) const override {
    const auto page = static_cast<std::size_t>(index) * kPage;
    if (split == split_ && file_.bytes()[page] != 0) return false;
    return DrawnSamples::load(split, index, draw, batch, row);
  }
  static constexpr std::size_t kPage = 4096;

 private:
  MappedFile file_;
  Split split_;
};

SmallTraining mapped_training(World& world, const std::string& path) {
  SmallRun run;
  if (world.size > 1) run.mode = Mode::ddp;
  auto t = small_training(world, run);
  t.data = std::make_unique<MappedSamples>(path);
  t.loader = make_loader(*t.data, {.workers = 0});
  t.valid_loader = make_loader(*t.data, {.split = Split::valid, .workers = 0});
  return t;
}

/// Cuts the file as the first evaluation begins. Not to return: what was lost is lost for good.
[[noreturn]] void lose_file_in_evaluation(int ranks, const std::string& path,
                                          const std::string& folder) {
  const auto thrown = play(make_thread_worlds(ranks), [&](World& world) {
    auto t = mapped_training(world, path);
    Hooks hooks;
    hooks.checkpoints = folder;
    hooks.beat = [&](std::int64_t, const char* phase) {
      if (world.rank == 0 && phase == std::string("evaluation"))
        std::filesystem::resize_file(path, 0);
    };
    train(t, hooks);
  });
  for (const auto& error : thrown) std::cerr << message_of(error) << std::endl;
  std::_Exit(failure_of(thrown.back(), 0).code == Exit::data ? 3 : 70);
}

TEST(LostFileDeathTest, IsSavedFromWhereItIsFirstSeenInAnEvaluation) {
  for (const int ranks : {1, 2}) {
    const TemporaryFolder whole, cut;
    const std::string zeros(23 * MappedSamples::kPage, '\0');
    const auto path = whole.write("samples", zeros);
    const auto make = [&](World& world) { return mapped_training(world, path); };
    const auto expected = finish(whole.path(), make);
    EXPECT_EXIT(lose_file_in_evaluation(ranks, path, cut.path()), testing::ExitedWithCode(3),
                "samples' was cut");
    EXPECT_EQ(newest(cut.path()).step, 3);
    whole.write("samples", zeros);
    EXPECT_THAT(finish(cut.path(), make), testing::SizeIs(expected.size()));
    if (ranks == 1) expect_equal(newest(cut.path()), newest(whole.path()));
  }
}

/// Cuts a file before one of the batches that the last rank waits for, when the first rank has its
/// own batch.
class CutsFile final : public Loader {
 public:
  struct Cut {
    std::string path;
    int batch = 0;                 // counted from 0
    std::atomic<int> of_first{0};  // batches that rank 0 has
  };
  CutsFile(std::unique_ptr<Loader> loader, const World& world, Cut& cut)
      : loader_(std::move(loader)),
        is_first_(world.rank == 0),
        is_last_(world.rank + 1 == world.size),
        cut_(cut) {}
  void start(EpochPlan plan) override { loader_->start(std::move(plan)); }
  Batch next() override {
    if (is_last_ && next_++ == cut_.batch) {
      while (!is_first_ && cut_.of_first <= cut_.batch) std::this_thread::yield();
      std::filesystem::resize_file(cut_.path, 0);
    }
    auto batch = loader_->next();
    if (is_first_) ++cut_.of_first;
    return batch;
  }

 private:
  std::unique_ptr<Loader> loader_;
  bool is_first_, is_last_;
  Cut& cut_;
  int next_ = 0;
};

/// Batch norm, whose statistics a first micro-step has moved when the second one cannot be loaded.
SmallTraining reading_training(World& world, const std::string& path, std::int64_t accumulate) {
  auto run = normalized();
  if (world.size > 1) run.mode = Mode::ddp;
  run.accumulate = accumulate;
  auto t = small_training(world, run);
  t.data = std::make_unique<MappedSamples>(path, Split::train);
  t.loader = make_loader(*t.data, {.workers = 0});
  t.valid_loader = make_loader(*t.data, {.split = Split::valid, .workers = 0});
  return t;
}

void finish_on(int ranks, const std::string& folder, const Make& make) {
  play_all(ranks, [&](World& world) {
    auto t = make(world);
    std::vector<std::string> notes;
    if (const auto from = newest_checkpoint(folder, notes)) restore(t, load_checkpoint(*from));
    world.control->barrier();
    Hooks hooks;
    hooks.checkpoints = folder;
    EXPECT_EQ(train(t, hooks).reason, "done");
  });
}

[[noreturn]] void lose_file_in_training(int ranks, const Make& make, CutsFile::Cut& cut,
                                        const std::string& folder) {
  const auto thrown = play(make_thread_worlds(ranks), [&](World& world) {
    auto t = make(world);
    t.loader = std::make_unique<CutsFile>(std::move(t.loader), world, cut);
    Hooks hooks;
    hooks.checkpoints = folder;
    train(t, hooks);
  });
  for (const auto& error : thrown) std::cerr << message_of(error) << std::endl;
  for (const auto& error : thrown)
    if (failure_of(error, 0).code != Exit::data) std::_Exit(70);
  std::_Exit(3);
}

// In the last micro-step of the fifth of six steps, on one rank or on the second of two.
TEST(LostFileDeathTest, IsSavedFromWhereATrainingStepWaitsForIt) {
  for (const int ranks : {1, 2})
    for (const int accumulate : {1, 2}) {
      const TemporaryFolder whole, cut;
      const std::string zeros(23 * MappedSamples::kPage, '\0');
      const auto path = whole.write("samples", zeros);
      const auto make = [&](World& world) { return reading_training(world, path, accumulate); };
      finish_on(ranks, whole.path(), make);
      CutsFile::Cut lost{path, 5 * accumulate - 1};
      EXPECT_EXIT(lose_file_in_training(ranks, make, lost, cut.path()), testing::ExitedWithCode(3),
                  "samples' was cut");
      EXPECT_EQ(newest(cut.path()).step, 4);
      whole.write("samples", zeros);
      finish_on(ranks, cut.path(), make);
      expect_equal(newest(cut.path()), newest(whole.path()));
    }
}

TEST(LostFileDeathTest, EndsAnEvaluationByItself) {
  const TemporaryFolder folder;
  const auto path = folder.write("samples", std::string(23 * MappedSamples::kPage, '\0'));
  const auto lose = [&] {
    at::set_num_threads(1);
    auto world = single_world();
    auto t = mapped_training(world, path);
    std::filesystem::resize_file(path, 0);
    try {
      evaluate(t);
    } catch (const Error& error) {
      std::cerr << error.what() << std::endl;
      std::_Exit(static_cast<int>(error.code()));
    }
    std::_Exit(0);
  };
  EXPECT_EXIT(lose(), testing::ExitedWithCode(3), "samples' was cut");
}

}  // namespace
}  // namespace ddptrain
