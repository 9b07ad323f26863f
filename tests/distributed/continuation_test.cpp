// Language models whose blocks ranks share continue texts as one process does.
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <vector>

#include "compare.h"
#include "models/blocks.h"
#include "models/memory.h"

namespace ddptrain {
namespace {

using namespace test;
using nlohmann::json;

ModelFactory writer_model(const json& recipe) {
  return [recipe] {
    ModelContext context;
    context.data.cardinalities = {30};
    context.data.padding = 1;
    context.data.tokens.emplace();
    context.generator = at::make_generator<at::CPUGeneratorImpl>(5);
    return catalog<Model>().build(fragment<Model>(recipe), context);
  };
}

/// Of two sequences a few further tokens in each round; one ends before the last.
std::vector<Continuation> rounds(Blocks* blocks) {
  const auto round = [&](std::vector<std::int64_t> tokens, std::vector<std::int64_t> sequences,
                         std::vector<std::int64_t> counts) {
    return Continuation{at::tensor(tokens, at::kLong), std::move(sequences), std::move(counts),
                        blocks};
  };
  return {round({2, 3, 4, 5, 6}, {0, 1}, {2, 3}), round({7, 8}, {0, 1}, {1, 1}),
          round({9}, {1}, {1})};
}

/// What each round returns.
std::vector<at::Tensor> continued(Engine& engine, bool computes = true) {
  const at::NoGradGuard no_grad;
  const auto memory = engine.model().make_memory();
  memory->begin(2, 8);
  std::vector<at::Tensor> found;
  for (const auto& round : rounds(engine.continuation_blocks())) {
    if (computes) found.push_back(engine.model().extend(round, *memory));
    engine.join_continuation();
  }
  return found;
}

EngineOptions options_with(std::optional<at::ScalarType> autocast) {
  EngineOptions options;
  options.numerics.autocast = options.numerics.evaluation_autocast = autocast;
  return options;
}

class Continuations : public testing::TestWithParam<json> {};

// Whatever travels in a step, weights come in their own type. Another rank computes nothing.
TEST_P(Continuations, OfSharedBlocksAreThoseOfOneProcess) {
  const auto model = writer_model(GetParam());
  const auto expected = continued(*make_single_engine(model, options_with({})));
  for (auto* make : {make_zero2_engine, make_fsdp_engine})
    for (const auto autocast : {std::optional<at::ScalarType>(), std::optional(at::kBFloat16)})
      play_all(3, [&](World& world) {
        const auto engine = make(model, options_with(autocast), world);
        const auto found = continued(*engine, world.rank == 0);
        ASSERT_EQ(found.size(), world.rank == 0 ? expected.size() : 0);
        for (std::size_t i = 0; i < found.size(); ++i)
          EXPECT_TRUE(at::equal(found[i], expected[i])) << i;
      });
}

// A round in which no rank computes, and one that fails on the way.
TEST_P(Continuations, LeaveNoRankBehind) {
  const auto model = writer_model(GetParam());
  const auto expected = continued(*make_single_engine(model, options_with({})));
  play_all(2, [&](World& world) {
    const auto engine = make_fsdp_engine(model, options_with({}), world);
    engine->join_continuation();
    auto* blocks = engine->continuation_blocks();
    const auto fails = [&] {
      blocks->run(*blocks_in(engine->model()).front(), {}, {},
                  [](const at::Tensor&, const Pass&) -> at::Tensor { throw std::range_error(""); });
    };
    if (world.rank == 0) {
      EXPECT_THROW(fails(), std::range_error);
    }
    engine->join_continuation();
    const auto found = continued(*engine, world.rank == 0);
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_TRUE(at::equal(found[i], expected[i]));
  });
}

INSTANTIATE_TEST_SUITE_P(
    Of, Continuations,
    testing::Values(
        json{{"type", "gpt2"}, {"n_embd", 8}, {"n_layer", 3}, {"n_head", 2}, {"n_positions", 8}},
        json{{"type", "awd_lstm_lm"}, {"emb_sz", 6}, {"n_hid", 8}, {"n_layers", 2}}),
    [](const auto& test) { return test.param.at("type").template get<std::string>(); });

}  // namespace
}  // namespace ddptrain
