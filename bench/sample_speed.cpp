// Samples per CPU-second of one thread: a recipe's training samples, read, decoded and transformed
// with their targets. Next to bench/peers/sample_speed.py.
//   bench_sample_speed PASSES RECIPE [key=value...]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "base/error.h"
#include "config/catalog.h"
#include "data/dataset.h"
#include "recipe/load/load.h"
#include "train/build/build.h"
#include "train/catalogs.h"

using namespace ddptrain;

namespace {

Recipe read_recipe(int count, char** words) {
  auto loaded = load_recipe({words[2]}, {words + 3, words + count}, all_catalogs());
  if (has_errors(loaded.problems)) throw Error(Exit::recipe, render(loaded.problems));
  return loaded.recipe;
}

double cpu_seconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Of one epoch in batches of 16.
double rate(const Dataset& data, std::int64_t epoch) {
  constexpr std::int64_t rows = 16;
  const auto count = data.size(Split::train);
  auto batch = data.allocate_train(epoch, rows);
  const double start = cpu_seconds();
  for (std::int64_t i = 0; i < count; ++i)
    data.load(Split::train, i, {.seed = 1, .epoch = epoch, .position = i}, batch, i % rows);
  return static_cast<double>(count) / (cpu_seconds() - start);
}

}  // namespace

int main(int count, char** words) try {
  if (count < 3)
    return std::fputs("usage: bench_sample_speed PASSES RECIPE [key=value...]\n", stderr), 2;
  const auto data = build_data(read_recipe(count, words));
  double best = 0;
  for (int pass = 0; pass < std::atoi(words[1]); ++pass) best = std::max(best, rate(*data, pass));
  std::printf("{\"images_per_cpu_second\": %.1f}\n", best);
  return 0;
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return static_cast<int>(error.code());
}
