#include "jobs/predict/prediction.h"

#include <ATen/core/grad_mode.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "base/error.h"
#include "base/files/atomic_file.h"
#include "base/files/files.h"
#include "base/output/print.h"
#include "base/output/table_text.h"
#include "base/text.h"
#include "callbacks/count_line.h"
#include "distributed/group.h"
#include "distributed/world.h"
#include "jobs/line_stream.h"
#include "jobs/predict/given_lines.h"
#include "jobs/predict/prediction_files.h"
#include "jobs/predict/prediction_part.h"
#include "jobs/predict/prediction_rows.h"
#include "recipe/targets.h"
#include "train/build/build.h"
#include "train/catalogs.h"
#include "train/step/tta.h"

namespace ddptrain {
namespace {

constexpr std::size_t kMostError = 2000;  // characters of a warning

/// Where rows go: a file that appears when it is whole, or stdout as they come.
class Destination {
 public:
  explicit Destination(const std::string& path) {
    if (!path.empty()) file_ = std::make_unique<AtomicFile>(path);
  }
  void write(const std::string& text) {
    if (file_) return file_->write(text);
    print_exact(text);
    flush_stdout();  // without a reader, the next round ends (launch/signals.h)
  }
  void commit() {
    if (file_) file_->commit();
  }

 private:
  std::unique_ptr<AtomicFile> file_;
};

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
std::vector<SharedInput> transposed(const std::vector<std::vector<PredictionInput>>& of_members) {
  std::vector<SharedInput> inputs(of_members.front().size());
  for (const auto& own : of_members) {
    if (own.size() != inputs.size())
      throw Error(Exit::data,
                  "the runs do not read the same inputs: one makes {} of them, another {}",
                  plural(static_cast<std::int64_t>(inputs.size()), "input"), own.size());
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
    if (job_.lines) read_lines();
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
      const auto& own = *members.back();
      const auto& first = *members.front();
      if (own.saved().classes != first.saved().classes)
        refuse(each, "the classes are others, or in another order");
      if (targets_of(own.recipe()) != targets_of(first.recipe()))
        refuse(each, "the targets are others, or in another order");
      if (own.loss().activation().kind != first.loss().activation().kind)
        refuse(each, "the outputs are of another kind, by the loss");
    }
    return members;
  }

  [[noreturn]] static void refuse(const PredictorJob& member, const std::string& why) {
    throw Error(Exit::data, "the runs do not predict the same: of '{}' {}", member.checkpoint, why);
  }

  /// The kind of what is predicted, and the columns that name it.
  static std::pair<std::optional<TargetKind>, std::vector<std::string>> targets_of(
      const Recipe& recipe) {
    return {written_target(recipe, all_catalogs()), listed_numbers(recipe, all_catalogs())};
  }

  std::vector<SharedInput> make_inputs() const {
    std::vector<std::vector<PredictionInput>> of_members;
    if (job_.lines) return {};
    for (const auto& member : members_)
      of_members.push_back(member->inputs(job_.paths, job_.stdin_file));
    return transposed(of_members);
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
                               any_input([](const auto& input) { return bool(input.one_by_one); }));
    columns.truth = any_input([](const auto& input) { return bool(input.truth); });
    columns.error = job_.lines || !dataset().has("unlabeled") || dataset().has("file_each") ||
                    dataset().has("gives_tables");
    columns.top = job_.top;
    columns.reader = job_.reader;
    return columns;
  }

  /// Answers lines as they come.
  void read_lines() {
    std::vector<GivenLines> given;
    for (const auto& member : members_) given.emplace_back(member->recipe(), member->saved());
    if (::isatty(STDIN_FILENO)) log::info("reading texts, one a line; Ctrl-D ends");
    begin({kLineName, {}});
    LineStream stream(STDIN_FILENO);
    while (signal_ == 0) {
      const auto lines = std::make_shared<const NumberedLines>(stream.next([&] {
        signal_ = asked_signal();
        return signal_ != 0;
      }));
      if (lines->texts.empty()) return;
      SharedInput input;
      for (const auto& texts : given) input.push_back(texts.input(lines));
      read(input);
    }
  }

  int asked_signal() const { return hooks_.stop_requested ? hooks_.stop_requested().signal : 0; }

  void read(const SharedInput& input) {
    std::vector<std::shared_ptr<const SkippingDataset>> data;
    try {
      for (const auto& own : input) data.push_back(std::make_shared<SkippingDataset>(own.open()));
    } catch (const Error& error) {
      if (error.code() != Exit::data || !dataset().has("file_each")) throw;
      if (!input.front().one_by_one) return note_unreadable(input.front(), error.what());
      std::vector<std::vector<PredictionInput>> singles;
      for (const auto& own : input) singles.push_back(own.one_by_one());
      for (const auto& each : transposed(singles))
        if (signal_ == 0) read(each);
      return;
    }
    score(input.front(), data);
  }

  void note_unreadable(const PredictionInput& input, const std::string& why) {
    write_parts({{0, {one_line(why, kMostError)}, rows_.unreadable(input, why)}}, {});
    before_ = ++samples_;
  }

  void score(const PredictionInput& input,
             const std::vector<std::shared_ptr<const SkippingDataset>>& of_members) {
    const auto& data = *of_members.front();
    const auto batch = members_.front()->recipe().eval.batch.value.value();
    for (std::size_t i = 0; i < members_.size(); ++i) members_[i]->start(of_members[i], batch);
    const auto predicted = predicted_data(data);
    const auto all = (data.size(Split::valid) + batch - 1) / batch;
    for (std::int64_t round = 0; round * world_.size < all && signal_ == 0; ++round) {
      PredictionPart part;
      if (round < members_.front()->batches()) part = next_part(input, predicted);
      part.signal = asked_signal();
      if (hooks_.beat) hooks_.beat(round, "prediction");
      write_parts(exchanged(part), titles_of(data));
      samples_ = std::min(samples_ + batch * world_.size, before_ + data.size(Split::valid));
      if (destination_ && !job_.lines) line_.show(samples_, before_ + data.size(Split::valid));
    }
    before_ = samples_;
  }

  PredictedData predicted_data(const SkippingDataset& data) const {
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
    for (std::size_t i = 1; i < outputs.size(); ++i)
      if (outputs[i].sizes() != outputs.front().sizes())
        refuse(job_.members[i], "the outputs have another shape");
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

  void begin(const PredictionTitles& titles) {
    if (!begun_) destination_->write(rows_.header(titles));
    begun_ = true;
  }

  void write_parts(const std::vector<PredictionPart>& parts, const PredictionTitles& titles) {
    for (const auto& part : parts) {
      if (part.signal != 0) signal_ = part.signal;
      bad_ += static_cast<std::int64_t>(part.errors.size());
      if (!destination_) continue;
      begin(titles);
      for (const auto& error : part.errors) log::warning(error);
      destination_->write(part.rows);
    }
  }

  void conclude() {
    destination_->commit();
    line_.clear();
    const auto of = job_.lines            ? std::string("stdin")
                    : inputs_.size() == 1 ? inputs_[0].front().name
                                          : plural(std::ssize(inputs_), "input");
    log::info("predicted {} of {} in {}{}", plural(samples_ - bad_, "sample"), of,
              format_seconds(line_.seconds()), job_.output.empty() ? "" : ": " + job_.output);
    if (bad_ == 0) return;
    const auto text = plural(bad_, "sample") + " could not be read; the column 'error' says why";
    if (job_.skip_bad) return log::info(text);
    log::error("{}, and '--skip-bad' makes that no error", text);
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

}  // namespace

bool writes_files(const PredictJob& job) {
  return dataset_of(job.members.front().recipe).has("predicts_files");
}

int predict_all(const PredictJob& job, World& world, const Hooks& hooks) {
  return Prediction(job, world, hooks).run();
}

}  // namespace ddptrain
