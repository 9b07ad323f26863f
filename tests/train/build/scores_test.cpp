// Losses and metrics meet the targets that data can give.
#include "train/build/scores.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/ones.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "config/shape.h"
#include "data/numbers_dataset.h"
#include "models/model.h"
#include "support/node.h"

namespace ddptrain {
namespace {

using testing::HasSubstr;

const std::map<TargetKind, std::string> kTraits{
    {TargetKind::classes, "takes_class"},  {TargetKind::labels, "takes_labels"},
    {TargetKind::numbers, "takes_number"}, {TargetKind::masks, "takes_mask"},
    {TargetKind::points, "takes_points"},  {TargetKind::tokens, "takes_token"}};

/// Its own tests hold the traits of a component to what its peers take.
bool takes(const EntryBase& entry, TargetKind kind) {
  const bool takes_all = std::none_of(kTraits.begin(), kTraits.end(),
                                      [&](const auto& trait) { return entry.has(trait.second); });
  return takes_all || entry.has(kTraits.at(kind));
}

/// Every name behind "write" is one of the catalog that takes the kind.
void expect_other_names(const std::string& why, const CatalogBase& catalog, TargetKind kind) {
  const auto at = why.find("; write ");
  ASSERT_NE(at, std::string::npos) << why;
  std::string word;
  int names = 0;
  for (const char c : why.substr(at + 8) + " ") {
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '_') {
      word += c;
      continue;
    }
    if (!word.empty() && word != "for" && word != "example" && word != "or") {
      const auto* entry = catalog.find(word);
      ASSERT_NE(entry, nullptr) << word << " in: " << why;
      EXPECT_TRUE(entry->has(kTraits.at(kind))) << word << " in: " << why;
      ++names;
    }
    word.clear();
  }
  EXPECT_GT(names, 0) << why;
}

void expect_misfit_where_not_taken(const CatalogBase& catalog) {
  for (std::size_t i = 0; i < catalog.size(); ++i)
    for (const auto& [kind, trait] : kTraits) {
      const auto& entry = catalog.at(i);
      const auto why = target_misfit(entry, catalog, {kind});
      EXPECT_EQ(why.empty(), takes(entry, kind)) << entry.name << " and " << trait << ": " << why;
      if (!why.empty()) expect_other_names(why, catalog, kind);
    }
}

TEST(Targets, ThatALossDoesNotTakeAreAMisfit) { expect_misfit_where_not_taken(catalog<Loss>()); }
TEST(Targets, ThatAMetricDoesNotTakeAreAMisfit) {
  expect_misfit_where_not_taken(catalog<Metric>());
}

struct Rows {
  at::Tensor output;
  at::Tensor target;
};

/// Four rows of a kind, of two classes or labels.
Rows rows_for(const EntryBase& entry, TargetKind kind) {
  const auto numbers = at::arange(1, 9, at::kDouble).div(10);
  const auto column = numbers.slice(0, 0, 4).view({4, 1});
  if (kind == TargetKind::labels) return {numbers.view({4, 2}), numbers.gt(0.4).view({4, 2})};
  if (kind == TargetKind::numbers) return {column, numbers.slice(0, 1, 5)};
  if (kind == TargetKind::points) return {numbers.view({2, 4}), numbers.view({2, 2, 2})};
  const auto classes = at::arange(4).remainder(2);
  if (kind == TargetKind::masks) return {numbers.view({4, 2, 1}), classes.view({4, 1})};
  return {entry.has("one_output") ? column : numbers.view({4, 2}), classes};
}

LossTerms terms_of(const EntryBase& entry, TargetKind kind) {
  nlohmann::json recipe = {{"type", entry.name}};
  if (entry.name == "combined") recipe["losses"] = {usual_loss(kind).type()};
  const auto loss = catalog<Loss>().build(fragment<Loss>(recipe), LossContext{});
  const auto rows = rows_for(entry, kind);
  return (*loss)(rows.output, rows.target);
}

/// Calls `try_one` with each component and each kind of target that it takes.
template <class T, class Try>
void for_each_taken(Try try_one) {
  for (std::size_t i = 0; i < catalog<T>().size(); ++i)
    for (const auto& [kind, trait] : kTraits)
      if (takes(catalog<T>().at(i), kind)) try_one(catalog<T>().at(i), kind);
}

TEST(Targets, EveryLossIsANumberOnWhatItTakes) {
  for_each_taken<Loss>([](const EntryBase& entry, TargetKind kind) {
    const auto terms = terms_of(entry, kind);
    EXPECT_TRUE(std::isfinite(terms.values.sum().item<double>())) << entry.name;
    EXPECT_GT(terms.weights.sum().item<double>(), 0) << entry.name;
  });
}

TEST(Targets, EveryMetricIsANumberOnWhatItTakes) {
  for_each_taken<Metric>([](const EntryBase& entry, TargetKind kind) {
    const auto metric = catalog<Metric>().build(fragment<Metric>(entry.name),
                                                MetricContext{.tokens = TokenFacts{{1, 3}}});
    const auto rows = rows_for(entry, kind);
    const LossTerms loss{at::ones({4}), at::ones({4})};
    const auto terms = metric->terms(rows.output, rows.target, loss);
    const auto values = metric->values(terms);
    const auto tables = metric->tables(terms);
    ASSERT_FALSE(values.empty() && tables.empty()) << entry.name;
    EXPECT_TRUE(
        std::isfinite(values.empty() ? tables.front().cells.front() : values.front().second))
        << entry.name;
  });
}

TEST(Targets, SomeAreAboutTwoClasses) {
  const auto why = [](const CatalogBase& catalog, const char* name, std::int64_t classes) {
    return target_misfit(*catalog.find(name), catalog, {TargetKind::classes, classes});
  };
  EXPECT_EQ(why(catalog<Metric>(), "dice", 2), "");
  EXPECT_EQ(why(catalog<Metric>(), "dice", 3),
            "'dice' is for two classes, and there are 3; write dice_multi");
  EXPECT_EQ(why(catalog<Metric>(), "roc_auc_binary", 10),
            "'roc_auc_binary' is for two classes, and there are 10; write for example accuracy, f1 "
            "or roc_auc");
  EXPECT_EQ(
      why(catalog<Loss>(), "bce_with_logits", 10),
      "'bce_with_logits' is for two classes, and there are 10; write for example cross_entropy");
}

std::string misfit_of(const char* model, const char* dataset, TargetKind kind) {
  return model_misfit(*catalog<Model>().find(model), catalog<Model>(), dataset, kind);
}

TEST(Targets, OfPixelsAreForModelsThatClassifyThem) {
  EXPECT_THAT(
      misfit_of("resnet18", "image_masks", TargetKind::masks),
      testing::StartsWith("'resnet18' gives one answer for a whole image, and 'image_masks' "
                          "gives masks, a class for each pixel; write "));
  EXPECT_EQ(misfit_of("unet", "image_masks", TargetKind::masks), "");
  EXPECT_EQ(misfit_of("sequential", "image_masks", TargetKind::masks), "");
  EXPECT_THAT(misfit_of("unet", "image_folder", TargetKind::classes),
              HasSubstr("'unet' gives a class for each pixel, and 'image_folder' has no masks"));
  for (const auto kind : {TargetKind::classes, TargetKind::numbers, TargetKind::points})
    EXPECT_EQ(misfit_of("vision_learner", "manifest", kind), "");
}

TEST(Targets, OfTokensAreForModelsThatContinueTexts) {
  EXPECT_EQ(misfit_of("awd_lstm_lm", "text_folder", TargetKind::tokens), "");
  EXPECT_EQ(misfit_of("awd_lstm", "text_folder", TargetKind::tokens),
            "'awd_lstm' gives one answer for a whole sample, and 'text_folder' asks for the next "
            "token; write awd_lstm_lm or gpt2");
  EXPECT_EQ(
      misfit_of("gpt2", "text_csv", TargetKind::classes),
      "'gpt2' gives the next token of a text, and 'text_csv' asks for an answer for the whole "
      "of it; write 'task: language_model', or a model that classifies texts");
}

TEST(Outputs, OfMasksAreScoresOfEachPixel) {
  const auto problem = [](const std::vector<std::int64_t>& shape, const char* model = "unet") {
    const auto choice = fragment<Loss>("cross_entropy");
    return output_misfit(*catalog<Loss>().find("cross_entropy"), choice, {TargetKind::masks, 5},
                         {*catalog<Model>().find(model), shape});
  };
  EXPECT_EQ(problem({1, 5, 8, 8}), "");
  EXPECT_THAT(problem({1, 5}), HasSubstr("wants scores of each pixel, and the model gives 2 axes"));
  EXPECT_THAT(problem({1, 4, 8, 8}), HasSubstr("wants an output for each of the 5 classes"));
  EXPECT_EQ(problem({1, 5}, "torchscript"),
            "'cross_entropy' wants scores of each pixel, and the model gives 2 axes, where [rows, "
            "classes, height, width] are 4; in Python, return such a tensor, and script it again");
}

std::string output_problem(const nlohmann::json& metric, const std::vector<std::int64_t>& shape,
                           const char* model = "resnet18") {
  const auto choice = fragment<Metric>(metric);
  return output_misfit(*catalog<Metric>().find(choice.type()), choice, {TargetKind::classes, 10},
                       {*catalog<Model>().find(model), shape});
}

TEST(Outputs, AreOneForEachClass) {
  EXPECT_EQ(output_problem("accuracy", {1, 10}), "");
  EXPECT_EQ(output_problem("accuracy", {1, 1000}), "");
  EXPECT_EQ(output_problem("accuracy", {1, 5}),
            "'accuracy' wants an output for each of the 10 classes, and the model gives 5; write "
            "'model.num_classes: auto'");
  EXPECT_NE(output_problem("confusion_matrix", {1, 1}), "");
}

TEST(Outputs, AreChangedWhereTheModelHasThem) {
  const std::string why =
      "'accuracy' wants an output for each of the 10 classes, and the model gives 5; ";
  EXPECT_EQ(output_problem("accuracy", {1, 5}, "sequential"),
            why + "give its last layer 10 outputs");
  EXPECT_EQ(output_problem("accuracy", {1, 5}, "torchscript"),
            why + "in Python, give its last layer 10 outputs, and script it again");
  for (std::size_t i = 0; i < catalog<Model>().size(); ++i) {
    const auto& model = catalog<Model>().at(i);
    const auto& options = model.shape().children;
    const bool has_option = std::any_of(options.begin(), options.end(), [](const auto& option) {
      return option.key == "num_classes";
    });
    EXPECT_EQ(output_problem("accuracy", {1, 5}, model.name.c_str())
                  .ends_with("; write 'model.num_classes: auto'"),
              has_option)
        << model.name;
  }
}

TEST(Outputs, HaveTheirClassesAlongTheWrittenAxis) {
  EXPECT_EQ(output_problem({{"type", "accuracy"}, {"axis", -1}}, {1, 7, 10}), "");
  EXPECT_NE(output_problem({{"type", "accuracy"}, {"axis", 1}}, {1, 7, 10}), "");
  EXPECT_THAT(output_problem({{"type", "accuracy"}, {"axis", 2}}, {1, 10}),
              HasSubstr("wants the classes along axis 2"));
}

TEST(Outputs, AreOneForTwoClassesWhereAMetricTakesIt) {
  const auto choice = fragment<Metric>("roc_auc_binary");
  const auto& entry = *catalog<Metric>().find("roc_auc_binary");
  const std::vector<std::int64_t> one{1, 1};
  EXPECT_EQ(output_misfit(entry, choice, {TargetKind::classes, 2},
                          {*catalog<Model>().find("resnet18"), one}),
            "");
}

TEST(Targets, AreTakenFromTheData) {
  EXPECT_EQ(targets_of(NumbersDataset(3).facts()).kind, TargetKind::classes);
}

}  // namespace
}  // namespace ddptrain
