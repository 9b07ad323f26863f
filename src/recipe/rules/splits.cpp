// Samples that evaluation scores in addition to the validation split.
#include <algorithm>
#include <array>
#include <cctype>

#include "config/complete.h"
#include "config/encode.h"
#include "recipe/eval_splits.h"
#include "recipe/rules/metric_names.h"
#include "recipe/rules/rules.h"

namespace ddptrain {
namespace {

constexpr std::array<std::string_view, 3> kOfTraining{"sampler", "mix", "loader"};

bool is_word(const std::string& name) {
  const auto fits = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  return !name.empty() && std::all_of(name.begin(), name.end(), fits);
}

/// Whether a metric's values would be called as those of a split are: "accuracy/cat".
bool is_metric(const RuleContext& rule, const std::string& name) {
  const auto metrics = rule.metrics();
  return name == "loss" || std::any_of(metrics.begin(), metrics.end(), [&](const auto& metric) {
           const auto value = value_name(rule, metric);
           return value.substr(0, value.find('/')) == name;
         });
}

std::string wrong_name(const RuleContext& rule, const std::string& name) {
  if (!is_word(name)) return "has other characters than letters, digits and '_'";
  if (name == kTestSplit) return "is the name of eval.test";
  if (name == "train" || name == "valid" || name == "all")
    return "is what samples of 'data' are called";
  if (samples_of(name) != name)
    return "ends as the scores of averaged weights and of test-time augmentation do";
  if (is_metric(rule, name)) return "is a metric";
  return {};
}

void splits_have_names_of_their_own(const RuleContext& rule) {
  for (const auto& [name, data] : rule.recipe.eval.splits)
    if (const auto why = wrong_name(rule, name); !why.empty())
      rule.error("eval.splits." + name, "'{}' {}; write another name", name, why);
}

void splits_are_not_trained_on(const RuleContext& rule) {
  for (const auto& split : split_sections(rule.recipe))
    for (const auto option : kOfTraining)
      if (rule.is_asked(split.data, option))
        rule.error(split.path + "." + std::string(option),
                   "what is only scored has no '{}'; it is written under 'data', for training",
                   option);
}

/// A section with every default, without what is of training.
std::string samples_in(const RuleContext& rule, const Choice<Dataset>& data) {
  auto node = complete_component(data.node(), "data", rule.catalogs);
  std::erase_if(node.members, [](const Member& member) {
    return member.key == "source" ||
           std::find(kOfTraining.begin(), kOfTraining.end(), member.key) != kOfTraining.end();
  });
  return to_yaml(node);
}

void splits_have_samples_of_their_own(const RuleContext& rule) {
  const auto validation = samples_in(rule, rule.recipe.data);
  for (const auto& split : split_sections(rule.recipe))
    if (samples_in(rule, split.data) == validation)
      rule.warn(split.path,
                "these are the validation samples of 'data'; write what is other, such as 'valid' "
                "or 'root'");
}

constexpr Rule kSplitRules[] = {
    {{"split-name", "Samples that are scored too have a name of their own.",
      "Scores are called 'sketch/accuracy': a name that means something else would be read as "
      "that.",
      "eval: {splits: {valid: {valid: {fraction: 0.5}}}}",
      "eval: {splits: {half: {valid: {fraction: 0.5}}}}"},
     splits_have_names_of_their_own},
    {{"split-unused", "Samples that are only scored have no options of training.",
      "They are neither drawn nor mixed: the option would change nothing.",
      "eval: {test: {valid: {fraction: 0.5}, sampler: sequential}}",
      "data: {sampler: sequential}\neval: {test: {valid: {fraction: 0.5}}}"},
     splits_are_not_trained_on},
    {{"split-same", "Samples that are scored too are others than the validation split.",
      "Each evaluation would score the same samples twice.", "eval: {test: {}}",
      "eval: {test: {valid: {fraction: 0.5}}}"},
     splits_have_samples_of_their_own},
};

}  // namespace

std::vector<Rule> split_rules() { return {std::begin(kSplitRules), std::end(kSplitRules)}; }

}  // namespace ddptrain
