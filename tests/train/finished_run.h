// Small runs to their end, and what they leave.
#pragma once

#include <ATen/ops/equal.h>

#include "checkpoint/checkpoint.h"
#include "train/small_training.h"

namespace ddptrain::test {

inline SmallRun normalized() {
  SmallRun run;
  run.norm = true;
  return run;
}

/// Keeps what evaluations gave.
class Keeps final : public Callback {
 public:
  using Rows = std::vector<std::pair<std::int64_t, NamedValues>>;
  explicit Keeps(Rows& rows) : rows_(rows) {}
  void at(Moment moment, const RunView& run, RunControl&) override {
    if (moment == Moment::evaluated) rows_.emplace_back(run.step, run.metrics);
  }

 private:
  Rows& rows_;
};

using Make = std::function<SmallTraining(World&)>;

inline Checkpoint newest(const std::string& folder) {
  std::vector<std::string> notes;
  return load_checkpoint(newest_checkpoint(folder, notes).value());
}

/// A run to its end, from the newest checkpoint in the folder where there is one.
inline Keeps::Rows finish(const std::string& folder, const Make& make) {
  auto world = single_world();
  auto t = make(world);
  Keeps::Rows rows;
  t.observers.push_back(std::make_unique<Keeps>(rows));
  std::vector<std::string> notes;
  if (const auto from = newest_checkpoint(folder, notes)) restore(t, load_checkpoint(*from));
  Hooks hooks;
  hooks.checkpoints = folder;
  EXPECT_EQ(train(t, hooks).signal, 0);
  return rows;
}

inline void expect_equal(const Checkpoint& actual, const Checkpoint& expected) {
  EXPECT_EQ(actual.state, expected.state);
  for (const auto part : {&Checkpoint::model, &Checkpoint::ema}) {
    const auto &tensors = actual.*part, &others = expected.*part;
    ASSERT_EQ(tensors.size(), others.size());
    for (std::size_t i = 0; i < others.size(); ++i)
      EXPECT_TRUE(at::equal(tensors[i].tensor, others[i].tensor)) << others[i].name;
  }
}

}  // namespace ddptrain::test
