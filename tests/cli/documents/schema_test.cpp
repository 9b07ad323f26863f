#include "config/schema/schema.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/files/files.h"
#include "recipe/recipe.h"
#include "support/where.h"
#include "train/catalogs.h"

namespace ddptrain {
namespace {

TEST(Schema, OfTheRepositoryIsTheOneThatTheProgramWrites) {
  const auto path = test::in_source("schemas/recipe.json");
  const auto written = json_schema(shape_of<Recipe>(), all_catalogs());
  EXPECT_TRUE(read_text(path) == written) << "out of date; repair: make generate";
}

nlohmann::json schema() {
  return nlohmann::json::parse(json_schema(shape_of<Recipe>(), all_catalogs()));
}

TEST(Schema, EveryReferenceHasItsDefinition) {
  const auto all = schema();
  const auto flat = all.flatten();
  int references = 0;
  for (const auto& [where, value] : flat.items()) {
    if (!where.ends_with("/$ref")) continue;
    const auto name = value.get<std::string>();
    ASSERT_TRUE(name.starts_with("#/definitions/")) << name;
    EXPECT_TRUE(all.contains(nlohmann::json::json_pointer(name.substr(1))))
        << where << ": " << name;
    ++references;
  }
  EXPECT_GT(references, 50);
}

TEST(Schema, SaysOnceWhatComponentsSayAlike) {
  const auto definitions = schema().at("definitions");
  const nlohmann::json loader{{"$ref", "#/definitions/option.loader"}};
  for (const auto* data : {"data.image_folder", "data.csv_table", "data.text_csv"})
    EXPECT_EQ(definitions.at(data).at("properties").at("loader"), loader) << data;
  EXPECT_EQ(definitions.at("option.loader").at("description"), "How batches are made.");
}

TEST(Schema, TellsEditorsTypeRangeUnitAndDefault) {
  const auto definitions = schema().at("definitions");
  const auto& property = definitions.at("optimizer.sgd").at("properties").at("momentum");
  const auto name = property.at("$ref").get<std::string>();  // other optimizers have the same
  const auto& momentum = definitions.at(name.substr(name.rfind('/') + 1));
  const auto text = momentum.at("markdownDescription").get<std::string>();
  EXPECT_EQ(text, "Momentum; 0 is plain descent.\n\nnumber, at least 0, below 1; default `0`");
}

TEST(Schema, HoldsAPatternToItsGroupAndWeightsToOneAboveZero) {
  struct Options {
    std::string label = "(.)";
    std::vector<double> weights;
    void fields(Fields& f) {
      f("label", label, {.doc = "Label.", .form = TextForm::pattern_with_group});
      f("weights", weights, {.doc = "Weights.", .items = ItemOrder::not_all_zero});
    }
  };
  const auto written = json_schema(shape_of<Options>(), {});
  const auto properties = nlohmann::json::parse(written).at("properties");
  EXPECT_EQ(properties.at("label").at("pattern"), "\\(|\\$\\{") << "a group, or a reference";
  const nlohmann::json zeros{{"minItems", 1}, {"items", {{"const", 0}}}};
  const auto flat = properties.at("weights").dump();
  EXPECT_NE(flat.find("\"not\":" + zeros.dump()), std::string::npos) << flat;
}

TEST(Schema, AFormerNameIsDeprecatedAndNotSuggested) {
  Shape recipe;
  auto& rate = recipe.children.emplace_back();
  rate.kind = Shape::Kind::number;
  rate.key = "lr";
  rate.doc = "Rate.";
  rate.was = "rate";
  rate.initial = Node::scalar("0.1");
  const auto properties = nlohmann::json::parse(json_schema(recipe, {})).at("properties");
  EXPECT_EQ(properties.at("rate").at("deprecationMessage"), "'rate' is now 'lr'.");
  EXPECT_EQ(properties.at("rate").at("doNotSuggest"), true);
  EXPECT_FALSE(properties.at("lr").contains("deprecationMessage"));
}

}  // namespace
}  // namespace ddptrain
