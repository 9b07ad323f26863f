// `predict RUN... INPUT...`: what each sample is called, its label and the probability of each
// class, or its value in a regression, in the order of the input; of several runs their mean.
#include <ATen/core/grad_mode.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "base/error.h"
#include "base/files/atomic_file.h"
#include "base/files/files.h"
#include "base/output/print.h"
#include "base/output/table_text.h"
#include "base/text.h"
#include "callbacks/count_line.h"
#include "cli/verb.h"
#include "jobs/predict/prediction_files.h"
#include "jobs/predict/prediction_part.h"
#include "jobs/predict/prediction_rows.h"
#include "jobs/predict/predictor.h"
#include "jobs/saved_run.h"
#include "jobs/start.h"
#include "recipe/layers/address.h"
#include "train/build/build.h"
#include "train/run/rank.h"
#include "train/step/tta.h"

namespace ddptrain {
namespace {

constexpr std::size_t kMostError = 2000;  // characters of a warning

struct PredictJob {
  std::vector<PredictorJob> members;  // the first one's recipe is that of the process
  Placement placement;
  std::vector<std::string> paths;
  std::string output;  // empty: stdout
  PredictionFormat format = PredictionFormat::csv;
  std::int64_t top = 0;
  bool skip_bad = false;
};

/// Where rows go: a file that appears when it is whole, or stdout as they come.
class Destination {
 public:
  explicit Destination(const std::string& path) {
    if (!path.empty()) file_ = std::make_unique<AtomicFile>(path);
  }
  void write(const std::string& text) {
    if (file_) return file_->write(text);
    print_exact(text);
    flush_stdout();  // where nobody reads it, the next round ends (launch/signals.h)
  }
  void commit() {
    if (file_) file_->commit();
  }

 private:
  std::unique_ptr<AtomicFile> file_;
};

bool writes_files(const PredictJob& job) {
  return dataset_of(job.members.front().recipe).has("predicts_files");
}

/// Empty: stdout.
std::string table_of(const PredictJob& job) {
  if (!writes_files(job)) return job.output;
  make_folders(job.output);
  const std::string name = "predictions.";
  const auto ending = names(job.format)[static_cast<std::size_t>(job.format)];
  return (std::filesystem::path(job.output) / (name + std::string(ending))).string();
}

/// An input as each member reads it.
using SharedInput = std::vector<PredictionInput>;

/// From a list for each member to a list for each input.
std::vector<SharedInput> turned(const std::vector<std::vector<PredictionInput>>& of_members) {
  std::vector<SharedInput> inputs(of_members.front().size());
  for (const auto& own : of_members) {
    if (own.size() != inputs.size())
      throw Error(Exit::data, "the runs do not read the same inputs: one makes " +
                                  plural(static_cast<std::int64_t>(inputs.size()), "input") +
                                  " of them, another " + std::to_string(own.size()));
    for (std::size_t i = 0; i < own.size(); ++i) inputs[i].push_back(own[i]);
  }
  return inputs;
}

class Prediction {
 public:
  Prediction(const PredictJob& job, World& world, const Hooks& hooks)
      : job_(job),
        world_(world),
        hooks_(hooks),
        members_(load_members()),
        inputs_(make_inputs()),
        rows_(members_.front()->loss(), {job.format, make_columns()}) {
    if (world.rank == 0) destination_ = std::make_unique<Destination>(table_of(job_));
  }

  int run() {
    for (const auto& input : inputs_)
      if (signal_ == 0) read(input);
    if (signal_ != 0) return 128 + signal_;
    if (world_.rank == 0) conclude();
    return bad_ > 0 && !job_.skip_bad ? static_cast<int>(Exit::data) : 0;
  }

 private:
  using Members = std::vector<std::unique_ptr<Predictor>>;

  Members load_members() const {
    Members members;
    for (const auto& each : job_.members) {
      members.push_back(std::make_unique<Predictor>(each, job_.placement, world_));
      if (members.back()->saved().classes != members.front()->saved().classes)
        throw Error(Exit::data, "the runs do not predict the same: the classes of '" +
                                    each.checkpoint + "' are others, or in another order");
    }
    return members;
  }

  std::vector<SharedInput> make_inputs() const {
    std::vector<std::vector<PredictionInput>> of_members;
    for (const auto& member : members_) of_members.push_back(member->inputs(job_.paths));
    return turned(of_members);
  }

  const EntryBase& dataset() const { return dataset_of(members_.front()->recipe()); }

  template <class Ask>
  bool any_input(const Ask& ask) const {
    return std::any_of(inputs_.begin(), inputs_.end(),
                       [&](const auto& input) { return bool(ask(input.front())); });
  }

  PredictionColumns make_columns() const {
    const auto& first = *members_.front();
    auto columns = columns_of(first.recipe(), first.loss(), first.saved().classes);
    // Rows of tables and texts of folders are not called by their files.
    columns.file =
        inputs_.size() > 1 && (dataset().has("gives_tables") ||
                               any_input([](const auto& input) { return bool(input.apart); }));
    columns.truth = any_input([](const auto& input) { return bool(input.truth); });
    columns.error =
        !dataset().has("unlabelled") || dataset().has("file_each") || dataset().has("gives_tables");
    columns.top = job_.top;
    return columns;
  }

  void read(const SharedInput& input) {
    std::vector<std::shared_ptr<const Tolerant>> data;
    try {
      for (const auto& own : input) data.push_back(std::make_shared<Tolerant>(own.open()));
    } catch (const Error& error) {
      if (error.code() != Exit::data || !dataset().has("file_each")) throw;
      if (!input.front().apart) return note_unreadable(input.front(), error.what());
      std::vector<std::vector<PredictionInput>> apart;
      for (const auto& own : input) apart.push_back(own.apart());
      for (const auto& each : turned(apart))
        if (signal_ == 0) read(each);
      return;
    }
    score(input.front(), data);
  }

  void note_unreadable(const PredictionInput& input, const std::string& why) {
    take({{0, {one_line(why, kMostError)}, rows_.unreadable(input, why)}}, {});
    before_ = ++samples_;
  }

  void score(const PredictionInput& input,
             const std::vector<std::shared_ptr<const Tolerant>>& of_members) {
    const auto& data = *of_members.front();
    const auto batch = members_.front()->recipe().eval.batch.value.value();
    for (std::size_t i = 0; i < members_.size(); ++i) members_[i]->start(of_members[i], batch);
    const auto predicted = predicted_data(data);
    const auto all = (data.size(Split::valid) + batch - 1) / batch;
    for (std::int64_t round = 0; round * world_.size < all && signal_ == 0; ++round) {
      PredictionPart part;
      if (round < members_.front()->batches()) part = next_part(input, predicted);
      if (hooks_.stop_requested) part.signal = hooks_.stop_requested().signal;
      if (hooks_.beat) hooks_.beat(round, "prediction");
      take(exchanged(part), titles_of(data));
      samples_ = std::min(samples_ + batch * world_.size, before_ + data.size(Split::valid));
      if (destination_) line_.show(samples_, before_ + data.size(Split::valid));
    }
    before_ = samples_;
  }

  PredictedData predicted_data(const Tolerant& data) const {
    if (!writes_files(job_)) return {data, {}, {}};
    std::vector<std::string> paths;
    for (std::int64_t i = 0; i < data.size(Split::valid); ++i)
      paths.push_back(data.sample_name(Split::valid, i));
    return {data, job_.output, prediction_files(paths)};
  }

  PredictionPart next_part(const PredictionInput& input, const PredictedData& from) {
    const at::NoGradGuard no_grad;
    std::vector<at::Tensor> outputs(members_.size());
    const auto batch = members_.front()->next(outputs.front());
    for (std::size_t i = 1; i < members_.size(); ++i) members_[i]->next(outputs[i]);
    PredictionPart part;
    part.rows = rows_.rows(input, from, batch, mean(outputs), part.errors);
    for (auto& error : part.errors) error = one_line(error, kMostError);
    return part;
  }

  /// An output whose predictions are the mean of the members'.
  at::Tensor mean(const std::vector<at::Tensor>& outputs) const {
    if (outputs.size() == 1) return outputs.front();
    TtaSpec all;
    all.n = static_cast<std::int64_t>(outputs.size()) - 1;
    all.beta = 1.0 / static_cast<double>(outputs.size());
    return combined(outputs, members_.front()->loss(), all);
  }

  std::vector<PredictionPart> exchanged(const PredictionPart& part) {
    if (world_.size == 1) return {part};
    std::vector<PredictionPart> parts;
    for (const auto& text : gather_text(*world_.control, packed(part)))
      parts.push_back(unpacked(text));
    return parts;
  }

  void take(const std::vector<PredictionPart>& parts, const PredictionTitles& titles) {
    for (const auto& part : parts) {
      if (part.signal != 0) signal_ = part.signal;
      bad_ += static_cast<std::int64_t>(part.errors.size());
      if (!destination_) continue;
      if (!begun_) destination_->write(rows_.header(titles));
      begun_ = true;
      for (const auto& error : part.errors) log::warning(error);
      destination_->write(part.rows);
    }
  }

  void conclude() {
    destination_->commit();
    line_.clear();
    const auto of = inputs_.size() == 1
                        ? inputs_[0].front().name
                        : plural(static_cast<std::int64_t>(inputs_.size()), "input");
    log::info("predicted " + plural(samples_ - bad_, "sample") + " of " + of + " in " +
              format_seconds(line_.seconds()) + (job_.output.empty() ? "" : ": " + job_.output));
    if (bad_ == 0) return;
    const auto text = plural(bad_, "sample") + " could not be read; the column 'error' says why";
    if (job_.skip_bad) return log::info(text);
    log::error(text + ", and '--skip-bad' makes that no error");
  }

  const PredictJob& job_;
  World& world_;
  const Hooks& hooks_;
  Members members_;
  std::vector<SharedInput> inputs_;
  PredictionRows rows_;
  std::unique_ptr<Destination> destination_;  // of rank 0
  CountLine line_{"predicted", "samples"};
  std::int64_t samples_ = 0;
  std::int64_t before_ = 0;  // samples of earlier inputs
  std::int64_t bad_ = 0;
  bool begun_ = false;
  int signal_ = 0;
};

int predict_rank(const PredictJob& job, const Topology& topology, const Hooks& hooks) {
  const auto& recipe = job.members.front().recipe;
  prepare_process(recipe, job.placement);
  return in_world(recipe, job.placement, topology, [&](World& world) {
    if (hooks.beat) hooks.beat(0, "building");
    return Prediction(job, world, hooks).run();
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
    const auto apart = split_words({*word});
    if (!apart.overrides.empty() && !std::filesystem::exists(*word))
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
  overrides.insert(overrides.begin(), {"~batch", "batch.per_device=1"});
  return overrides;
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
    throw Error(Exit::recipe, "--top: '" + given + "' is no number of classes from 1 upwards");
  return *count;
}

int predict(const Arguments& arguments) {
  const auto words = predict_words(arguments);
  PredictJob job;
  job.format = format_of(arguments);
  job.top = top_of(arguments);
  job.paths = listed_inputs(words.inputs, arguments.value("--list"));
  std::optional<SavedRun> first;
  for (const auto& folder : words.runs) {
    auto run = open_member(folder, words, arguments.value(kCheckpoint.name, "last"));
    if (!first) with_places(run.tree, [&] { job.placement = place(run.recipe, {}); });
    job.members.push_back({resolved(run.recipe, job.placement), run.checkpoint});
    if (!first) first = std::move(run);
  }
  job.output = arguments.value("--output");
  if (writes_files(job) && job.output.empty())
    throw Error(Exit::recipe,
                "each prediction is a file: '--output FOLDER' says where they and predictions.csv "
                "are to be written");
  job.skip_bad =
      arguments.has("--skip-bad") || first->recipe.policy.on_bad_sample == OnBadSample::skip;
  return start_ranks(job.members.front().recipe, job.placement, {},
                     [&](const Topology& topology, const Hooks& hooks) {
                       return predict_rank(job, topology, hooks);
                     },
                     {arguments.level, {}, &first->tree});
}

}  // namespace

Verb predict_verb() {
  return {
      .name = "predict",
      .usage = "RUN_FOLDER... INPUT... [key=value...]",
      .summary =
          "label and probabilities, or values, for images, tables or texts: files, folders, lists "
          "of "
          "them; masks as files; the mean of several runs",
      .flags = {kCheckpoint,
                {"--list", "FILE", "also the files and folders that its lines name; - is stdin"},
                {"--format", "csv|jsonl", "rows of a CSV (default), or JSON objects, one a line"},
                {"--top", "K", "the K likeliest classes instead of the probability of each"},
                {"--output", "FILE",
                 "write there instead of stdout; a folder where masks are predicted"},
                {"--skip-bad", "", "samples that cannot be read are no error"}},
      .min_words = 1,
      .run = predict};
}

}  // namespace ddptrain
