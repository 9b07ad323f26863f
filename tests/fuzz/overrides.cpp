// Words of the command line, one a line, over a recipe that has something of everything.
#include "base/text.h"
#include "config/encode.h"
#include "input_file.h"
#include "recipe/catalogs.h"
#include "recipe/load/load.h"

using namespace ddptrain;

namespace {

constexpr std::string_view recipe =
    "model: {type: resnet}\n"
    "data:\n"
    "  type: image_folder\n"
    "  root: pictures\n"
    "  transforms: [flip, {type: resize, size: 8}]\n"
    "batch: {global: 8}\n"
    "optimizer: {type: sgd, lr: 0.1, no_decay: [bias, norm]}\n"
    "schedule: {type: one_cycle, warmup: 10%}\n"
    "metrics: [accuracy]\n"
    "train: {duration: 3 epochs}\n";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  static const fuzz::InputFile file(recipe);
  const auto words = split(fuzz::text_of(data, size), '\n');
  const auto loaded = load_recipe({file.path()}, words, testing_recipes::catalogs());
  render(loaded.problems);
  to_yaml(loaded.tree);
  return 0;
}
