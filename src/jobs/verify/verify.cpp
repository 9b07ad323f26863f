// `verify [KIND] RECIPE... [key=value...]`: whether this machine computes the same with one rank
// and with several, in one micro-batch and in several, and after a resume.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "base/clock.h"
#include "base/error.h"
#include "base/output/print.h"
#include "base/output/table_text.h"
#include "base/text.h"
#include "cli/problems.h"
#include "cli/verb.h"
#include "config/suggest.h"
#include "jobs/job.h"
#include "jobs/verify/checks.h"
#include "launch/signals.h"
#include "recipe/layers/address.h"
#include "recipe/load/load.h"
#include "train/catalogs.h"

namespace ddptrain {
namespace {

constexpr Flag kDevices{"--devices", "N,N",
                        "numbers of devices to compare with one, on the CPU of ranks; default 2"};
constexpr Flag kSteps{"--steps", "N",
                      "optimizer steps of a run, twice as many for resume; default 3"};

struct CheckKind {
  std::string_view name;
  CheckedRows (*check)(const CheckSetting&);
};
constexpr CheckKind kCheckKinds[] = {{"parallel", check_parallel},
                                     {"accumulate", check_accumulate},
                                     {"eval", check_eval},
                                     {"resume", check_resume}};

const CheckKind* find_kind(const std::string& word) {
  for (const auto& kind : kCheckKinds)
    if (kind.name == word) return &kind;
  return nullptr;
}

/// What the words ask for.
struct VerifyWords {
  const CheckKind* kind = nullptr;  // null: all
  RecipeWords recipe;
};

VerifyWords verify_words(const Arguments& arguments) {
  VerifyWords words{find_kind(arguments.words[0]), {}};
  words.recipe =
      split_words({arguments.words.begin() + (words.kind ? 1 : 0), arguments.words.end()});
  std::vector<std::string> kinds;
  for (const auto& kind : kCheckKinds) kinds.emplace_back(kind.name);
  if (words.recipe.files.empty())
    throw Error(Exit::recipe, "no recipe: ddptrain verify {} RECIPE", arguments.words[0]);
  const auto& first = words.recipe.files[0];
  const auto near = nearest(first, kinds);
  if (!words.kind && words.recipe.files.size() > 1 && !near.empty() &&
      !std::filesystem::exists(first))
    throw Error(Exit::recipe, "'{}' is not {}{}", first, one_of(kinds), did_you_mean(near));
  return words;
}

std::int64_t steps_asked(const Arguments& arguments) {
  const auto text = arguments.value(kSteps.name, "3");
  const auto steps = parse_integer(text);
  if (!steps || *steps < 1 || *steps > 1'000'000)
    throw Error(Exit::recipe, "--steps: '{}' is not a number of steps, 1 to 1000000", text);
  return *steps;
}

std::vector<std::int64_t> devices_asked(const Arguments& arguments) {
  std::vector<std::int64_t> devices;
  for (const auto& text : split(arguments.value(kDevices.name, "2"), ',')) {
    const auto count = parse_integer(trim(text));
    if (!count || *count < 2 || *count > 1024)
      throw Error(Exit::recipe,
                  "--devices: '{}' is not a number of devices to compare with one, 2 to 1024; "
                  "'--devices 2,4' compares with two and with four",
                  text);
    if (std::ranges::count(devices, *count) == 0) devices.push_back(*count);
  }
  return devices;
}

bool is_cut(const BatchSpec& batch, std::int64_t devices) {
  try {
    plan_batch(batch, devices);
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// The recipe's own batch on the devices that it names, else on the most up to those that are
/// compared that can share it.
BatchPlan own_batch(const Loaded& loaded, std::int64_t most) {
  const auto& batch = loaded.recipe.batch;
  auto devices = written_devices(loaded.recipe.parallel);
  while (!devices && most > 1 && !is_cut(batch, most)) --most;
  BatchPlan plan;
  with_places(loaded.tree, [&] { plan = plan_batch(batch, devices.value_or(most)); });
  return plan;
}

std::int64_t threads_of(const Recipe& recipe, std::int64_t most) {
  const auto cores = static_cast<std::int64_t>(std::thread::hardware_concurrency());
  return recipe.train.threads.value.value_or(std::max<std::int64_t>(1, cores / most));
}

/// What `train.precision: auto` comes to here; looks at devices and data as a run does, so that
/// what is missing is reported before the first run.
Precision own_precision(const ShortRunPlan& plan) {
  auto recipe = cut_recipe(plan, {});
  recipe.train.precision = plan.recipe.train.precision;
  const auto job = make_job(recipe, plan.tree, {});
  return job.recipe.train.precision.value.value_or(Precision::fp32);
}

std::string verdict_text(Verdict verdict) {
  constexpr const char* texts[] = {"same", "DIFFERENT", "not comparable"};
  return texts[static_cast<std::size_t>(verdict)];
}

void print_checked(const CheckedRows& rows) {
  std::vector<std::vector<std::string>> cells{
      {"", "precision", "ranks", "difference", "allowed", "verdict"}};
  for (const auto& row : rows)
    cells.push_back({row.what, row.precision, row.ranks, short_number(row.largest),
                     short_number(row.allowed), verdict_text(row.verdict)});
  print_table(cells);
}

/// Why a row is not comparable, alike in both precisions, or how it was compared.
std::string reason(const CheckedRow& row) {
  if (row.verdict == Verdict::not_comparable)
    return fmt::format("{} of ranks {} is not comparable: {}", row.what, row.ranks, row.note);
  if (row.verdict == Verdict::same && !row.note.empty())
    return fmt::format("{} of ranks {} in {}: {}", row.what, row.ranks, row.precision, row.note);
  return {};
}

/// Once each.
void print_reasons(const CheckedRows& rows) {
  std::vector<std::string> printed;
  for (const auto& row : rows) {
    const auto line = reason(row);
    if (!line.empty() && std::ranges::count(printed, line) == 0) print_lines(line + "\n");
    printed.push_back(line);
  }
}

/// Logs what differs; returns the exit code.
int conclude(const CheckedRows& rows) {
  const auto different = std::ranges::count(rows, Verdict::different, &CheckedRow::verdict);
  const auto same = std::ranges::count(rows, Verdict::same, &CheckedRow::verdict);
  for (const auto& row : rows)
    if (row.verdict == Verdict::different)
      log::error("{} ({}, ranks {}): differ first at {}, by {} at most; {} is allowed", row.what,
                 row.precision, row.ranks, row.note, short_number(row.largest),
                 short_number(row.allowed));
  log::info("{} of {} equal", same, plural(same + different, "comparison"));
  return static_cast<int>(different == 0 ? Exit::done : Exit::expect);
}

/// Off a terminal, where no status line shows it. ShortRuns shows each run on one.
void log_how_far(std::size_t done, std::size_t all, const CheckKind& kind, Precision precision,
                 double seconds) {
  if (log::has_status()) return;
  const auto name = names(precision)[static_cast<std::size_t>(precision)];
  log::info("check {} of {}{}: {} in {}", done + 1, all,
            done == 0 ? "" : " after " + format_seconds(seconds), kind.name, name);
}

CheckedRows check_all(ShortRuns& runs, const CheckKind* kind, CheckSetting setting, Precision own) {
  CheckedRows rows;
  std::vector<Precision> precisions{Precision::fp64};
  if (own != Precision::fp64) precisions.push_back(own);
  const auto all = precisions.size() * (kind ? 1 : std::size(kCheckKinds));
  const double began = seconds_now();
  std::size_t done = 0;
  for (const auto precision : precisions) {
    setting.precision = precision;
    for (const auto& each : kCheckKinds) {
      if (kind && each.name != kind->name) continue;
      log_how_far(done++, all, each, precision, seconds_now() - began);
      const auto more = each.check(setting);
      rows.insert(rows.end(), more.begin(), more.end());
    }
    runs.forget();
  }
  return rows;
}

int verify(const Arguments& arguments) {
  const auto words = verify_words(arguments);
  const auto steps = steps_asked(arguments);
  const auto devices = devices_asked(arguments);
  auto loaded = load_recipe(words.recipe.files, words.recipe.overrides, all_catalogs());
  apply_strict(loaded.problems, arguments);
  if (say_problems(loaded.problems)) return static_cast<int>(Exit::recipe);
  if (topology_from_environment().joined())
    throw Error(Exit::recipe, "'verify' starts its ranks itself, and this is one rank of several");
  const auto most = *std::ranges::max_element(devices);
  const auto batch = own_batch(loaded, most);
  const ShortRunPlan plan{loaded.recipe, loaded.tree, batch.global, threads_of(loaded.recipe, most),
                          2 * steps};
  const auto own = own_precision(plan);
  try {
    ShortRuns runs(plan, arguments);
    const auto rows =
        check_all(runs, words.kind, {runs, Precision::fp64, steps, batch.accumulate, devices}, own);
    log::status("");
    print_checked(rows);
    print_reasons(rows);
    flush_stdout();
    return conclude(rows);
  } catch (const Interrupted& interrupted) {
    log::info("asked to stop ({}): nothing was compared", signal_name(interrupted.signal));
    return 128 + interrupted.signal;
  }
}

}  // namespace

Verb verify_verb() {
  return {.name = "verify",
          .usage = "[parallel|accumulate|eval|resume] RECIPE... [key=value...]",
          .summary = "prove that ranks, accumulation, evaluation and resuming give equal numbers",
          .flags = {kDevices, kSteps, kStrict},
          .min_files = 1,
          .run = verify};
}

}  // namespace ddptrain
