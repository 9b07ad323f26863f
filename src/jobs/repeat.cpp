#include "jobs/repeat.h"

#include <cstdio>

#include "base/error.h"
#include "base/text.h"
#include "checkpoint/checkpoint.h"
#include "cli/problems.h"
#include "jobs/job.h"
#include "recipe/load.h"
#include "train/catalogs.h"
#include "train/repetition.h"

namespace ddptrain {
namespace {

constexpr std::int64_t kMostRuns = 1000;

std::int64_t count_of(const Arguments& arguments) {
  const auto count = parse_integer(arguments.value("--repeat"));
  if (!count || *count < 2 || *count > kMostRuns)
    throw Error(Exit::recipe, "--repeat: '" + arguments.value("--repeat") +
                                  "' is not a number of runs from 2 to " +
                                  std::to_string(kMostRuns));
  return *count;
}

struct Seeded {
  Job job;
  RunStart start;
};

/// The recipe with `more` overrides behind those given; nothing where it has errors, which are
/// said.
std::optional<Seeded> make_seeded(const Arguments& arguments, const std::string& more) {
  auto words = split_words(arguments.words);
  if (!more.empty()) words.overrides.push_back(more);
  auto loaded = load_recipe(words.files, words.overrides, all_catalogs());
  apply_strict(loaded.problems, arguments);
  if (more.empty()) say_problems(loaded.problems);
  if (has_errors(loaded.problems)) return {};
  Seeded made;
  made.job = make_job(loaded.recipe, loaded.tree, {});
  made.job.results_to_stdout = false;  // the table of all seeds is the result
  made.start = run_start(made.job, arguments, std::move(loaded.sources));
  return made;
}

/// A seed's run may end so, and the next one still tells something.
bool is_result(int code) {
  return code == static_cast<int>(Exit::done) || code == static_cast<int>(Exit::expect) ||
         code == static_cast<int>(Exit::non_finite);
}

int worse(int a, int b) {
  const auto weight = [](int code) {
    if (!is_result(code)) return 3;
    if (code == static_cast<int>(Exit::non_finite)) return 2;
    return code == static_cast<int>(Exit::expect) ? 1 : 0;
  };
  return weight(b) > weight(a) ? b : a;
}

int start(const Job& job, log::Level level) {
  try {
    return start_job(job, {}, level);
  } catch (const Error& error) {
    if (!is_result(static_cast<int>(error.code()))) throw;
    log::error(error.what());
    return static_cast<int>(error.code());
  }
}

int begin(Seeded& seeded, Repetition& repetition, log::Level level) {
  seeded.job.folder = make_run_folder(seeded.job.recipe.output.dir, seeded.start);
  const auto lock = lock_run(seeded.job.folder);
  repetition.add(seeded.job.folder);
  log::info("seed " + std::to_string(seeded.start.seed) + ": run folder " + seeded.job.folder);
  return start(seeded.job, level);
}

/// A run of an earlier start of this repetition: done, or to be gone on with.
int take_up(Seeded& seeded, const std::string& folder, log::Level level) {
  const auto head = "seed " + std::to_string(seeded.start.seed) + ": ";
  const auto lock = lock_run(folder);
  const auto ended = run_end(folder);
  if (ended.exit_code && is_result(*ended.exit_code)) {
    log::info(head + "done in " + folder);
    return *ended.exit_code;
  }
  std::vector<std::string> notes;
  seeded.job.folder = folder;
  seeded.job.checkpoint = newest_checkpoint(folder + "/checkpoints", notes);
  for (const auto& note : notes) log::warning(note);
  log::info(head + "going on in " + folder);
  note_resumed(folder, seeded.start);
  return start(seeded.job, level);
}

void print_results(const std::vector<std::string>& folders, std::int64_t first_seed) {
  std::vector<SeedResult> results;
  for (const auto& folder : folders) {
    auto ended = run_end(folder);
    results.push_back({first_seed + static_cast<std::int64_t>(results.size()),
                       std::move(ended.metrics), std::move(ended.best)});
  }
  std::fputs(seeds_table(results).c_str(), stdout);
  std::fputs(best_seeds_table(results).c_str(), stdout);
}

}  // namespace

int run_repeated(const Arguments& arguments) {
  const auto count = count_of(arguments);
  if (topology_from_environment().joined())
    throw Error(
        Exit::recipe,
        "--repeat starts its ranks itself; under another launcher give each run its 'seed='");
  const auto first = make_seeded(arguments, {});
  if (!first) return static_cast<int>(Exit::recipe);
  const auto& recipe = first->job.recipe;
  log::info(to_text(first->job.placement.batch));
  Repetition repetition(recipe.output.dir, recipe.name, first->job.recipe_text, count);
  const auto begun = repetition.folders();
  int worst = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    auto seeded = make_seeded(arguments, "seed=" + std::to_string(recipe.seed + i));
    DDP_CHECK(seeded, "a seed made a recipe wrong");
    const auto at = static_cast<std::size_t>(i);
    const int code = at < begun.size() ? take_up(*seeded, begun[at], arguments.level)
                                       : begin(*seeded, repetition, arguments.level);
    worst = worse(worst, code);
    if (is_result(code)) continue;
    log::info("the same command goes on with seed " + std::to_string(recipe.seed + i));
    return code;
  }
  print_results(repetition.folders(), recipe.seed);
  repetition.finish();
  return worst;
}

}  // namespace ddptrain
