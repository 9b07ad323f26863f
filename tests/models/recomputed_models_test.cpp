// Every model that has blocks to compute again: gradients are the same to the last bit.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/randn.h>
#include <ATen/record_function.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include "models/texts.h"

namespace ddptrain {
namespace {

using nlohmann::json;
using namespace test;

struct Recomputed {
  json recipe;
  std::size_t blocks = 0;
};

const std::vector<Recomputed>& recomputed_models() {
  static const std::vector<Recomputed> all{
      {{{"type", "vit"},
        {"image_size", 32},
        {"patch_size", 8},
        {"num_layers", 3},
        {"num_heads", 2},
        {"hidden_dim", 16},
        {"mlp_dim", 24},
        {"dropout", 0.2},
        {"attention_dropout", 0.2}},
       3},
      {{{"type", "swin_t"}, {"dropout", 0.2}, {"attention_dropout", 0.2}}, 12},
      {{{"type", "convnext_tiny"}, {"stochastic_depth_prob", 0.5}}, 18},
      {{{"type", "text_transformer"},
        {"dim", 12},
        {"num_layers", 2},
        {"num_heads", 3},
        {"mlp_dim", 16},
        {"dropout", 0.2}},
       2},
      {{{"type", "gpt2"}, {"n_embd", 24}, {"n_layer", 2}, {"n_head", 3}, {"n_positions", 16}}, 2},
  };
  return all;
}

bool reads_texts(const json& recipe) {
  return catalog<Model>().find(recipe.at("type").get<std::string>())->has("takes_texts");
}

/// Weights are not the first ones, of which some are zero.
std::unique_ptr<Model> recomputed_model(const json& recipe) {
  auto context = text_context(5);
  if (!reads_texts(recipe)) {
    context.data.padding = -1;
    context.data.cardinalities.clear();
    context.data.sample = {3, 32, 32};
  }
  auto model = make_model(recipe, context);
  const at::NoGradGuard no_grad;
  for (const auto& [name, tensor] : model->named_parameters())
    tensor.add_(at::randn(tensor.sizes(), seeded(9)), 0.05);
  return model;
}

/// Counts the blocks that a backward pass computes again.
class RecomputedBlocks {
 public:
  RecomputedBlocks()
      : handle_(at::addGlobalCallback(
            at::RecordFunctionCallback(count).scopes({at::RecordScope::BACKWARD_FUNCTION}))) {
    counted() = 0;
  }
  ~RecomputedBlocks() { at::removeCallback(handle_); }
  RecomputedBlocks(const RecomputedBlocks&) = delete;
  RecomputedBlocks& operator=(const RecomputedBlocks&) = delete;

  static std::atomic<std::size_t>& counted() {
    static std::atomic<std::size_t> blocks;
    return blocks;
  }

 private:
  static std::unique_ptr<at::ObserverContext> count(const at::RecordFunction& event) {
    if (std::string_view(event.name()).ends_with("RecomputedBlock")) ++counted();
    return nullptr;
  }

  at::CallbackHandle handle_;
};

struct PassResult {
  std::vector<at::Tensor> tensors;  // the output and the gradients of all parameters
  std::size_t blocks = 0;
};

PassResult result_of(Model& model, const at::Tensor& input, bool recompute) {
  for (const auto& [name, tensor] : model.named_parameters()) tensor.mutable_grad() = at::Tensor();
  auto pass = training(5, 2);
  pass.recompute = recompute;
  const auto output = model.run({input}, pass);
  PassResult result{{output.detach()}};
  {
    const RecomputedBlocks blocks;
    output.square().mean().backward();
    result.blocks = RecomputedBlocks::counted();
  }
  for (const auto& [name, tensor] : model.named_parameters()) {
    EXPECT_TRUE(tensor.grad().defined()) << name;
    result.tensors.push_back(tensor.grad());
  }
  return result;
}

class RecomputedModels : public testing::TestWithParam<std::size_t> {};

TEST_P(RecomputedModels, HaveTheSameGradientsToTheLastBit) {
  const auto& [recipe, blocks] = recomputed_models()[GetParam()];
  const auto model = recomputed_model(recipe);
  const auto input = reads_texts(recipe) ? three_texts() : at::randn({2, 3, 32, 32}, seeded(8));
  const auto kept = result_of(*model, input, false), again = result_of(*model, input, true);
  EXPECT_EQ(kept.blocks, 0U);
  EXPECT_EQ(again.blocks, blocks);
  ASSERT_EQ(kept.tensors.size(), again.tensors.size());
  for (std::size_t i = 0; i < kept.tensors.size(); ++i)
    EXPECT_TRUE(kept.tensors[i].equal(again.tensors[i])) << recipe << ", tensor " << i;
}

INSTANTIATE_TEST_SUITE_P(All, RecomputedModels,
                         testing::Range(std::size_t{0}, recomputed_models().size()),
                         [](const auto& each) {
                           const auto& recipe = recomputed_models()[each.param].recipe;
                           return recipe.at("type").template get<std::string>();
                         });

}  // namespace
}  // namespace ddptrain
