// `describe`: components and keys, and examples that work.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "cli/cli_output.h"
#include "cli/documents/example.h"
#include "config/shape.h"
#include "config/yaml/reader.h"
#include "recipe/layers/merge.h"
#include "recipe/layers/option.h"
#include "recipe/load/load.h"
#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

using test::cli_output;
using testing::HasSubstr;

std::string described(const std::vector<std::string>& words) {
  auto all = words;
  all.insert(all.begin(), "describe");
  const auto answer = cli_output(all);
  return answer.out + answer.err;
}

TEST(Describe, SaysTypeRangeDefaultAndSentence) {
  const auto text = described({"optimizer", "adamw"});
  EXPECT_THAT(text, HasSubstr("  eps  (number, at least 0; default 1e-08)\n"
                              "      Added to the root of the mean square.\n"));
  EXPECT_THAT(text, HasSubstr("  lr  (number, at least 0, or map; default 0.001)\n"));
}

TEST(Describe, AKeyOfRecipes) {
  EXPECT_THAT(described({"batch.micro"}),
              HasSubstr("  micro  (integer (samples), at least 1, or auto; default auto)\n"
                        "      Samples per device and forward pass; auto takes what global and "
                        "accumulate leave, halved until it fits where a CUDA device has no memory "
                        "for it.\n\nexample:\n  batch: {micro: 1}\n"));
  EXPECT_THAT(
      described({"parallel.shard.group"}),
      HasSubstr("  group  (integer (ranks), at least 1, or node, or auto; default auto)\n"));
  EXPECT_THAT(described({"train"}), HasSubstr("  precision  (fp64 | fp32 | tf32 | bf16 | "
                                              "fp16, or auto; default fp32)\n"));
  EXPECT_THAT(described({"data.transforms.train[normalize].preset"}),
              HasSubstr("data: {transforms: {train: [{type: normalize, preset: imagenet}]}}"));
}

TEST(Describe, AKeyThatManyComponentsHaveTellsEachDefault) {
  const auto text = described({"optimizer.momentum"});
  EXPECT_THAT(text, HasSubstr("\n      default 0 of lars, sgd\n"));
  EXPECT_THAT(text, testing::Not(HasSubstr("adamw")));
  EXPECT_THAT(described({"optimizer.lr"}), HasSubstr("default 1e-04 of lion\n"));
}

TEST(Describe, AKindSaysWhereItIsNamed) {
  EXPECT_THAT(described({"transform"}), HasSubstr("named in data.transforms.train\n"));
  EXPECT_THAT(described({"optimizer"}), HasSubstr("'ddptrain list optimizer' shows"));
}

TEST(Describe, SuggestsWhatWasMeant) {
  EXPECT_EQ(described({"optimzer"}),
            "error: 'optimzer' is neither a key of recipes nor a kind of component; did you mean "
            "'optimizer'?\n");
  EXPECT_EQ(described({"optimizer.lrr"}),
            "error: 'optimizer.lrr' is neither a key of recipes nor a kind of component; did you "
            "mean 'optimizer.lr'?\n");
  EXPECT_EQ(described({"lr"}),
            "error: 'lr' is neither a key of recipes nor a kind of component; did you mean "
            "'optimizer.lr'?\n");
  EXPECT_EQ(described({"optimizer", "adm"}),
            "error: no optimizer is called 'adm'; did you mean 'adam'?\n");
  EXPECT_EQ(cli_output({"describe", "optimzer"}).code, 2);
}

/// An example is YAML that passes the check, over a recipe with the components it completes.
TEST(Describe, EveryExampleOfAComponentIsAGoodFragment) {
  const auto& catalogs = *engine_program().catalogs;
  for (const auto& [kind, catalog] : catalogs)
    for (std::size_t i = 0; i < catalog->size(); ++i) {
      const auto& entry = catalog->at(i);
      const auto example = example_of(kind, entry, catalogs);
      EXPECT_THAT(example, HasSubstr(entry.name));
      const auto base = kind == "tokenizer" ? "data: {type: text_folder, root: x}\n"
                                            : "data: {type: image_folder, root: x}\n";
      auto recipe =
          read_yaml(std::string("model: {type: sequential, layers: [flatten]}\n") + base, "b").tree;
      const auto read = read_yaml(example, "example");
      ASSERT_TRUE(read.problems.empty()) << example;
      merge(recipe, read.tree);
      EXPECT_EQ(render(check(recipe, recipe_shape(), catalogs)), "") << example;
    }
}

TEST(Describe, ANameThatOneKindHas) {
  EXPECT_EQ(described({"adamw"}), described({"optimizer", "adamw"}));
  EXPECT_EQ(described({"resnet18"}), described({"model", "resnet18"}));
}

TEST(Describe, ANameThatSeveralKindsHaveListsThem) {
  const auto& catalogs = *engine_program().catalogs;
  std::map<std::string, std::vector<std::string>> kinds;
  for (const auto& [kind, catalog] : catalogs)
    for (const auto& name : catalog->names()) kinds[name].push_back(kind);
  std::size_t shared = 0;
  for (const auto& [name, all] : kinds) {
    if (all.size() < 2 || catalogs.contains(name)) continue;
    ++shared;
    const auto text = described({name});
    for (const auto& kind : all)
      EXPECT_THAT(text, HasSubstr("'ddptrain describe " + kind + " " + name + "'"));
  }
  EXPECT_GT(shared, 0U);
}

/// Recipes of different data, and what is made of them when no component is named.
const std::vector<std::string>& bases() {
  static const std::vector<std::string> all{
      "model: resnet18\ndata: {type: image_folder, root: x}\nmetrics: [error_rate]\n",
      "model: resnet18\nparallel: {mode: ddp, devices: 2}\n"
      "data: {type: manifest, file: x.csv, columns: {weight: w}}\n",
      "model: resnet18\nloss: bce_with_logits\nmetrics: []\n"
      "data: {type: manifest, file: x.csv, label_delimiter: ' '}\n",
      "model: {type: tabular}\ndata: {type: csv_table, file: x.csv, target: y}\n",
      "model: {type: tabular}\nloss: mse\nmetrics: []\n"
      "data: {type: csv_table, file: x.csv, target: y, task: regression}\n",
      "model: bag_of_embeddings\ndata: {type: text_folder, root: x}\n",
      "model: awd_lstm\ndata: {type: text_folder, root: x, padding: chunks}\n",
      "model: awd_lstm_lm\nmetrics: [perplexity]\n"
      "data: {type: text_folder, root: x, task: language_model}\n",
      "model: {type: unet, body: resnet18}\nmetrics: [accuracy]\n"
      "data: {type: image_masks, root: x, codes: [a, b], valid: {fraction: 0.2}}\n",
      "model: {type: vision_learner, body: resnet18}\nloss: mse\nmetrics: []\n"
      "data: {type: image_points, file: x.csv}\n",
      "model: embedding_dot_bias\nloss: mse\nmetrics: []\ndata: {type: ratings, file: x.csv}\n",
      "model: mlp\ndata: {type: mnist, root: x}\n",
      "model: {type: sequential, layers: [flatten]}\ndata: {type: mnist, root: x}\n",
      "model: resnet18\n"
      "data: {type: image_folder, root: x, transforms: {valid: [{type: normalize, preset: "
      "imagenet}]}}\n",
      "model: resnet18\n"
      "data: {type: image_folder, root: x, transforms: {train: [horizontal_flip]}}\n"};
  return all;
}

/// The problems of the example over each of the bases, none where one of them is good.
std::string problems_of_example(const std::string& example) {
  std::string all;
  for (const auto& base : bases()) {
    std::ofstream("base.yaml") << base << "train: {duration: 50 epochs}\nbatch: {global: 64}\n";
    std::ofstream("example.yaml") << example;
    auto problems =
        load_recipe({"base.yaml", "example.yaml"}, {}, *engine_program().catalogs).problems;
    std::erase_if(problems, [](const Problem& p) { return p.rule == "dropped-option"; });
    if (problems.empty()) return "";
    all += render(problems);
  }
  return all;
}

TEST(Describe, EveryExampleOfAComponentKeepsTheRulesBetweenParts) {
  const TemporaryFolder folder;
  const test::Inside inside(folder.path());
  const auto& catalogs = *engine_program().catalogs;
  for (const auto& [kind, catalog] : catalogs)
    for (std::size_t i = 0; i < catalog->size(); ++i) {
      const auto example = example_of(kind, catalog->at(i), catalogs);
      EXPECT_EQ(problems_of_example(example), "") << example;
    }
}

/// Data that rules between parts ask for: weights that differ, texts of different lengths.
std::string data_for(const std::string& name) {
  if (name == "weighted") return "{type: manifest, file: x.csv, columns: {weight: w}}";
  return name == "length_sorted" ? "{type: text_folder, root: x}" : "{type: image_folder, root: x}";
}

/// The same through the program, rules between parts included.
TEST(Describe, ExamplesOfOptimizationRun) {
  const TemporaryFolder folder;
  const test::Inside inside(folder.path());
  const auto& catalogs = *engine_program().catalogs;
  for (const std::string kind : {"optimizer", "clip", "sampler", "mix"})
    for (const auto& name : catalogs.at(kind)->names()) {
      const auto example = example_of(kind, *catalogs.at(kind)->find(name), catalogs);
      folder.write("base.yaml",
                   (name == "length_sorted" ? "model: bag_of_embeddings" : "model: resnet18") +
                       ("\ndata: " + data_for(name)) + "\nbatch: {global: 64}\n");
      folder.write("example.yaml", "extends: base.yaml\n" + example);
      EXPECT_EQ(cli_output({"validate", "example.yaml"}).code, 0) << example;
    }
}

}  // namespace
}  // namespace ddptrain
