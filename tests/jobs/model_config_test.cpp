#include "jobs/model_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "models/model.h"
#include "support/node.h"
#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// A part of the config.json of the Hugging Face Hub's openai-community/gpt2-medium.
const json kMedium = {{"activation_function", "gelu_new"},
                      {"architectures", {"GPT2LMHeadModel"}},
                      {"attn_pdrop", 0.1},
                      {"layer_norm_epsilon", 1e-05},
                      {"model_type", "gpt2"},
                      {"n_embd", 1024},
                      {"n_head", 16},
                      {"n_inner", nullptr},
                      {"n_layer", 24},
                      {"n_positions", 1024},
                      {"vocab_size", 50257}};

class ModelConfig : public testing::Test {
 protected:
  Choice<Model> settled(const json& recipe, const json& config) {
    folder_.write("config.json", config.dump());
    auto model = fragment<Model>(recipe);
    settle_model_config(model, folder_ / "");
    return model;
  }
  std::string option(const Choice<Model>& model, const std::string& key) {
    const auto* value = model.node().find(key);
    return value ? value->text : "";
  }
  std::string problem(const json& recipe, const json& config) {
    try {
      settled(recipe, config);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  TemporaryFolder folder_;
};

TEST_F(ModelConfig, SuppliesTheOptionsThatAreAuto) {
  const auto model = settled({{"type", "gpt2"}, {"n_layer", "auto"}}, kMedium);
  EXPECT_EQ(option(model, "n_layer"), "24");
  EXPECT_EQ(option(model, "n_embd"), "1024");
  EXPECT_EQ(option(model, "n_head"), "16");
  EXPECT_EQ(option(model, "vocabulary"), "50257");
  EXPECT_EQ(option(model, "activation_function"), "gelu_new");
  EXPECT_EQ(option(model, "n_inner"), "");
}

TEST_F(ModelConfig, LeavesDropoutToTheRecipe) {
  EXPECT_EQ(option(settled({{"type", "gpt2"}, {"attn_pdrop", 0}}, kMedium), "attn_pdrop"), "0");
}

TEST_F(ModelConfig, TakesTheSameNumberHoweverItIsWritten) {
  EXPECT_EQ(problem({{"type", "gpt2"}, {"layer_norm_epsilon", "0.00001"}}, kMedium), "");
}

TEST_F(ModelConfig, RefusesAnotherValueOfTheRecipe) {
  EXPECT_THAT(problem({{"type", "gpt2"}, {"n_layer", 12}}, kMedium),
              HasSubstr("model.n_layer: '12' is not what '"));
  EXPECT_THAT(problem({{"type", "gpt2"}, {"n_layer", 12}}, kMedium),
              HasSubstr("config.json' says: '24'; write 'auto'"));
}

TEST_F(ModelConfig, RefusesAnotherTypeOfModel) {
  auto llama = kMedium;
  llama["model_type"] = "llama";
  EXPECT_THAT(problem({{"type", "gpt2"}}, llama),
              HasSubstr("has the model_type 'llama', and the recipe has 'gpt2'"));
}

TEST_F(ModelConfig, RefusesWhatTheModelCannotBe) {
  auto config = kMedium;
  config["activation_function"] = "gelu_fast";
  EXPECT_THAT(problem({{"type", "gpt2"}}, config),
              HasSubstr("config.json', activation_function: "));
  config = kMedium;
  config["reorder_and_upcast_attn"] = true;
  EXPECT_THAT(problem({{"type", "gpt2"}}, config),
              HasSubstr("model.reorder_and_upcast_attn: 'false' is not what '"));
  EXPECT_THAT(problem({{"type", "gpt2"}}, json::array()), HasSubstr("is no JSON object"));
}

TEST_F(ModelConfig, IsNotOfOtherNetworks) {
  EXPECT_EQ(problem({{"type", "resnet18"}}, kMedium), "");
}

}  // namespace
}  // namespace ddptrain
