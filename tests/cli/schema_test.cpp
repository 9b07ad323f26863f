#include "config/schema.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "recipe/recipe.h"
#include "support/where.h"
#include "train/catalogs.h"

namespace ddptrain {
namespace {

TEST(Schema, OfTheRepositoryIsTheOneThatTheProgramWrites) {
  const auto path = test::in_source("schemas/recipe.json");
  const auto written = json_schema(shape_of<Recipe>(), all_catalogs());
  EXPECT_TRUE(read_text(path) == written)
      << "out of date; repair: build/ddptrain schema > schemas/recipe.json";
}

TEST(Schema, EveryReferenceHasItsDefinition) {
  const auto schema = nlohmann::json::parse(json_schema(shape_of<Recipe>(), all_catalogs()));
  const auto& definitions = schema.at("definitions");
  const auto flat = schema.flatten();
  int references = 0;
  for (const auto& [where, value] : flat.items()) {
    if (!where.ends_with("/$ref")) continue;
    const std::string prefix = "#/definitions/";
    const auto name = value.get<std::string>();
    ASSERT_TRUE(name.starts_with(prefix)) << name;
    EXPECT_TRUE(definitions.contains(name.substr(prefix.size()))) << where << ": " << name;
    ++references;
  }
  EXPECT_GT(references, 50);
}

}  // namespace
}  // namespace ddptrain
