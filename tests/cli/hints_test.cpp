// The table of other tools' keys: every hint names what exists, and every key gets its hint.
#include "config/check/hints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>

#include "base/text.h"
#include "cli/paths.h"
#include "config/yaml/reader.h"

namespace ddptrain {
namespace {

/// What is no option of a component or recipe, but has its place in the language.
bool is_of_the_language(std::string_view key) { return key == "type" || key == "extends"; }

TEST(Hints, AreMany) {
  std::set<std::string_view> theirs;
  for (const auto& key : foreign_keys())
    EXPECT_TRUE(theirs.insert(key.theirs).second) << key.theirs << " is there twice";
  EXPECT_GE(theirs.size(), 120u);
}

TEST(Hints, NameKeysThatExist) {
  for (const auto& key : foreign_keys()) {
    EXPECT_FALSE(key.tools.empty()) << key.theirs;
    EXPECT_TRUE(is_of_the_language(key.ours) || !test::shapes_of(key.ours).empty())
        << key.theirs << " -> " << key.ours;
    static const std::regex path("'([a-z_]+\\.[a-z_.]+)'");
    const std::string says(key.says);
    for (std::sregex_iterator match(says.begin(), says.end(), path), end; match != end; ++match)
      EXPECT_TRUE((*match)[1].str().ends_with(".pth") ||
                  !test::shapes_of((*match)[1].str()).empty())
          << key.theirs << says;
  }
}

TEST(Hints, GiveExamplesThatAreLegal) {
  static const std::regex example("as in '([^']+)'");
  int examples = 0;
  for (const auto& key : foreign_keys()) {
    std::smatch match;
    const std::string says(key.says);
    if (is_of_the_language(key.ours) || !std::regex_search(says, match, example)) continue;
    const auto value = read_value(match[1].str(), {"example", 1, 1, 1}).tree;
    const auto shapes = test::shapes_of(key.ours);
    EXPECT_TRUE(std::any_of(
        shapes.begin(), shapes.end(),
        [&](const Shape& shape) { return check(value, shape, all_catalogs()).empty(); }))
        << key.theirs << " -> " << key.ours << says;
    ++examples;
  }
  EXPECT_GT(examples, 50);
}

TEST(Hints, AreGivenForEveryForeignKey) {
  const std::string good = "model: resnet18\ndata: {type: image_folder, root: pictures}\n";
  for (const auto& key : foreign_keys()) {
    const auto steps = split(key.theirs, '.');
    std::string recipe = good, closing;
    for (const auto& step : steps) {
      const bool last = &step == &steps.back();
      recipe += step + (last ? ": 1" : ": {");
      if (!last && step == "optimizer") recipe += "type: sgd, ";
      if (!last && step == "scheduler") recipe += "type: cosine, ";
      if (!last) closing += "}";
    }
    const auto read = read_yaml(recipe + closing + "\n", "a.yaml");
    ASSERT_TRUE(read.problems.empty()) << recipe << closing << render(read.problems);
    const auto problems = check(read.tree, shape_of<Recipe>(), all_catalogs());
    const auto hint = "; here it is '" + std::string(key.ours) + "'" + std::string(key.says);
    EXPECT_TRUE(std::any_of(problems.begin(), problems.end(),
                            [&](const Problem& p) {
                              return p.rule == "foreign-key" && p.message.ends_with(hint) &&
                                     p.message.starts_with("'" + steps.back() + "' is not");
                            }))
        << key.theirs << ", " << hint << "\n"
        << render(problems);
  }
}

/// The messages for a recipe with these lines.
std::string answer_to(const std::string& lines) {
  const auto read = read_yaml("data: {type: image_folder, root: x}\n" + lines + "\n", "a.yaml");
  EXPECT_TRUE(read.problems.empty()) << lines << render(read.problems);
  std::string text;
  for (const auto& problem : check(read.tree, shape_of<Recipe>(), all_catalogs()))
    if (problem.rule != "missing-key") text += problem.message + "\n";
  return text;
}

TEST(Components, OfOtherToolsAreOursByOtherNames) {
  std::set<std::pair<std::string_view, std::string>> seen;
  for (const auto& row : foreign_components()) {
    const auto catalog = all_catalogs().find(row.kind);
    ASSERT_NE(catalog, all_catalogs().end()) << row.kind;
    for (const auto& ours : split(row.ours, ' '))
      EXPECT_TRUE(catalog->second->find(ours)) << row.kind << " " << ours;
    for (const auto& theirs : split(row.theirs, ' ')) {
      EXPECT_TRUE(seen.emplace(row.kind, theirs).second) << theirs << " is there twice";
      EXPECT_EQ(plain_name(theirs), theirs);
      for (const auto& name : catalog->second->names())
        EXPECT_NE(plain_name(name), theirs) << row.kind << ": one of ours";
    }
  }
  EXPECT_GE(seen.size(), 300u);
}

// As people write them, with capitals and hyphens.
TEST(Components, OfOtherToolsAreAnswered) {
  struct Answer {
    std::string written, part;
  };
  for (const auto& [written, part] : std::initializer_list<Answer>{
           {"metrics: [miou]", "did you mean 'jaccard_coeff_multi', 'jaccard_coeff'"},
           {"metrics: [iou]", "did you mean 'jaccard_coeff_multi'"},
           {"metrics: [mAP]", "did you mean 'average_precision_binary'"},
           {"metrics: [auc]", "did you mean 'roc_auc', "},
           {"metrics: [AUROC]", "did you mean 'roc_auc', "},
           {"metrics: [acc]", "did you mean 'accuracy'?"},
           {"metrics: [top5]", "here it is 'top_k', as in '{type: top_k, k: 5}'"},
           {"metrics: [f1_score]", "did you mean 'f1'"},
           {"metrics: [R2Score]", "did you mean 'r2'?"},
           {"loss: bce", "did you mean 'bce_with_logits'?"},
           {"loss: BCEWithLogitsLoss", "did you mean 'bce_with_logits'?"},
           {"loss: ce", "did you mean 'cross_entropy'?"},
           {"loss: crossentropy", "did you mean 'cross_entropy'?"},
           {"loss: {type: combined, losses: [mae]}", "did you mean 'l1'?"},
           {"loss: label_smoothing",
            "here it is 'cross_entropy', as in '{type: cross_entropy, label_smoothing: 0.1}'"},
           {"optimizer: adamW", "did you mean 'adamw'?"},
           {"optimizer: sgd_momentum",
            "here it is 'sgd', as in '{type: sgd, lr: 0.1, momentum: 0.9}'"},
           {"schedule: cosine_annealing", "did you mean 'cosine'?"},
           {"schedule: CosineAnnealingWarmRestarts", "did you mean 'cosine_restarts'?"},
           {"schedule: reducelronplateau",
            "is not a schedule; it is the callback 'reduce_lr_on_plateau'"},
           {"callbacks: [EarlyStopping]", "did you mean 'early_stopping'?"},
           {"model: vgg16", "did you mean 'vgg16_bn' or 'vgg11'?"},
           {"model: vit_base_patch16_224", "did you mean 'vit_b_16' or 'vit'?"},
       })
    EXPECT_THAT(answer_to(written), testing::HasSubstr(part)) << written << "\n"
                                                              << answer_to(written);
  for (const auto& [written, part] :
       std::initializer_list<Answer>{{"random_flip", "did you mean 'horizontal_flip'?"},
                                     {"hflip", "did you mean 'horizontal_flip'?"},
                                     {"colorjitter", "did you mean 'color_jitter'?"},
                                     {"RandomResizedCrop", "did you mean 'random_resized_crop'?"},
                                     {"cutout", "did you mean 'random_erasing'?"}}) {
    const auto answer = answer_to(
        "eval: {splits: {a: {type: image_folder, root: x, transforms: "
        "{train: [" +
        written + "]}}}}");
    EXPECT_THAT(answer, testing::HasSubstr(part)) << written << "\n" << answer;
  }
}

TEST(Keys, AreSoughtNearTheirPlaceFirst) {
  for (const auto& [written, part] : {
           std::pair("train: {loss_scale: {init: 1024}}", "did you mean 'init_scale'?"),
           std::pair("loss: {type: combined, weight: [1, 1]}", "did you mean 'weights'?"),
           std::pair("model: {type: resnet18, weight: a.pth}", "did you mean 'weights'?"),
           std::pair("model: {type: resnet18, classes: 10}", "did you mean 'num_classes'?"),
           std::pair("checkpoint: {last: 3}", "did you mean 'keep_last'?"),
           std::pair("parallel: {num_nodes: 2}", "here it is 'parallel.nodes'"),
           std::pair("momentum: 0.9", "did you mean 'optimizer.momentum'?"),
       })
    EXPECT_THAT(answer_to(written), testing::HasSubstr(part)) << written << "\n"
                                                              << answer_to(written);
  EXPECT_THAT(answer_to("parallel: {cods: 2}"), testing::Not(testing::HasSubstr("data.")));
}

TEST(Hints, OurOwnKeysAreNotForeign) {
  const auto root = shape_of<Recipe>();
  for (const auto& child : root.children) EXPECT_EQ(foreign_key_hint(child.key), "") << child.key;
}

}  // namespace
}  // namespace ddptrain
