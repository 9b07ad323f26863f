// With sync_bn a net with batch norm learns the same under every engine: statistics are those of
// the whole micro-step, whichever rank holds its rows.
#include <gtest/gtest.h>

#include "compare.h"
#include "conv_net.h"

namespace ddptrain {
namespace {

using namespace test;

EngineOptions synchronized() {
  auto options = in_double();
  options.sync_bn = true;
  return options;
}

/// The last two leave some ranks without rows.
const std::vector<Batch>& images() {
  static const std::vector<Batch> batches{samples(8, "a", {2, 4, 4}), samples(7, "b", {2, 4, 4}),
                                          samples(4, "c", {2, 4, 4}), samples(3, "d", {2, 4, 4})};
  return batches;
}

TEST(SyncBatchNorm, DpIsOneProcess) {
  const auto expected = by_single(conv_net(), images(), synchronized());
  expect_same(by_dp(conv_net(), images(), synchronized(), 2), expected);
  expect_same(by_dp(conv_net(), images(), synchronized(), 4), expected);
}

TEST(SyncBatchNorm, DdpIsOneProcess) {
  const auto expected = by_single(conv_net(), images(), synchronized());
  for (const int ranks : {1, 2, 4})
    expect_same(by_ddp(conv_net(), images(), synchronized(), ranks), expected);
}

TEST(SyncBatchNorm, MicroBatchesAreCutBeforeRanks) {
  const auto expected = by_single(conv_net(), images(), synchronized(), 2);
  expect_same(by_dp(conv_net(), images(), synchronized(), 2, 2), expected);
  for (const int ranks : {2, 4})
    expect_same(by_ddp(conv_net(), images(), synchronized(), ranks, 2), expected);
}

TEST(SyncBatchNorm, ChannelsLastIsTheSame) {
  auto options = synchronized();
  options.numerics.channels_last = true;
  expect_same(by_ddp(conv_net(), images(), options, 2), by_single(conv_net(), images(), options));
}

/// Running statistics of rank 0 after all windows.
Tensors statistics_by_ddp(const ModelFactory& model, const EngineOptions& options, int ranks) {
  Tensors kept;
  play_all(ranks, [&](World& world) {
    const auto engine = make_ddp_engine(model, options, world);
    descend(*engine, images(), {1, world.rank, ranks});
    if (world.rank != 0) return;
    for (const auto& [name, tensor] : engine->model().named_buffers())
      kept.push_back(tensor.to(at::kDouble));
  });
  return kept;
}

TEST(SyncBatchNorm, IsOneProcessWithEveryOptionOfTheLayer) {
  const nlohmann::json variants{
      {{"type", "batch_norm"}, {"affine", false}},
      {{"type", "batch_norm"}, {"affine", false}, {"momentum", nullptr}},
      {{"type", "batch_norm"}, {"momentum", nullptr}},
      {{"type", "batch_norm"}, {"momentum", 0.5}, {"eps", 0.01}},
  };
  for (const auto& norm : variants) {
    const auto model = conv_net(norm);
    const auto expected = by_single(model, images(), in_double());
    expect_same(by_dp(model, images(), synchronized(), 2), expected);
    expect_same(by_ddp(model, images(), synchronized(), 2), expected);
    const auto engine = make_single_engine(model, in_double());
    descend(*engine, images(), {});
    Tensors statistics;
    for (const auto& [name, tensor] : engine->model().named_buffers())
      statistics.push_back(tensor.to(at::kDouble));
    expect_same(statistics_by_ddp(model, synchronized(), 2), statistics);
  }
}

}  // namespace
}  // namespace ddptrain
