// `predict RUN INPUT...`: a CSV of what each sample is called, its label and the probability of
// each class, or its value in a regression, in the order of the input.
#include <ATen/core/grad_mode.h>

#include <filesystem>
#include <memory>
#include <numeric>

#include "base/error.h"
#include "base/files/atomic_file.h"
#include "base/files/files.h"
#include "base/output/print.h"
#include "base/output/table_text.h"
#include "base/text.h"
#include "callbacks/count_line.h"
#include "checkpoint/checkpoint.h"
#include "cli/verb.h"
#include "data/loader/lengths.h"
#include "data/loader/loader.h"
#include "distributed/engine.h"
#include "jobs/predict/prediction_files.h"
#include "jobs/predict/prediction_rows.h"
#include "jobs/saved_run.h"
#include "jobs/start.h"
#include "recipe/layers/address.h"
#include "recipe/load/load.h"
#include "train/build/build.h"
#include "train/run/rank.h"
#include "train/run/state.h"
#include "train/step/tta.h"

namespace ddptrain {
namespace {

constexpr std::size_t kMostError = 2000;  // characters of a warning

struct PredictJob {
  Recipe recipe;
  Placement placement;
  std::string checkpoint;
  std::vector<std::string> paths;
  std::string output;  // empty: stdout
  bool skip_bad = false;
};

EpochPlan all_in_order(const Dataset& data, std::int64_t batch, const World& world) {
  EpochPlan plan;
  plan.order.resize(static_cast<std::size_t>(data.size(Split::valid)));
  std::iota(plan.order.begin(), plan.order.end(), 0);
  for (std::int64_t first = 0; first < data.size(Split::valid); first += batch) {
    if (first / batch % world.size != world.rank) continue;
    Micro micro;
    micro.positions.resize(
        static_cast<std::size_t>(std::min(batch, data.size(Split::valid) - first)));
    std::iota(micro.positions.begin(), micro.positions.end(), first);
    plan.micros.push_back(std::move(micro));
  }
  set_lengths(plan.micros, lengths_of(data, Split::valid, plan.order));
  return plan;
}

/// What a rank made of one batch.
struct Part {
  int signal = 0;  // that asks to stop
  std::vector<std::string> errors;
  std::string rows;
};

std::string packed(const Part& part) {
  std::string text = std::to_string(part.signal) + "\n" + std::to_string(part.errors.size()) + "\n";
  for (const auto& error : part.errors) text += error + "\n";
  return text + part.rows;
}

Part unpacked(const std::string& text) {
  std::size_t at = 0;
  const auto line = [&] {
    const auto end = text.find('\n', at);
    const auto found = text.substr(at, end - at);
    at = end + 1;
    return found;
  };
  Part part;
  part.signal = static_cast<int>(parse_integer(line()).value_or(0));
  part.errors.resize(static_cast<std::size_t>(parse_integer(line()).value_or(0)));
  for (auto& error : part.errors) error = line();
  part.rows = text.substr(at);
  return part;
}

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

/// With the loss that goes with the targets, where the recipe leaves it to them.
PredictJob settled(PredictJob job, const SavedData& saved) {
  settle_scores(job.recipe, saved.classes.empty() ? TargetKind::numbers : TargetKind::classes);
  return job;
}

bool writes_files(const PredictJob& job) { return dataset_of(job.recipe).has("predicts_files"); }

/// Empty: stdout.
std::string csv_of(const PredictJob& job) {
  if (!writes_files(job)) return job.output;
  make_folders(job.output);
  return (std::filesystem::path(job.output) / "predictions.csv").string();
}

class Prediction {
 public:
  Prediction(const PredictJob& job, const Checkpoint& checkpoint, World& world, const Hooks& hooks)
      : saved_(saved_data(checkpoint)),
        job_(settled(job, saved_)),
        world_(world),
        hooks_(hooks),
        inputs_(prediction_inputs(job_.recipe, saved_, job_.paths)),
        rows_(make_rows()) {
    if (world.rank == 0) destination_ = std::make_unique<Destination>(csv_of(job_));
  }

  int run(const Checkpoint& checkpoint) {
    for (const auto& input : inputs_)
      if (signal_ == 0) read(input, checkpoint);
    if (signal_ != 0) return 128 + signal_;
    if (world_.rank == 0) conclude();
    return bad_ > 0 && !job_.skip_bad ? static_cast<int>(Exit::data) : 0;
  }

 private:
  PredictionRows make_rows() const {
    auto loss = catalog<Loss>().build(
        *job_.recipe.loss.value, LossContext{static_cast<std::int64_t>(saved_.classes.size())});
    const auto& dataset = dataset_of(job_.recipe);
    PredictionColumns columns;
    // Rows of tables and texts of folders are not called by their files.
    columns.file =
        inputs_.size() > 1 && (dataset.has("gives_tables") ||
                               std::any_of(inputs_.begin(), inputs_.end(),
                                           [](const auto& input) { return bool(input.apart); }));
    columns.truth = std::any_of(inputs_.begin(), inputs_.end(),
                                [](const auto& input) { return bool(input.truth); });
    columns.error =
        !dataset.has("unlabelled") || dataset.has("file_each") || dataset.has("gives_tables");
    auto meaning = meaning_of(job_.recipe, *loss, saved_.classes);
    return {std::move(meaning), columns, std::move(loss)};
  }

  void read(const PredictionInput& input, const Checkpoint& checkpoint) {
    std::unique_ptr<Tolerant> data;
    try {
      data = std::make_unique<Tolerant>(input.open());
    } catch (const Error& error) {
      if (error.code() != Exit::data || !dataset_of(job_.recipe).has("file_each")) throw;
      if (!input.apart) return note_unreadable(input, error.what());
      for (const auto& each : input.apart())
        if (signal_ == 0) read(each, checkpoint);
      return;
    }
    if (!engine_) build(*data, checkpoint);
    score(input, *data);
  }

  void note_unreadable(const PredictionInput& input, const std::string& why) {
    take({{0, {one_line(why, kMostError)}, rows_.unreadable(input, why)}}, "path", nullptr);
    before_ = ++samples_;
  }

  void build(const Dataset& data, const Checkpoint& checkpoint) {
    auto facts = data.facts();
    facts.classes = saved_.classes;  // of images whose labels are unknown
    auto recipe = job_.recipe;
    recipe.parallel.mode = Mode::none;
    engine_ = build_engine(recipe, job_.placement, world_, facts);
    restore(checkpoint.model, engine_->model().state(), "the model");
  }

  void score(const PredictionInput& input, const Tolerant& data) {
    const auto batch = job_.recipe.eval.batch.value.value();
    auto plan = all_in_order(data, batch, world_);
    const auto own = plan.micros.size();
    if (job_.recipe.eval.tta) plan.micros = with_passes(plan.micros, job_.recipe.eval.tta->n);
    const auto spec = decode<DataSection>(job_.recipe.data.node()).loader;
    LoaderOptions options;
    options.split = Split::valid;
    options.workers = static_cast<int>(spec.workers.value.value_or(job_.placement.threads));
    options.prefetch = static_cast<int>(spec.prefetch);
    options.seed = seed_of_data(job_.recipe);
    const auto loader = build_loader(data, options, job_.placement, world_);
    loader->start(std::move(plan));
    const auto predicted = predicted_data(data);
    const auto all = (data.size(Split::valid) + batch - 1) / batch;
    for (std::int64_t round = 0; round * world_.size < all && signal_ == 0; ++round) {
      Part part;
      if (static_cast<std::size_t>(round) < own) part = next_part(input, predicted, *loader);
      if (hooks_.stop_requested) part.signal = hooks_.stop_requested().signal;
      if (hooks_.beat) hooks_.beat(round, "prediction");
      take(exchanged(part), data.name_kind(), data.prediction_form());
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

  Part next_part(const PredictionInput& input, const PredictedData& from, Loader& loader) {
    const at::NoGradGuard no_grad;
    const auto batch = loader.next();
    Part part;
    part.rows = rows_.rows(input, from, batch, output_of(from.data, batch, loader), part.errors);
    for (auto& error : part.errors) error = one_line(error, kMostError);
    return part;
  }

  /// Of the plain pass, or of all that eval.tta asks for.
  at::Tensor output_of(const Dataset& data, const Batch& batch, Loader& loader) {
    const auto& tta = job_.recipe.eval.tta;
    std::vector<at::Tensor> outputs{engine_->evaluate(batch)};
    if (!tta) return outputs.front().cpu();
    std::vector<Batch> batches{batch};
    for (std::int64_t pass = 1; pass <= tta->n; ++pass) {
      batches.push_back(loader.next());
      outputs.push_back(engine_->evaluate(batches.back()));
    }
    return combined(outputs, rows_.loss(), *tta, alignment(data, batches)).cpu();
  }

  std::vector<Part> exchanged(const Part& part) {
    if (world_.size == 1) return {part};
    std::vector<Part> parts;
    for (const auto& text : gather_text(*world_.control, packed(part)))
      parts.push_back(unpacked(text));
    return parts;
  }

  void take(const std::vector<Part>& parts, const std::string& name_kind,
            const PredictionForm* form) {
    for (const auto& part : parts) {
      if (part.signal != 0) signal_ = part.signal;
      bad_ += static_cast<std::int64_t>(part.errors.size());
      if (!destination_) continue;
      if (!begun_) destination_->write(rows_.header(name_kind, form));
      begun_ = true;
      for (const auto& error : part.errors) log::warning(error);
      destination_->write(part.rows);
    }
  }

  void conclude() {
    destination_->commit();
    line_.clear();
    const auto of = inputs_.size() == 1
                        ? inputs_[0].name
                        : plural(static_cast<std::int64_t>(inputs_.size()), "input");
    log::info("predicted " + plural(samples_ - bad_, "sample") + " of " + of + " in " +
              format_seconds(line_.seconds()) + (job_.output.empty() ? "" : ": " + job_.output));
    if (bad_ == 0) return;
    const auto text = plural(bad_, "sample") + " could not be read; the column 'error' says why";
    if (job_.skip_bad) return log::info(text);
    log::error(text + ", and '--skip-bad' makes that no error");
  }

  SavedData saved_;
  PredictJob job_;
  World& world_;
  const Hooks& hooks_;
  std::vector<PredictionInput> inputs_;
  PredictionRows rows_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Destination> destination_;  // of rank 0
  CountLine line_{"predicted", "samples"};
  std::int64_t samples_ = 0;
  std::int64_t before_ = 0;  // samples of earlier inputs
  std::int64_t bad_ = 0;
  bool begun_ = false;
  int signal_ = 0;
};

int predict_rank(const PredictJob& job, const Topology& topology, const Hooks& hooks) {
  prepare_process(job.recipe, job.placement);
  return in_world(job.recipe, job.placement, topology, [&](World& world) {
    if (hooks.beat) hooks.beat(0, "building");
    const auto checkpoint = load_checkpoint(job.checkpoint);
    return Prediction(job, checkpoint, world, hooks).run(checkpoint);
  });
}

/// Words after the run folder, apart. A word with '=' that names a file is one.
RecipeWords predict_words(const Arguments& arguments) {
  RecipeWords words;
  for (auto word = arguments.words.begin() + 1; word != arguments.words.end(); ++word) {
    const auto apart = split_words({*word});
    const bool is_file = apart.overrides.empty() || std::filesystem::exists(*word);
    (is_file ? words.files : words.overrides).push_back(*word);
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

int predict(const Arguments& arguments) {
  const auto words = predict_words(arguments);
  PredictJob job;
  job.paths = listed_inputs(words.files, arguments.value("--list"));
  auto run = open_run(arguments.words[0], meant(words.overrides),
                      arguments.value(kCheckpoint.name, "last"));
  require_checkpoint(run);
  if (!has_prefix(words.overrides, "parallel.")) {
    run.recipe.parallel.mode = Mode::none;
    run.recipe.parallel.devices = {};
  }
  run.recipe.eval.batch = Auto<std::int64_t>(run.recipe.eval.batch.value.value_or(64));
  with_places(run.tree, [&] { job.placement = place(run.recipe, {}); });
  job.recipe = resolved(run.recipe, job.placement);
  job.checkpoint = run.checkpoint;
  job.output = arguments.value("--output");
  if (writes_files(job) && job.output.empty())
    throw Error(Exit::recipe,
                "each prediction is a file: '--output FOLDER' says where they and predictions.csv "
                "are to be written");
  job.skip_bad =
      arguments.has("--skip-bad") || run.recipe.policy.on_bad_sample == OnBadSample::skip;
  return start_ranks(job.recipe, job.placement, {},
                     [&](const Topology& topology, const Hooks& hooks) {
                       return predict_rank(job, topology, hooks);
                     },
                     {arguments.level, {}, &run.tree});
}

}  // namespace

Verb predict_verb() {
  return {
      .name = "predict",
      .usage = "RUN_FOLDER INPUT... [key=value...]",
      .summary =
          "a CSV of label and probabilities, or values, for images, tables or texts: files, "
          "folders, lists of them; masks as files",
      .flags = {kCheckpoint,
                {"--list", "FILE", "also the files and folders that its lines name; - is stdin"},
                {"--output", "FILE",
                 "write there instead of stdout; a folder where masks are predicted"},
                {"--skip-bad", "", "samples that cannot be read are no error"}},
      .min_words = 1,
      .run = predict};
}

}  // namespace ddptrain
