// The blocks of models: as many as their papers' tables and torchvision's networks have.
#include "models/blocks.h"

#include <gtest/gtest.h>

#include <string>

#include "models/texts.h"

namespace ddptrain {
namespace {

using nlohmann::json;
using namespace test;

struct CountedBlocks {
  json recipe;
  std::size_t blocks = 0;
};

const std::vector<CountedBlocks>& counted_blocks() {
  static const std::vector<CountedBlocks> all{
      {{{"type", "resnet18"}}, 8},
      {{{"type", "resnet50"}}, 16},
      {{{"type", "xresnet50"}}, 16},
      {{{"type", "efficientnet_b0"}}, 16},
      {{{"type", "mobilenet_v2"}}, 17},
      {{{"type", "mobilenet_v3_small"}}, 11},
      {{{"type", "mobilenet_v3_large"}}, 15},
      {{{"type", "regnet_x_400mf"}}, 22},
      {{{"type", "regnet_y_400mf"}}, 16},
      {{{"type", "densenet121"}}, 6 + 12 + 24 + 16 + 3},  // dense layers and transitions
      {{{"type", "convnext_tiny"}}, 18},
      {{{"type", "swin_t"}}, 12},
      {{{"type", "vit_ti_16"}}, 12},
      {{{"type", "awd_lstm_lm"}, {"emb_sz", 6}, {"n_hid", 8}, {"n_layers", 3}}, 3},
      // Its layers run as often as a rank's longest text has segments.
      {{{"type", "awd_lstm"}, {"emb_sz", 6}, {"n_hid", 8}, {"n_layers", 3}}, 0},
  };
  return all;
}

class CountBlocks : public testing::TestWithParam<std::size_t> {};

TEST_P(CountBlocks, OfAModel) {
  const auto& [recipe, blocks] = counted_blocks()[GetParam()];
  auto context = text_context(5);
  if (!catalog<Model>().find(recipe.at("type").get<std::string>())->has("takes_texts")) {
    context.data.padding = -1;
    context.data.cardinalities.clear();
    context.data.sample = {3, 224, 224};
  }
  const auto model = make_model(recipe, context);
  EXPECT_EQ(blocks_in(*model).size(), blocks) << recipe;
}

INSTANTIATE_TEST_SUITE_P(All, CountBlocks, testing::Range(std::size_t{0}, counted_blocks().size()),
                         [](const auto& each) {
                           const auto& recipe = counted_blocks()[each.param].recipe;
                           return recipe.at("type").template get<std::string>();
                         });

}  // namespace
}  // namespace ddptrain
