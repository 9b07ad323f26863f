// What networks ask of the data: images of a size, a table, layers that fit together.
#include "models/sizes.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "models/nets.h"

namespace ddptrain {
namespace {

using nlohmann::json;

/// Samples of this shape in two classes, and columns of names with so many values each.
ModelContext data_of(std::vector<std::int64_t> sample, std::vector<std::int64_t> names = {}) {
  ModelContext context;
  context.data.classes = {"no", "yes"};
  context.data.sample = std::move(sample);
  context.data.cardinalities = std::move(names);
  return context;
}

std::string refusal(const json& model, const ModelContext& context) {
  try {
    test::make_model(model, context);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::recipe);
    return error.what();
  }
  return "none";
}

TEST(SizesOfData, TablesAreForTabular) {
  const auto table = data_of({3}, {4, 5});
  for (const auto* network : {"resnet18", "mlp"})
    EXPECT_EQ(refusal(network, table),
              "model: this model takes one input, and a table has two, names and numbers; write "
              "'model: tabular'");
  EXPECT_EQ(refusal("tabular", table), "none");
  EXPECT_EQ(refusal("tabular", data_of({3, 32, 32})),
            "model: tabular wants a table (data: {type: csv_table})");
  EXPECT_EQ(refusal("tabular", data_of({0})),
            "model: tabular wants a table (data: {type: csv_table})");
}

TEST(SizesOfData, TabularHasAWidthForEachColumnOfNames) {
  const json one{{"type", "tabular"}, {"embedding_sizes", {6}}};
  EXPECT_EQ(refusal(one, data_of({3}, {4, 5})),
            "model.embedding_sizes: 1 widths for 2 category columns");
  EXPECT_EQ(refusal(one, data_of({3}, {4})), "none");
}

TEST(SizesOfData, OfRecommendationAreUsersAndItems) {
  for (const std::string network : {"embedding_dot_bias", "collab_nn"}) {
    const auto wanted = "model: " + network +
                        " wants users and items: two columns of names and no numbers (data: "
                        "{type: ratings})";
    EXPECT_EQ(refusal(network, data_of({0}, {4, 5})), "none");
    EXPECT_EQ(refusal(network, data_of({1}, {4, 5})), wanted);
    EXPECT_EQ(refusal(network, data_of({0}, {4})), wanted);
    EXPECT_EQ(refusal(network, data_of({3, 32, 32})), wanted);
  }
}

TEST(SizesOfData, AreSaidWhereTheDataHaveNone) {
  EXPECT_EQ(refusal("mlp", data_of({})),
            "model.in_features: 'auto' needs data with samples of one shape; write how many");
  EXPECT_EQ(refusal({{"type", "sequential"}, {"layers", {"flatten"}}}, data_of({})),
            "model.input: the data does not say the shape of a sample; write it, for example "
            "[3, 32, 32]");
  EXPECT_EQ(refusal({{"type", "mlp"}, {"in_features", 4}}, data_of({})), "none");
}

TEST(SizesOfData, OfMnistNetLeaveSomethingToPool) {
  const std::string small = "model: mnist_net needs images of 6 x 6 and more";
  EXPECT_EQ(refusal("mnist_net", data_of({1, 5, 28})), small);
  EXPECT_EQ(refusal("mnist_net", data_of({1, 28, 5})), small);
  EXPECT_EQ(refusal("mnist_net", data_of({1, 6, 6})), "none");
}

TEST(Layers, FitTheOneBefore) {
  const auto message_of = [](const json& layers) {
    return refusal({{"type", "sequential"}, {"layers", layers}}, data_of({4, 8, 8}));
  };
  const json conv{{"type", "conv"}, {"out", 6}};
  EXPECT_EQ(message_of({"flatten", conv}), "model.layers: 'conv' needs channels, height and width");
  EXPECT_EQ(message_of({"flatten", "max_pool"}),
            "model.layers: 'max_pool' needs channels, height and width");
  EXPECT_EQ(message_of({"flatten", "adaptive_avg_pool"}),
            "model.layers: 'adaptive_avg_pool' needs channels, height and width");
  EXPECT_EQ(message_of(json::array({test::with(conv, {{"kernel", 9}})})),
            "model.layers: 'conv' of size 9 does not fit into 8");
  EXPECT_EQ(message_of(json::array({test::with(conv, {{"groups", 3}})})),
            "model.layers: 'groups' of 'conv', 3, does not divide its 4 channels");
  EXPECT_EQ(message_of({conv, "linear"}), "model.layers: 'linear' needs 'flatten' before it");
  EXPECT_EQ(message_of({conv, "flatten", "linear"}), "none");
}

}  // namespace
}  // namespace ddptrain
