// Samples that are mixed, and passes over augmented ones.
#include "recipe/rules.h"

namespace ddptrain {
namespace {

// Every pass over samples that are not augmented is the same.
void passes_differ(const RuleContext& rule) {
  if (!rule.recipe.eval.tta) return;
  const auto* transforms = rule.value(rule.recipe.data, "transforms");
  const auto* train = transforms && transforms->is_map() ? transforms->find("train") : nullptr;
  if (!train || train->items.empty())
    rule.error("eval.tta",
               "test-time augmentation goes through data.transforms.train, and there is none");
}

// Samples are mixed with their neighbours in the epoch's order.
void neighbours_differ(const RuleContext& rule) {
  if (rule.data.mix && rule.data.sampler.type() == "repeat_aug")
    rule.warn(
        "data.mix",
        "'repeat_aug' draws a sample several times in a row, so that it is mixed with itself");
}

}  // namespace

std::vector<Rule> mix_rules() {
  return {
      {{"tta", "Test-time augmentation wants augmented training samples.",
        "Its passes go through data.transforms.train; without any, all passes are the same.",
        "data: {transforms: {train: []}}\neval: {tta: 4}",
        "data: {transforms: {train: [{type: random_resized_crop, size: 64}]}}\neval: {tta: 4}"},
       passes_differ},
      {{"mix-with-itself", "A sample is mixed with another one.",
        "Samples are mixed with their neighbours, and sampler repeat_aug draws one several times "
        "in "
        "a row.",
        "data: {sampler: repeat_aug, mix: mixup}", "data: {sampler: shuffle, mix: mixup}"},
       neighbours_differ},
  };
}

}  // namespace ddptrain
