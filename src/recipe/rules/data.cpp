// Where samples come from and in which order.
#include "recipe/rules.h"

namespace ddptrain {
namespace {

void source_has_a_digest(const RuleContext& rule) {
  const auto& source = rule.data.source;
  if (source && !source->md5 && !source->sha256)
    rule.error("data.source", "nothing is fetched or unpacked without its md5 or sha256");
}

// Targets of zeros and ones would be taken for probabilities of one class.
void loss_takes_several_labels(const RuleContext& rule) {
  const auto* loss = rule.entry(rule.recipe.loss);
  if (!loss || loss->has("several_labels")) return;
  if (rule.value(rule.recipe.data, "label_delimiter"))
    rule.error("loss", "'" + loss->name +
                           "' takes one label a sample; data.label_delimiter gives any number of "
                           "them, for 'loss: bce_with_logits'");
}

}  // namespace

std::vector<Rule> data_rules() {
  return {
      {{"digest", "What is fetched or unpacked has a digest.",
        "A file that changed on its way or at its source would train another model, and nobody "
        "would know.",
        "data: {source: {url: \"https://example.org/pictures.tgz\"}}",
        "data: {source: {url: \"https://example.org/pictures.tgz\", md5: "
        "e793b78cc4c9e9a4ccc0c1155377a412}}"},
       source_has_a_digest},
      {{"labels", "Several labels a sample want a loss that takes them.",
        "Zeros and ones for each label would be taken for the probabilities of one class.",
        "data: {type: manifest, file: labels.csv, label_delimiter: \" \"}\n"
        "loss: cross_entropy\nmetrics: [accuracy_multi]",
        "data: {type: manifest, file: labels.csv, label_delimiter: \" \"}\n"
        "loss: bce_with_logits\nmetrics: [accuracy_multi]"},
       loss_takes_several_labels},
  };
}

}  // namespace ddptrain
