#include "jobs/given_images.h"

#include "config/decode.h"
#include "data/image/image_files.h"
#include "train/build/build.h"

namespace ddptrain {

std::unique_ptr<Dataset> open_images(const Recipe& recipe, const SavedData& saved,
                                     const std::vector<std::string>& paths, bool as_bytes) {
  DataContext context;
  context.seed = seed_of_data(recipe);
  context.channels_last = recipe.train.channels_last.value.value_or(false);
  context.fitted = saved.fitted;
  context.classes.names = saved.classes;
  context.images = paths;
  context.pixels_as_bytes = as_bytes;
  if (dataset_of(recipe).has("predicts_images"))
    return catalog<Dataset>().build(recipe.data, context);
  return std::make_unique<ImageFiles>(unlabeled_images(paths),
                                      decode<ImageFileOptions>(recipe.data.node()), context);
}

const EntryBase& dataset_of(const Recipe& recipe) {
  return *catalog<Dataset>().find(recipe.data.type());
}

}  // namespace ddptrain
