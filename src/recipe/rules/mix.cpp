// Samples that are mixed, and passes over augmented ones.
#include "recipe/rules/rules.h"
#include "recipe/rules/transforms.h"

namespace ddptrain {
namespace {

// Every pass over samples that are not augmented is the same.
void passes_differ(const RuleContext& rule) {
  if (!rule.recipe.eval.tta || is_augmented(rule)) return;
  const bool none = transforms_of(rule, "train").empty();
  rule.error("eval.tta",
             std::string("test-time augmentation goes through data.transforms.train, and ") +
                 (none ? "there is none" : "nothing in it is random"));
}

// Samples are mixed with their neighbors in the epoch's order.
void neighbors_differ(const RuleContext& rule) {
  if (rule.data.mix && rule.has(rule.data.sampler, "repeats"))
    rule.warn(
        "data.mix",
        "'repeat_aug' draws a sample several times in a row, so that it is mixed with itself");
}

void repeated_samples_differ(const RuleContext& rule) {
  if (rule.has(rule.data.sampler, "repeats") && !is_augmented(rule))
    rule.warn("data.sampler",
              "'{}' repeats samples, and nothing in data.transforms.train makes them differ",
              rule.data.sampler.type());
}

constexpr Rule kMixRules[] = {
    {{"tta", "Test-time augmentation wants augmented training samples.",
      "Its passes go through data.transforms.train; without any, all passes are the same.",
      "data: {transforms: {train: [{type: normalize, preset: imagenet}]}}\neval: {tta: 4}",
      "eval: {tta: 4}"},
     passes_differ},
    {{"mix-with-itself", "A sample is mixed with another one.",
      "Samples are mixed with their neighbors, and sampler repeat_aug draws one several times in a "
      "row.",
      "data: {sampler: repeat_aug, mix: mixup}", "data: {sampler: shuffle, mix: mixup}"},
     neighbors_differ},
    {{"repeat-augmented", "A sample that is repeated is augmented differently each time.",
      "Otherwise a batch holds the same images several times, and nothing is gained.",
      "data: {sampler: repeat_aug, transforms: {train: [{type: normalize, preset: imagenet}]}}",
      "data: {sampler: repeat_aug}"},
     repeated_samples_differ},
};

}  // namespace

std::vector<Rule> mix_rules() { return {std::begin(kMixRules), std::end(kMixRules)}; }

}  // namespace ddptrain
