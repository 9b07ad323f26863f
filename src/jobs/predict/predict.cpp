// `predict RUN... INPUT...`: what each sample is called, its label and the probability of each
// class, or its value in a regression, in the order of the input; of several runs their mean.
#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/error.h"
#include "base/files/files.h"
#include "base/files/scratch_folder.h"
#include "base/output/log.h"
#include "base/text.h"
#include "cli/spreadsheet.h"
#include "cli/verb.h"
#include "jobs/predict/prediction.h"
#include "jobs/saved_run.h"
#include "jobs/start.h"
#include "recipe/layers/address.h"
#include "train/results/ending.h"
#include "train/run/rank.h"

namespace ddptrain {
namespace {

int predict_rank(const PredictJob& job, const Topology& topology, const Hooks& hooks) {
  const auto& recipe = job.members.front().recipe;
  prepare_process(recipe, job.placement);
  return in_world(recipe, job.placement, topology, [&](World& world) {
    if (hooks.beat) hooks.beat(0, "building");
    return predict_all(job, world, hooks);
  });
}

struct PredictWords {
  std::vector<std::string> runs, inputs, overrides;
};

/// The first word is a run, and so are run folders that follow it. A word with '=' that names a
/// file is an input.
PredictWords predict_words(const Arguments& arguments) {
  PredictWords words{{arguments.words.front()}, {}, {}};
  for (auto word = arguments.words.begin() + 1; word != arguments.words.end(); ++word) {
    const auto parts = split_words({*word});
    if (!parts.overrides.empty() && !std::filesystem::exists(*word))
      words.overrides.push_back(*word);
    else if (words.inputs.empty() && is_run_folder(*word))
      words.runs.push_back(*word);
    else
      words.inputs.push_back(*word);
  }
  return words;
}

bool has_prefix(const std::vector<std::string>& words, const std::string& prefix) {
  return std::any_of(words.begin(), words.end(),
                     [&](const auto& word) { return word.starts_with(prefix); });
}

/// A batch of prediction is one of evaluation, whatever it is called; several devices are ranks.
std::vector<std::string> meant(std::vector<std::string> overrides) {
  for (auto& word : overrides)
    for (const std::string size : {"batch.global=", "batch.micro=", "batch.per_device="})
      if (word.starts_with(size)) word = "eval.batch=" + word.substr(size.size());
  const bool devices =
      has_prefix(overrides, "parallel.devices=") && !has_prefix(overrides, "parallel.devices=1");
  if (devices && !has_prefix(overrides, "parallel.mode="))
    overrides.emplace_back("parallel.mode=ddp");
  return without_training(std::move(overrides));
}

SavedRun open_member(const std::string& folder, const PredictWords& words,
                     const std::string& which) {
  auto run = open_run(folder, meant(words.overrides), which);
  require_checkpoint(run);
  if (!has_prefix(words.overrides, "parallel.")) {
    run.recipe.parallel.mode = Mode::none;
    run.recipe.parallel.devices = {};
  }
  run.recipe.eval.batch = Auto<std::int64_t>(run.recipe.eval.batch.value.value_or(64));
  return run;
}

PredictionFormat format_of(const Arguments& arguments) {
  return arguments.value("--format", "csv") == "jsonl" ? PredictionFormat::jsonl
                                                       : PredictionFormat::csv;
}

/// An Error (Exit::recipe) where it is no number above 0.
std::int64_t top_of(const Arguments& arguments) {
  if (!arguments.has("--top")) return 0;
  const auto given = arguments.value("--top");
  const auto count = parse_integer(given);
  if (!count || *count < 1)
    throw Error(Exit::recipe, "--top: '{}' is no number of classes from 1 upwards", given);
  return *count;
}

/// Of text runs the lines of stdin are the texts, of tables they are a CSV file, which is copied to
/// `folder`.
void take_stdin(PredictJob& job, const PredictWords& words, const Arguments& arguments,
                const std::string& folder) {
  const auto& dataset = dataset_of(job.members.front().recipe);
  if (dataset.has("gives_tables")) {
    job.stdin_file = folder + "/stdin";
    return write_atomically(job.stdin_file, read_given("/dev/stdin", kLongestText));
  }
  if (!dataset.has("gives_texts"))
    throw Error(Exit::recipe,
                "'-': stdin holds texts or a table, and this run reads images; '--list -' reads "
                "their names from stdin");
  if (words.inputs.size() > 1 || arguments.has("--list"))
    throw Error(Exit::recipe,
                "'-' reads texts from stdin, one a line, and goes with no other input");
  if (job.placement.ranks > 1)
    throw Error(Exit::recipe, "'-' is answered by one process; 'parallel.devices' is for files");
  job.lines = true;
}

/// Adds every run as a member; all are placed as the first one, which is returned.
SavedRun open_members(PredictJob& job, const PredictWords& words, const std::string& which) {
  std::optional<SavedRun> first;
  for (const auto& folder : words.runs) {
    auto run = open_member(folder, words, which);
    log::info("{}: {}", typed_path(run.folder), to_text(weights_of(run)));
    if (!first) with_places(run.tree, [&] { job.placement = place(run.recipe, {}); });
    job.members.push_back({resolved(run.recipe, job.placement), run.checkpoint});
    if (!first) first = std::move(run);
  }
  return std::move(first.value());
}

int predict(const Arguments& arguments) {
  const auto words = predict_words(arguments);
  PredictJob job;
  job.format = format_of(arguments);
  job.top = top_of(arguments);
  job.reader = reader_of(arguments, job.format == PredictionFormat::csv);
  job.paths = listed_inputs(words.inputs, arguments.value("--list"));
  const auto first = open_members(job, words, arguments.value(kCheckpoint.name, "last"));
  job.output = arguments.value("--output");
  if (writes_files(job) && job.output.empty())
    throw Error(Exit::recipe,
                "each prediction is a file: '--output FOLDER' says where they and predictions.csv "
                "are to be written");
  job.skip_bad =
      arguments.has("--skip-bad") || first.recipe.policy.on_bad_sample == OnBadSample::skip;
  std::optional<ScratchFolder> scratch;
  if (std::count(words.inputs.begin(), words.inputs.end(), kStdin) > 0)
    take_stdin(job, words, arguments, scratch.emplace().path());
  return start_ranks(job.members.front().recipe, job.placement, {},
                     [&](const Topology& topology, const Hooks& hooks) {
                       return predict_rank(job, topology, hooks);
                     },
                     {arguments.level, {}, &first.tree});
}

}  // namespace

Verb predict_verb() {
  return {
      .name = "predict",
      .usage = "RUN_FOLDER... INPUT... [key=value...]",
      .summary =
          "label and probabilities, or values, for images, tables or texts: files, folders, lists "
          "of them, - for a text a line or a table on stdin; masks as files; the mean of several "
          "runs",
      .flags = {kCheckpoint,
                {"--list", "FILE", "also the files and folders that its lines name; - is stdin"},
                {"--format", "csv|jsonl", "rows of a CSV (default), or JSON objects, one a line"},
                {"--top", "K", "the K likeliest classes instead of the probability of each"},
                {"--output", "FILE",
                 "write there instead of stdout; a folder where masks are predicted"},
                kSpreadsheet,
                {"--skip-bad", "", "samples that cannot be read are no error"}},
      .min_words = 1,
      .run = predict};
}

}  // namespace ddptrain
