// What datasets say of themselves to verbs that read, replace or predict with them.
#include <gtest/gtest.h>

#include "config/catalog.h"
#include "config/shape.h"
#include "data/dataset.h"
#include "jobs/quick.h"
#include "recipe/load/load.h"
#include "recipe/targets.h"
#include "support/node.h"
#include "support/temporary_folder.h"
#include "train/catalogs.h"

namespace ddptrain {
namespace {

bool has_option(const EntryBase& entry, const std::string& key) {
  for (const auto& option : entry.shape().children)
    if (option.key == key) return true;
  return false;
}

TEST(Datasets, NameOptionsOfTheirOwnInTraits) {
  int named = 0;
  for (std::size_t i = 0; i < catalog<Dataset>().size(); ++i)
    for (const auto* trait : {"labels_by", "numbers_by", "task_by", "label_column"}) {
      const auto& entry = catalog<Dataset>().at(i);
      const auto option = trait_argument(entry, trait);
      if (!option) continue;
      ++named;
      EXPECT_TRUE(has_option(entry, *option)) << entry.name << ": " << trait << " " << *option;
    }
  EXPECT_GE(named, 4);
}

TEST(Datasets, GiveOneKindOfInput) {
  for (std::size_t i = 0; i < catalog<Dataset>().size(); ++i) {
    const auto& entry = catalog<Dataset>().at(i);
    int kinds = 0;
    for (const auto* kind : {"gives_images", "gives_tables", "gives_texts"})
      kinds += entry.has(kind);
    EXPECT_EQ(kinds, 1) << entry.name;
  }
}

Recipe recipe_of(const nlohmann::json& data) {
  Recipe recipe;
  recipe.data = fragment<Dataset>(data);
  return recipe;
}

TEST(Datasets, TellTheTargetsThatTheirOptionsAskFor) {
  const auto target = [](const nlohmann::json& data) {
    return written_target(recipe_of(data), all_catalogs());
  };
  EXPECT_EQ(target({{"type", "manifest"}, {"file", "a.csv"}}), TargetKind::classes);
  EXPECT_EQ(target({{"type", "manifest"}, {"file", "a.csv"}, {"label_delimiter", "|"}}),
            TargetKind::labels);
  EXPECT_EQ(target({{"type", "manifest"}, {"file", "a.csv"}, {"numbers", {"age"}}}),
            TargetKind::numbers);
  EXPECT_EQ(
      label_delimiter(recipe_of({{"type", "manifest"}, {"label_delimiter", "|"}}), all_catalogs()),
      "|");
  EXPECT_EQ(target({{"type", "csv_table"}, {"task", "regression"}}), TargetKind::numbers);
  EXPECT_EQ(target({{"type", "csv_table"}, {"task", "classification"}}), TargetKind::classes);
  EXPECT_EQ(target({{"type", "csv_table"}, {"task", "auto"}}), std::nullopt);
  EXPECT_EQ(target({{"type", "csv_table"}, {"target", {"price", "area"}}}), TargetKind::numbers);
  EXPECT_EQ(target({{"type", "csv_table"}, {"target", {{"columns", {"price", "area"}}}}}),
            TargetKind::numbers);
  EXPECT_EQ(target({{"type", "csv_table"}, {"target", "price"}}), std::nullopt);
  EXPECT_EQ(target({{"type", "text_folder"}}), TargetKind::classes);
  EXPECT_EQ(target({{"type", "text_csv"}}), TargetKind::classes);
  EXPECT_EQ(target({{"type", "text_csv"}, {"task", "regression"}}), TargetKind::numbers);
  EXPECT_EQ(target({{"type", "text_csv"}, {"task", "language_model"}}), TargetKind::tokens);
  EXPECT_EQ(target({{"type", "token_file"}}), TargetKind::tokens);
}

TEST(Datasets, TellWhetherTheirSamplesAreStreams) {
  const auto streams = [](const nlohmann::json& data) {
    return gives_streams(recipe_of(data), all_catalogs());
  };
  EXPECT_TRUE(streams({{"type", "token_file"}}));
  EXPECT_TRUE(streams({{"type", "token_file"}, {"blocks", {{"length", 5}}}}));
  EXPECT_FALSE(streams({{"type", "token_file"}, {"blocks", "packed"}}));
  EXPECT_FALSE(streams({{"type", "token_file"}, {"blocks", {{"layout", "shuffled"}}}}));
  EXPECT_FALSE(streams({{"type", "text_csv"}, {"blocks", "streams"}}));
}

/// The data section that takes the place of one of this type.
Node quick_data(const std::string& type) {
  TemporaryFolder folder;
  const nlohmann::json data{{"type", type}, {"target", "price"}};
  const auto tree = to_node({{"data", data}, {"model", "mlp"}});
  return *quick_recipe(tree, recipe_of(data), folder.path()).find("data");
}

TEST(QuickRecipe, ReplacesDataByThoseOfTheSameKind) {
  const auto type_for = [](const std::string& type) { return quick_data(type).find("type")->text; };
  for (const auto* images :
       {"image_folder", "image_names", "image_shards", "manifest", "mnist", "cifar10"})
    EXPECT_EQ(type_for(images), "image_folder") << images;
  for (const auto* texts : {"text_folder", "text_csv", "text_jsonl", "token_file"})
    EXPECT_EQ(type_for(texts), "text_folder") << texts;
  for (const auto* same : {"csv_table", "image_masks", "image_points"})
    EXPECT_EQ(type_for(same), same);
  EXPECT_THROW(quick_data("unlabeled_images"), Error);
}

TEST(QuickRecipe, DrawsImagesOfTheSizeThatTheFilesHave) {
  const auto first_of = [](const std::string& type) {
    return quick_data(type).find("transforms")->find("train")->items;
  };
  const auto mnist = first_of("mnist");
  ASSERT_EQ(mnist.size(), 2U);
  EXPECT_EQ(mnist[0].find("size")->text, "28");
  EXPECT_EQ(mnist[1].text, "to_grayscale");
  const auto cifar = first_of("cifar10");
  ASSERT_EQ(cifar.size(), 1U);
  EXPECT_EQ(cifar[0].find("size")->text, "32");
}

}  // namespace
}  // namespace ddptrain
