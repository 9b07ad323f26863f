#include "jobs/job.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>

#include "base/error.h"
#include "base/files/digest.h"
#include "base/files/files.h"
#include "base/output/print.h"
#include "base/output/terminal.h"
#include "base/quoting.h"
#include "base/text.h"
#include "config/decode.h"
#include "data/dataset.h"
#include "jobs/generate/eval_samples.h"
#include "jobs/published.h"
#include "jobs/restart/restarts.h"
#include "jobs/start.h"
#include "launch/failure.h"
#include "launch/signals.h"
#include "models/model.h"
#include "recipe/eval_splits.h"
#include "recipe/layers/address.h"
#include "recipe/layers/record.h"
#include "report/report.h"
#include "runs/events_jsonl.h"
#include "sources/fetch/source.h"
#include "sources/split/class_folders.h"
#include "train/build/splits.h"
#include "train/catalogs.h"
#include "train/results/ending.h"

namespace ddptrain {
namespace {

constexpr std::int64_t kMostProfiled = 10'000;  // a trace has a megabyte for a few steps

}  // namespace

bool reported(const Problems& problems, std::string_view rule) {
  return std::any_of(problems.begin(), problems.end(),
                     [&](const Problem& problem) { return problem.rule == rule; });
}

Traces traces_of(const Arguments& arguments) {
  Traces traces;
  if (arguments.has(kProfile.name)) {
    const auto text = arguments.value(kProfile.name);
    const auto steps = parse_integer(text);
    if (!steps || *steps < 1 || *steps > kMostProfiled)
      throw Error(Exit::recipe, "--profile: '{}' is not a number of steps from 1 to {}", text,
                  kMostProfiled);
    traces.profiled_steps = *steps;
    ::setenv("KINETO_LOG_LEVEL", "99", 0);  // else it complains of GPUs that are not there
  }
  if (!arguments.has(kTrace.name)) return traces;
  if (arguments.value(kTrace.name) != "memory")
    throw Error(Exit::recipe, "--trace: '{}' is not 'memory'; '--profile STEPS' records operators",
                arguments.value(kTrace.name));
  traces.memory = true;
  return traces;
}

RunStart run_start(const Job& job, const Arguments& arguments, std::vector<Source> sources) {
  RunStart start;
  start.launch = launch_name();
  start.name = job.recipe.name;
  start.recipe_text = job.recipe_text;
  start.sources = std::move(sources);
  start.command_line = arguments.command_line;
  start.seed = job.recipe.seed;
  start.device = device_name(job.placement);
  start.ranks = job.placement.ranks;
  start.replicas = job.placement.replicas;
  start.threads = job.placement.threads;
  return start;
}

namespace {

bool is_open(const Node* valid) {
  if (!valid || valid->is_null()) return true;
  if (!valid->is_map()) return false;
  for (const auto* way : {"folder", "fraction", "list", "fold"})
    if (const auto* value = valid->find(way); value && !value->is_null()) return false;
  return true;
}

/// The validation folder that the data have is part of what a run resolves: another one that
/// appears later changes nothing.
void settle_valid(Choice<Dataset>& data, int rank) {
  auto node = data.node();
  const auto* root = node.find("root");
  auto* valid = node.find("valid");
  if (!catalog<Dataset>().find(data.type())->has("finds_valid") || !is_open(valid) || !root) return;
  const auto found = usual_validation_folder(root->text);
  if (!found) return;  // the dataset says what to write
  if (rank == 0) log::info("validation split: '{}' in '{}'", *found, root->text);
  if (!valid || !valid->is_map()) node.set("valid", Node::map());
  node.find("valid")->set("folder", Node::quoted_text(*found));
  data.choose(std::move(node));
}

/// The digest of a scripted module, which a resumed run compares.
void settle_script(Choice<Model>& model) {
  const auto* entry = catalog<Model>().find(model.type());
  const auto* file = model.node().find("file");
  const auto* digest = model.node().find("sha256");
  if (!entry || !entry->has("scripted") || !file || (digest && !digest->is_null())) return;
  if (!std::filesystem::is_regular_file(file->text))
    return;  // the model says what is wrong with it
  auto node = model.node();
  node.set("sha256", Node::quoted_text(digest_file(DigestKind::sha256, file->text)));
  model.choose(std::move(node));
}

/// On the devices that were found.
Job placed_job(Placement placement, const Recipe& recipe, const Node& tree, const Topology& outer) {
  Job job;
  job.placement = std::move(placement);
  job.make_samples = make_eval_samples;
  job.tree = tree;
  job.recipe = resolved(recipe, job.placement);
  for (auto& plugin : job.recipe.plugins)
    if (!plugin.sha256) plugin.sha256 = digest_file(DigestKind::sha256, plugin.file);
  settle_script(job.recipe.model);
  if (!outer.joined()) {  // no rank waits, and no time-out runs
    provide(job.recipe.data);
    provide_splits(job.recipe);
  }
  with_places(tree, [&] { settle_weights(job.recipe.model, Fetching::allowed); });
  settle_valid(job.recipe.data, outer.rank);
  for (auto section : split_sections(job.recipe)) {
    settle_valid(section.data, outer.rank);
    set_split(job.recipe, section);
  }
  // What was derived from the recipe itself is noted as `auto` too.
  job.record = [asked = decode<Recipe>(tree), tree](Recipe found) mutable {
    return record_of(found, asked, tree, all_catalogs());
  };
  job.recipe_text = job.record(job.recipe);
  return job;
}

}  // namespace

Job make_job(Recipe& recipe, const Node& tree, const Topology& outer) {
  Placement placement;
  with_places(tree, [&] { placement = place(recipe, outer); });
  return placed_job(std::move(placement), recipe, tree, outer);
}

Job make_job_on(const MachinePart& part, Recipe& recipe, const Node& tree) {
  Placement placement;
  with_places(tree, [&] { placement = place_on(part, recipe); });
  return placed_job(std::move(placement), recipe, tree, {});
}

namespace {

void say(const std::string& line, bool to_stdout) {
  if (!to_stdout) return log::info(line);
  print_lines(line + "\n");
  log::record(line);
}

/// Metrics are the result of a run and go to stdout; with -q the run folder alone has them.
void say_end(const RunResult& ending, bool wanted, log::Level level) {
  log::info(headline(ending));
  const bool to_stdout = wanted && level != log::Level::quiet;
  const auto columns = terminal_columns(to_stdout ? STDOUT_FILENO : STDERR_FILENO);
  for (const auto& line : results(ending, columns)) say(line, to_stdout);
  if (to_stdout) flush_stdout();
  for (const auto& line : what_next(ending)) log::info(line);
}

/// Of a run that trained to its end, or was asked to stop.
void say_outcome(const Job& job, const RunResult& ending, log::Level level) {
  if (ending.begun) return say_end(ending, job.results_to_stdout, level);
  log::info("asked to stop ({}) before the first step: nothing was trained",
            signal_name(ending.signal));
}

/// Where no rank came to say it: killed, hung, or without its device.
void say_how_to_resume(const std::string& folder, int code) {
  const bool cut =
      code > 128 || code == static_cast<int>(Exit::device) || code == static_cast<int>(Exit::hang);
  if (cut && !folder.empty() && std::filesystem::exists(folder) && run_end(folder).result.empty())
    log::info("'{} resume {}' continues this run", called_as(), typed_path(folder));
}

// Logs of ranks may tell why a start failed, except where it was refused or a person ended it.
bool tells_in_logs(int code) {
  const bool refused =
      code == static_cast<int>(Exit::recipe) || code == static_cast<int>(Exit::data);
  return !refused && code != 128 + SIGINT && code != 128 + SIGTERM && code != 128 + SIGHUP &&
         code != 128 + SIGPIPE && code != 128 + SIGUSR1;
}

/// Where the recipe asks for a report, and training began.
void report_on(const Job& job, const std::string& folder) {
  if (job.recipe.output.report && has_events(folder)) write_report(folder);
}

void end_in_folder(const Job& job, const Topology& outer, int code) {
  if (job.folder.empty() || outer.rank != 0) return;
  if (code != 0) abandon_run(job.folder, job.start, code, tells_in_logs(code));
  note_exit(job.folder, job.start, code);
  report_on(job, job.folder);
}

/// Trains as one rank of the job. Where another program started the ranks, rank 0 has made the
/// folder, and records how it ended.
int run_as_rank(const Job& job, const Topology& topology, Hooks hooks, log::Level level) {
  std::string folder;  // to be recorded in
  if (topology.rank == 0 && job.folder.empty())
    hooks.in_folder = [&folder, outer = hooks.in_folder](const std::string& made) {
      if (outer) outer(made);
      folder = made;
    };
  const auto record = [&](int code) {
    if (folder.empty()) return;
    note_exit(folder, job.start, code);
    if (std::filesystem::exists(folder)) report_on(job, folder);
  };
  try {
    int code = 0;
    const auto ending = run_rank(job, topology, hooks, [&](const RunResult& end) {
      say_outcome(job, end, level);
      code = delivered(exit_code(end));  // while SIGPIPE is ignored
      record(code);
    });
    return topology.rank == 0 ? code : delivered(exit_code(ending));
  } catch (...) {
    const auto failure = failure_of(std::current_exception(), topology.rank);
    record(static_cast<int>(failure.code));
    if (!folder.empty()) say_how_to_resume(folder, static_cast<int>(failure.code));
    throw;
  }
}

}  // namespace

int start_job(const Job& job, const Topology& outer, log::Level level) {
  const auto one_rank = [level](const Job& started) {
    return [&started, level](const Topology& topology, const Hooks& hooks) {
      return run_as_rank(started, topology, hooks, level);
    };
  };
  try {
    const int code = run_with_restarts(job, outer, one_rank, level);
    end_in_folder(job, outer, code);
    say_how_to_resume(job.folder, code);
    return code;
  } catch (const Error& error) {
    end_in_folder(job, outer, static_cast<int>(error.code()));
    say_how_to_resume(job.folder, static_cast<int>(error.code()));
    throw;
  }
}

}  // namespace ddptrain
