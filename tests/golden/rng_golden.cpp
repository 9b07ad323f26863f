// Orders, draws and splits that are asked for as torch or fastai makes them.
#include <gtest/gtest.h>

#include "config/decode.h"
#include "sources/sampler.h"
#include "sources/split/split.h"
#include "support/golden.h"
#include "support/node.h"

namespace ddptrain {
namespace {

using golden::Case;
using nlohmann::json;
using Order = std::vector<std::int64_t>;

Order first_epoch(const json& sampler, const SamplerContext& context) {
  return catalog<Sampler>().build(fragment<Sampler>(sampler), context)->order(0);
}

Order torch_shuffle(const Case& c) {
  return first_epoch({{"type", "shuffle"}, {"order", "torch"}},
                     {c.input.at("n"), {}, c.input.at("seed")});
}

GOLDEN(rng, randperm) { EXPECT_EQ(json(torch_shuffle(c)), c.expect.at("values")); }

GOLDEN(rng, random_sampler) { EXPECT_EQ(json(torch_shuffle(c)), c.expect.at("values")); }

GOLDEN(rng, randperm_large) {
  const auto order = torch_shuffle(c);
  EXPECT_EQ(json(Order(order.begin(), order.begin() + 20)), c.expect.at("first"));
  EXPECT_EQ(json(Order(order.end() - 5, order.end())), c.expect.at("last"));
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < order.size(); ++i)
    sum = (sum + static_cast<std::uint64_t>(order[i]) * (i + 1)) % 1'000'000'007;
  EXPECT_EQ(sum, c.expect.at("weighted_sum_mod"));
}

GOLDEN(rng, weighted_sampler) {
  const std::vector<double> weights = c.input.at("weights");
  const auto drawn =
      first_epoch({{"type", "weighted"}, {"order", "torch"}, {"samples", c.input.at("n")}},
                  {static_cast<std::int64_t>(weights.size()), weights, c.input.at("seed")});
  EXPECT_EQ(json(drawn), c.expect.at("values"));
}

GOLDEN(rng, random_split) {
  const Order lengths = c.input.contains("lengths")
                            ? c.input.at("lengths").get<Order>()
                            : split_lengths(c.input.at("n"), c.input.at("fractions"));
  EXPECT_EQ(json(random_split(lengths, c.input.at("seed"))), c.expect.at("values"));
}

GOLDEN(rng, fastai_random_splitter) {
  const auto spec = decode<ValidSpec>(to_node(
      {{"fraction", c.input.at("valid_pct")}, {"seed", c.input.at("seed")}, {"order", "fastai"}}));
  const auto parts = split_samples(c.input.at("n"), spec);
  EXPECT_EQ(json(parts.train), c.expect.at("train"));
  EXPECT_EQ(json(parts.valid), c.expect.at("valid"));
}

}  // namespace
}  // namespace ddptrain
