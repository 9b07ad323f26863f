// Batch arithmetic.

#include "base/error.h"
#include "base/text.h"
#include "recipe/batch_plan.h"
#include "recipe/rules/rules.h"

namespace ddptrain {
namespace {

std::string_view name_of(Layout layout) { return names(layout)[static_cast<std::size_t>(layout)]; }

void batch_is_cut_evenly(const RuleContext& rule) {
  // Without a number of devices one device still shows what no machine can cut.
  const auto devices = written_devices(rule.recipe.parallel);
  if (!devices && rule.recipe.batch.global && !rule.recipe.batch.per_device) return;
  rule.add(check_batch(rule.recipe, rule.tree, devices.value_or(1)));
}

void an_epoch_has_a_batch(const RuleContext& rule) {
  const auto global = rule.recipe.batch.global;
  const auto samples = number_of(rule.value(rule.data.sampler, "samples"));
  if (global && samples && rule.data.loader.drop_last && *samples < static_cast<double>(*global))
    rule.error("data.sampler.samples",
               "an epoch of {} samples has no full batch of {}; draw more, or write "
               "'data.loader.drop_last: false'",
               format_number(*samples), *global);
}

// Of the peers' layouts, fastai's and Accelerate's dispatched one always repeat samples.
void padding_is_read(const RuleContext& rule) {
  const auto& loader = rule.data.loader;
  if (loader.pad) return;
  if (loader.shard == Layout::global_batch || loader.shard == Layout::contiguous ||
      loader.shard == Layout::dispatch)
    rule.warn("data.loader.pad",
              "layout '{}' does not read it; interleaved, round_robin and split do",
              name_of(loader.shard));
}

void batches_are_loaded_ahead(const RuleContext& rule) {
  const auto& loader = rule.data.loader;
  if (loader.workers.value == 0 && loader.prefetch != LoaderSpec{}.prefetch)
    rule.warn("data.loader.prefetch",
              "without workers the training thread loads each batch when it wants it");
}

}  // namespace

Problems check_batch(const Recipe& recipe, const Node& tree, std::int64_t devices) {
  try {
    plan_batch(recipe.batch, devices);
    return {};
  } catch (const Error& error) {
    const auto& path = error.option();
    return {{Severity::error, "batch", nearest_place(tree, path), path, error.message()}};
  }
}

constexpr Rule kBatchRules[] = {
    {{"batch", "The global batch is micro x accumulate x devices.",
      "A batch that cannot be cut into equal pieces would make some samples count more than "
      "others, or the batch another one than the recipe says.",
      "batch: {global: 250, micro: 32}\nparallel: {mode: ddp, devices: 4}\n",
      "batch: {global: 256, micro: 32}\nparallel: {mode: ddp, devices: 4}\n"},
     batch_is_cut_evenly},
    {{"epoch-without-batch", "An epoch has a full batch.",
      "An incomplete last batch is left out, so an epoch of fewer samples than a batch has no "
      "step.",
      "data: {sampler: {type: partial, samples: 32}}",
      "data: {sampler: {type: partial, samples: 32}, loader: {drop_last: false}}"},
     an_epoch_has_a_batch},
    {{"loader-pad", "data.loader.pad is for layouts that repeat samples.",
      "The layout global_batch never does, and fastai's contiguous and Accelerate's dispatch "
      "always do.",
      "data: {loader: {pad: false}}", "data: {loader: {pad: false, shard: interleaved}}"},
     padding_is_read},
    {{"loader-prefetch", "Batches are loaded ahead by workers.",
      "With 'workers: 0' the training thread loads them itself, one at a time.",
      "data: {loader: {workers: 0, prefetch: 8}}", "data: {loader: {workers: 2, prefetch: 8}}"},
     batches_are_loaded_ahead},
};

std::vector<Rule> batch_rules() { return {std::begin(kBatchRules), std::end(kBatchRules)}; }

}  // namespace ddptrain
