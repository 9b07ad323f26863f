// The data of a recipe and the order of its samples, as build.h declares them.
#include "data/dataset.h"

#include "base/error.h"
#include "base/files/mapping_guard.h"
#include "base/text.h"
#include "config/catalog.h"
#include "data/loader/lengths.h"
#include "recipe/batch_plan.h"
#include "sources/classes.h"
#include "sources/fetch/source.h"
#include "sources/remote/data_files.h"
#include "sources/sampler.h"
#include "train/build/build.h"
#include "train/stages.h"

namespace ddptrain {
namespace {

/// How long a run is, where all of it is measured in epochs.
std::optional<double> epochs_of(const Recipe& recipe) {
  double sum = 0;
  for (const auto& stage : stages_of(recipe)) {
    if (stage.duration.unit != Duration::Unit::epochs) return {};
    sum += stage.duration.count;
  }
  return sum;
}

/// The rows that streams of tokens are cut into; without a placement, those of the devices that the
/// recipe names.
void set_rows(DataContext& context, const Recipe& recipe) {
  const auto devices = written_devices(recipe.parallel).value_or(1);
  context.train_rows =
      recipe.batch.global ? *recipe.batch.global : plan_batch(recipe.batch, devices).global;
  context.valid_rows = recipe.eval.batch.value.value_or(usual_eval_batch(context.train_rows));
}

/// A checkpoint holds them as JSON: better refused here than after the first epoch.
void check_class_names(const DataFacts& facts) {
  for (const auto& name : facts.classes)
    if (find_invalid_utf8(name))
      throw Error(Exit::data, "class '{}' is not UTF-8 text; rename its folder or label",
                  shown(name, 200));
}

}  // namespace

std::unique_ptr<Dataset> build_data(const Recipe& recipe, const SavedData& saved,
                                    const std::string& unlabeled, const ImageDevice& device) {
  DataContext context;
  context.device = device;
  context.seed = seed_of_data(recipe);
  context.skip_bad_samples = recipe.policy.on_bad_sample == OnBadSample::skip;
  context.channels_last = recipe.train.channels_last.value.value_or(false);
  context.fitted = saved.fitted;
  context.classes = {saved.classes, recipe.policy.on_unknown_class == OnUnknownClass::skip};
  context.unlabeled = unlabeled;
  context.epochs = epochs_of(recipe);
  set_rows(context, recipe);
  const auto files = data_files(recipe.data);
  context.file_system = files.get();
  if (unlabeled.empty()) provide(recipe.data);
  try {
    auto data = catalog<Dataset>().build(recipe.data, context);
    data->keep(files);
    check_mapped_files();
    check_class_names(data->facts());
    return data;
  } catch (const Error&) {
    check_mapped_files();  // zeros in its place may read as a mistake in the file
    throw;
  }
}

std::unique_ptr<Sampler> build_sampler(const Recipe& recipe, const Dataset& data) {
  SamplerContext context;
  context.size = data.size(Split::train);
  context.weights = data.weights(Split::train);
  context.seed = seed_of_data(recipe);
  context.lengths = lengths_of(data, Split::train);
  context.global = recipe.batch.global.value_or(context.global);
  context.label = [&data](std::int64_t index) { return data.label(Split::train, index); };
  context.shard = [&data](std::int64_t index) { return data.shard(Split::train, index); };
  return catalog<Sampler>().build(decode<DataSection>(recipe.data.node()).sampler, context);
}

}  // namespace ddptrain
