// How parameters are cut into slices, and put together again.
#include "distributed/sharding/shards.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "distributed/compare.h"

namespace ddptrain {
namespace {

using namespace test;

TEST(Flats, AreCutIntoSlicesThatDifferInTheLast) {
  EXPECT_EQ(even_cuts(10, 4), (Cuts{0, 3, 6, 9, 10}));
  EXPECT_EQ(even_cuts(2, 4), (Cuts{0, 1, 2, 2, 2}));
  EXPECT_EQ(even_cuts(100, 2, 64), (Cuts{0, 64, 100}));
}

std::vector<NamedTensor> parameters_of(const std::vector<std::int64_t>& sizes) {
  std::vector<NamedTensor> all;
  for (const auto size : sizes)
    all.push_back({"p" + std::to_string(all.size()), at::ones({size}, at::kDouble)});
  return all;
}

TEST(Flats, AreCutWhereParametersBeginNearestToEvenSlices) {
  const auto parameters = parameters_of({4, 3, 5, 2});
  auto flat = flat_of(parameters, {0, 1, 2, 3});
  cut(flat, parameters, 2, CutAt::parameters);
  EXPECT_EQ(flat.cuts, (Cuts{0, 7, 14}));
  cut(flat, parameters, 5, CutAt::parameters);
  EXPECT_EQ(flat.cuts, (Cuts{0, 4, 4, 7, 12, 14}));  // nearest to 2, 5, 8 and 11
}

// A frozen parameter in the middle of a slice: ranks keep the elements of the others.
TEST(Flats, WithoutSomeMembersKeepWhoHasWhat) {
  const auto parameters = parameters_of({4, 3, 5, 2});
  auto flat = flat_of(parameters, {0, 1, 2, 3});
  flat.cuts = {0, 5, 10, 14};
  const auto shorter = with_those(flat, parameters, {true, false, true, true});
  EXPECT_EQ(shorter.elements, 11);
  EXPECT_EQ(shorter.cuts, (Cuts{0, 4, 7, 11}));
  for (int rank = 0; rank < 3; ++rank)
    for (std::size_t i = 0; i < shorter.members.size(); ++i) {
      const auto before = piece_of(flat, shorter.members[i], rank);
      const auto after = piece_of(shorter, i, rank);
      EXPECT_EQ(after.elements, before.elements);
      if (before.elements > 0) {
        EXPECT_EQ(after.in_parameter, before.in_parameter);
      }
    }
}

// 8 doubles are 64 bytes.
TEST(Flats, AreCutAtMultiplesOf64Bytes) {
  const auto parameters = parameters_of({20, 3, 30});
  auto flat = flat_of(parameters, {0, 1, 2}, Room::aligned);
  EXPECT_EQ(flat.first, (std::vector<std::int64_t>{0, 24, 32}));
  cut(flat, parameters, 3, CutAt::any_element);
  EXPECT_EQ(flat.cuts, (Cuts{0, 24, 48, 64}));
  const auto dense = with_those(flat, parameters, {true, true, true});
  EXPECT_EQ(dense.first, (std::vector<std::int64_t>{0, 20, 23}));
  EXPECT_EQ(dense.cuts, (Cuts{0, 20, 39, 53}));
}

// What is gathered is what was cut, in sizes and strides of any kind.
TEST(Shards, GatherWhatTheyCut) {
  auto channels_last = drawn({2, 3, 2, 2}, "weight").contiguous(at::MemoryFormat::ChannelsLast);
  const std::vector<NamedTensor> parameters{
      {"conv.weight", channels_last}, {"conv.bias", drawn({2}, "b")}, {"scale", drawn({}, "s")}};
  const std::vector<NamedTensor> state{{"conv.weight.step", drawn({}, "step")},
                                       {"conv.weight.mean", drawn({2, 3, 2, 2}, "m")},
                                       {"conv.bias.mean", drawn({2}, "mb")},
                                       {"scale.mean", drawn({}, "ms")},
                                       {"made", drawn({}, "made")}};
  for (const auto at : {CutAt::any_element, CutAt::parameters})
    play_all(3, [&](World& world) {
      auto flat = flat_of(parameters, {0, 1, 2});
      cut(flat, parameters, 3, at);
      const auto slice = at::zeros({flat.cuts[static_cast<std::size_t>(world.rank) + 1] -
                                    flat.cuts[static_cast<std::size_t>(world.rank)]},
                                   at::kDouble);
      const Shards shards(parameters, {flat}, at, {slice}, world);
      const auto gathered = by_name(shards.gather(shards.cut(state)));
      EXPECT_EQ(gathered.size(), world.rank == 0 ? state.size() : 0);
      if (world.rank != 0) return;
      for (const auto& [name, tensor] : state)
        EXPECT_TRUE(at::equal(gathered.at(name), tensor)) << name;
    });
}

}  // namespace
}  // namespace ddptrain
