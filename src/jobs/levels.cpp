// The levels of `validate` that need the engine.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <iterator>
#include <map>
#include <string>

#include "base/error.h"
#include "base/files/scratch_folder.h"
#include "base/json.h"
#include "base/secrets.h"
#include "base/text.h"
#include "cli/levels.h"
#include "config/decode.h"
#include "jobs/job.h"
#include "jobs/published.h"
#include "jobs/start.h"
#include "launch/in_child.h"
#include "recipe/eval_splits.h"
#include "recipe/layers/address.h"
#include "recipe/model_section.h"
#include "sources/classes.h"
#include "sources/fetch/source.h"
#include "sources/sampler.h"
#include "train/build/build.h"
#include "train/build/splits.h"
#include "train/results/expect.h"
#include "train/run/rehearsal.h"
#include "train/run/trial.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

/// Each shape as "2 x 3 x 32 x 32".
std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::vector<std::string> sizes;
  for (const auto size : shape) sizes.push_back(std::to_string(size));
  return join(sizes, " x ");
}

std::string shapes_text(const std::vector<std::vector<std::int64_t>>& shapes) {
  std::vector<std::string> texts;
  for (const auto& shape : shapes) texts.push_back(shape_text(shape));
  return join(texts, " and ");
}

class LevelChecker {
 public:
  LevelChecker(Loaded& loaded, Findings& findings) : loaded_(loaded), findings_(findings) {}

  void data() {
    section_ = "data";
    if (!is_provided(loaded_.recipe.data))
      throw Error(Exit::data, Option{"data.source"},
                  "the data are not there; 'ddptrain data get' fetches them");
    const auto& recipe = loaded_.recipe;
    weights();
    const auto data = build_data(recipe);
    std::int64_t read = 0;
    for (const auto split : {Split::train, Split::valid})
      read += read_samples(*data, split, "data");
    require_provided_splits(recipe);
    const auto classes = data->facts().class_count();
    if (classes == 1) warn_of_one_class(data->facts().classes[0]);
    report(fmt::format(
        "data: {}, {} held out{}; {} read", plural(data->size(Split::train), "training sample"),
        data->size(Split::valid),
        classes > 0 ? fmt::format(", {}{}", classes, classes == 1 ? " class" : " classes") : "",
        plural(read, "sample")));
    for (auto& section : split_sections(recipe)) split(recipe, *data, section);
    const auto devices = written_devices(loaded_.recipe.parallel).value_or(1);
    const auto batch = plan_batch(loaded_.recipe.batch, devices);
    const auto samples = std::ssize(build_sampler(recipe, *data)->order(0));
    require_full_batch(steps_per_epoch(loaded_.recipe, batch, samples), samples, batch.global);
    check_batches(loaded_.recipe, batch, samples);
  }

  /// Samples that are scored too.
  void split(const Recipe& recipe, const Dataset& data, SplitSection& section) {
    const auto split = build_split(recipe, data, section, {});
    const auto trained = trained_text(*split, section, data, recipe.data);
    if (!trained.empty()) warn(section.path, trained);
    const auto read = read_samples(*split, Split::valid, section.path);
    report(fmt::format("{}: {}; {} read", section.path, plural(split->size(Split::valid), "sample"),
                       plural(read, "sample")));
  }

  /// What the model starts from is there.
  void weights() const {
    auto model = loaded_.recipe.model;
    settle_weights(model, Fetching::never);
    const auto weights = decode<ModelSection>(model.node()).weights;
    if (weights && !fs::exists(weights->file))
      throw Error(Exit::data, Option{"model.weights"}, "there is no '{}'", weights->file);
  }

  void warn_of_one_class(const std::string& name) {
    findings_.problems.push_back({Severity::warning, "one-class", place_of(loaded_.tree, "data"),
                                  "data", one_class_text(name)});
  }

  void model() {
    section_ = "model";
    const auto trial = try_model(loaded_.recipe);
    if (!std::isfinite(trial.loss))
      throw Error(Exit::non_finite, "the loss of the first samples is not finite");
    const auto& facts = trial.facts;
    report(
        fmt::format("model: {} to {}, targets {}, loss {}; {} parameters, {} of weights, gradients "
                    "and optimizer, {} of activations a sample",
                    shapes_text(trial.inputs), shape_text(trial.output), shapes_text(trial.targets),
                    short_metric(trial.loss), facts.parameters,
                    format_bytes(facts.weight_bytes + facts.gradient_bytes + facts.optimizer_bytes +
                                 facts.average_bytes),
                    format_bytes(facts.activation_bytes)));
  }

  void step() {
    section_ = "parallel";
    const ScratchFolder folder;
    const auto outer = topology_from_environment();
    auto job = make_job(loaded_.recipe, loaded_.tree, outer);
    job.folder = folder.path();
    const auto rank_main = [&](const Topology& topology, const Hooks& hooks) {
      rehearse(job, topology, hooks);
      return 0;
    };
    const int code = start_ranks(job.recipe, job.placement, outer, rank_main,
                                 {log::Level::quiet, folder.path()});
    if (code != 0)
      throw Error(static_cast<Exit>(code), "the step failed; the rank's error is above");
    report("step: " + to_text(job.placement.batch) + " on " +
           (job.placement.on_cpu() ? "the CPU" : device_name(job.placement)) +
           "; one step, one evaluation batch, a checkpoint written and read");
  }

  /// The error as a problem of the recipe: at its option, else at the section that was checked.
  void add_error(const Error& error) {
    Problem problem{Severity::error, section_ + "-level", error.place(), error.option(),
                    without_secrets(error.message())};
    if (const auto place = place_of(loaded_.tree, error.option()); place.known())
      problem.place = place;
    if (!problem.place.known()) problem.place = place_of(loaded_.tree, section_);
    if (!problem.place.known()) problem.place = loaded_.tree.place;
    findings_.problems.push_back(problem);
    findings_.code = error.code();
  }

 private:
  void report(const std::string& line) { findings_.reports.push_back(line); }

  void warn(const std::string& section, const std::string& message) {
    findings_.problems.push_back(
        {Severity::warning, "data-level", place_of(loaded_.tree, section), section, message});
  }

  /// The first sample of every class, or where samples have none, the first, one in the middle and
  /// the last.
  std::int64_t read_samples(const Dataset& data, Split split, const std::string& section) {
    const auto size = data.size(split);
    std::map<std::int64_t, std::int64_t> first;
    for (std::int64_t i = 0; i < size; ++i) first.emplace(data.label(split, i), i);
    const auto& classes = data.facts().classes;
    for (std::size_t i = 0; i < classes.size() && !first.contains(-1); ++i)
      if (!first.contains(static_cast<std::int64_t>(i)))
        warn(section, fmt::format("class '{}' has no {} sample", classes[i],
                                  split == Split::train ? "training" : "held-out"));
    if (first.contains(-1) && size > 0) first = {{0, 0}, {1, size / 2}, {2, size - 1}};
    for (const auto& [label, index] : first) {
      auto batch = data.allocate_length(split, 1, data.length(split, index));
      if (!data.load(split, index, {}, batch, 0))
        warn(section, "'" + data.sample_name(split, index) +
                          "' cannot be read; a run leaves it out (policy.on_bad_sample: skip)");
    }
    return static_cast<std::int64_t>(first.size());
  }

  Loaded& loaded_;
  Findings& findings_;
  std::string section_;
};

std::string to_text(const Findings& findings) {
  auto problems = Json::array();
  for (const auto& p : findings.problems)
    problems.push_back({static_cast<int>(p.severity), p.rule, p.place.file, p.place.line,
                        p.place.column, p.place.width, p.path, p.message});
  return lossy_json_text(Json{{"problems", problems},
                              {"code", static_cast<int>(findings.code)},
                              {"reports", findings.reports}});
}

Findings findings_from(const std::string& text) {
  const auto json = parse_json(text);
  Findings findings;
  for (const auto& p : json.at("problems"))
    findings.problems.push_back(
        {static_cast<Severity>(p[0].get<int>()), p[1], {p[2], p[3], p[4], p[5]}, p[6], p[7]});
  findings.code = static_cast<Exit>(json.at("code").get<int>());
  findings.reports = json.at("reports").get<std::vector<std::string>>();
  return findings;
}

/// What `check` finds in a process of its own: it may touch torch, after which no rank could be
/// forked here.
Findings check_in_child(Loaded& loaded, const std::function<void(LevelChecker&)>& check) {
  return findings_from(in_child([&] {
    Findings found;
    LevelChecker checker(loaded, found);
    try {
      check(checker);
    } catch (const Error& error) {
      checker.add_error(error);
    }
    return to_text(found);
  }));
}

}  // namespace

Findings check_level(Loaded& loaded, Level level) {
  auto findings = check_in_child(loaded, [&](LevelChecker& checker) {
    checker.data();
    if (level >= Level::model) checker.model();
  });
  if (level < Level::step || findings.code != Exit::done) return findings;
  auto step = check_in_child(loaded, [](LevelChecker& checker) { checker.step(); });
  step.problems.insert(step.problems.begin(), findings.problems.begin(), findings.problems.end());
  step.reports.insert(step.reports.begin(), findings.reports.begin(), findings.reports.end());
  return step;
}

}  // namespace ddptrain
