#include "train/run/load_time.h"

#include "base/clock.h"
#include "data/dataset.h"
#include "sources/sampler.h"
#include "train/build/build.h"
#include "train/stages.h"

namespace ddptrain {
namespace {

constexpr std::int64_t kMostLoaded = 256;
constexpr double kLongEnoughToLoad = 1;  // second

Batch row_for(const Dataset& data, std::int64_t sample) {
  const auto length = data.length(Split::train, sample);
  return length > 0 ? data.allocate_length(Split::train, 1, length) : data.allocate_train(0, 1);
}

}  // namespace

double load_seconds(const Recipe& recipe) {
  const auto data = build_data(recipe);
  Draw draw;
  draw.seed = seed_of_data(recipe);
  double seconds = 0;
  std::int64_t loaded = 0;
  for (const auto sample : build_sampler(recipe, *data)->order(0)) {
    auto row = row_for(*data, sample);
    const Stopwatch watch;
    if (data->load(Split::train, sample, draw, row, 0)) ++loaded;
    seconds += watch.seconds();
    if (++draw.position == kMostLoaded || seconds > kLongEnoughToLoad) break;
  }
  return loaded > 0 ? seconds / static_cast<double>(loaded) : 0;
}

}  // namespace ddptrain
