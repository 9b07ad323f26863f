#include "jobs/given_images.h"

#include "config/decode.h"
#include "data/image/image_files.h"
#include "sources/remote/data_files.h"
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
  context.device.takes_bytes = as_bytes;
  const auto files = data_files(recipe.data);
  context.file_system = files.get();
  std::unique_ptr<Dataset> images;
  if (dataset_of(recipe).has("predicts_images"))
    images = catalog<Dataset>().build(recipe.data, context);
  else
    images = std::make_unique<ImageFiles>(unlabeled_images(paths, *files),
                                          decode<ImageFileOptions>(recipe.data.node()), context);
  images->keep(files);
  return images;
}

const EntryBase& dataset_of(const Recipe& recipe) {
  return *catalog<Dataset>().find(recipe.data.type());
}

}  // namespace ddptrain
