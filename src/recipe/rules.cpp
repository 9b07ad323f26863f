// Rules between parts of a recipe. Each reads values and traits, never classes.
#include <algorithm>
#include <optional>

#include "base/error.h"
#include "config/complete.h"
#include "config/decode.h"
#include "config/encode.h"
#include "config/shape.h"
#include "recipe/batch_plan.h"
#include "recipe/load.h"

namespace ddptrain {
namespace {

/// The place of an option, or of what holds it.
Place nearest_place(const Node& tree, std::string path) {
  while (!path.empty()) {
    if (auto place = place_of(tree, path); place.known()) return place;
    const auto dot = path.rfind('.');
    path = dot == std::string::npos ? "" : path.substr(0, dot);
  }
  return tree.place;
}

struct Rules {
  const Recipe& recipe;
  const Node& tree;
  const Catalogs& catalogs;
  Problems& problems;

  void report(Severity severity, const std::string& rule, const std::string& path,
              const std::string& message) const {
    problems.push_back({severity, rule, nearest_place(tree, path), path, message});
  }
  void error(const std::string& rule, const std::string& path, const std::string& message) const {
    report(Severity::error, rule, path, message);
  }
  void warn(const std::string& path, const std::string& message) const {
    report(Severity::warning, "no-effect", path, message);
  }

  const EntryBase* entry(const ChoiceBase& choice) const {
    const auto catalog = catalogs.find(choice.kind());
    return catalog == catalogs.end() ? nullptr : catalog->second->find(choice.type());
  }
};

/// How many devices the recipe itself says; nothing when that depends on the machine.
std::optional<std::int64_t> written_devices(const Recipe& recipe) {
  const auto& parallel = recipe.parallel;
  if (parallel.mode == Mode::none) return 1;
  if (!parallel.devices.ids.empty()) return static_cast<std::int64_t>(parallel.devices.ids.size());
  return parallel.devices.count.value;
}

void batch_is_cut_evenly(const Rules& rules) {
  // Without a number of devices one device still shows what no machine can cut.
  const auto devices = written_devices(rules.recipe);
  if (!devices && rules.recipe.batch.global && !rules.recipe.batch.per_device) return;
  const auto found = check_batch(rules.recipe, rules.tree, devices.value_or(1));
  rules.problems.insert(rules.problems.end(), found.begin(), found.end());
}

void devices_fit_the_mode(const Rules& rules) {
  const auto& parallel = rules.recipe.parallel;
  const bool several =
      parallel.devices.ids.size() > 1 || parallel.devices.count.value.value_or(1) > 1;
  if (parallel.mode == Mode::none && several)
    rules.error("devices", "parallel.devices",
                "mode none runs on one device; write 'parallel.mode: ddp' (or dp)");
  if (parallel.device == DeviceKind::cpu && !parallel.devices.ids.empty())
    rules.error("devices", "parallel.devices",
                "a list names CUDA devices; on the CPU write how many, as in 'devices: 2'");
  auto ids = parallel.devices.ids;
  std::sort(ids.begin(), ids.end());
  if (std::adjacent_find(ids.begin(), ids.end()) != ids.end())
    rules.error("devices", "parallel.devices", "a device is listed twice");
}

/// A schedule that the recipe writes, and how long it goes on.
struct WrittenSchedule {
  std::string path;
  const Choice<Schedule>* choice;
  Duration length;
  std::string length_path;
};

std::vector<WrittenSchedule> written_schedules(const Recipe& recipe) {
  const auto& train = recipe.train;
  if (train.fine_tune) return {};
  if (train.stages.empty())
    return {{"schedule", &recipe.schedule, train.duration, "train.duration"}};
  std::vector<WrittenSchedule> all;
  for (std::size_t i = 0; i < train.stages.size(); ++i) {
    const auto& stage = train.stages[i];
    const auto path = "train.stages[" + std::to_string(i) + "]";
    all.push_back({stage.schedule ? path + ".schedule" : "schedule",
                   stage.schedule ? &*stage.schedule : &recipe.schedule, stage.duration,
                   path + ".duration"});
  }
  return all;
}

void momentum_is_there_to_cycle(const Rules& rules) {
  const auto* optimizer = rules.entry(rules.recipe.optimizer);
  if (!optimizer || optimizer->has("momentum")) return;
  for (const auto& [path, choice, length, length_path] : written_schedules(rules.recipe)) {
    const auto* schedule = rules.entry(*choice);
    if (schedule && schedule->has("momentum"))
      rules.warn(
          path, "'" + schedule->name + "' cycles momentum, and '" + optimizer->name + "' has none");
  }
}

void sync_bn_has_batch_norm(const Rules& rules) {
  if (!rules.recipe.parallel.sync_bn) return;
  const auto* model = rules.entry(rules.recipe.model);
  if (model && !model->has("batch_norm"))
    rules.error("no-effect", "parallel.sync_bn", "'" + model->name + "' has no batch norm");
  else if (rules.recipe.parallel.mode == Mode::none)
    rules.warn("parallel.sync_bn", "mode none has one device: there is nothing to synchronise");
}

/// Whether a is longer than b, where their units can be compared.
bool is_longer(const Duration& a, const Duration& b) {
  return a.unit == b.unit && a.count > b.count;
}

void warmup_fits_the_run(const Rules& rules) {
  for (const auto& [path, choice, run, run_path] : written_schedules(rules.recipe)) {
    const auto* warmup = choice->node().find("warmup");
    if (!warmup || warmup->is_null()) continue;
    const Node* value = warmup->is_map() ? warmup->find("duration") : warmup;
    Duration length;
    std::string why;
    if (!value || !parse(*value, length, why)) continue;
    if (is_longer(length, run))
      rules.error("warmup", path + ".warmup",
                  "'" + to_text(length) + "' of warm-up is longer than the " +
                      (run_path == "train.duration" ? "run" : "stage") + " of '" + to_text(run) +
                      "'");
  }
}

// A schedule is a function of the step among all steps: a run measured in seconds does not know how
// many there will be.
void length_of_the_run_is_known(const Rules& rules) {
  for (const auto& [path, choice, run, run_path] : written_schedules(rules.recipe)) {
    const bool whole = run_path == "train.duration";
    if (run.unit == Duration::Unit::share)
      rules.error("duration", run_path,
                  whole ? "a run cannot last a share of itself; write for example '5 epochs'"
                        : "a stage has no share of a run that its stages make up; write for "
                          "example '5 epochs'");
    if (run.unit != Duration::Unit::seconds) continue;
    if (!whole)
      rules.error("duration", run_path,
                  "a stage begins after a number of steps; write epochs, steps or samples");
    else if (choice->type() != "constant")
      rules.error("duration", run_path,
                  "schedule '" + choice->type() +
                      "' needs the number of steps; write epochs, steps or samples, or "
                      "'schedule: constant'");
  }
}

/// Whether a component's option is what it is when nobody writes it.
bool is_default(const Rules& rules, const ChoiceBase& choice, const std::string& key) {
  const auto* written = choice.node().find(key);
  const auto* entry = rules.entry(choice);
  if (!written || !entry) return true;
  const auto shape = entry->shape();
  for (const auto& option : shape.children)
    if (option.key == key)
      return to_yaml(complete(*written, option, rules.catalogs)) ==
             to_yaml(complete(option.initial, option, rules.catalogs));
  return true;
}

// A resolved recipe writes every default, so only other values count as asked for.
void the_run_is_said_once(const Rules& rules) {
  const auto& train = rules.recipe.train;
  if (train.fine_tune && !train.stages.empty())
    return rules.error("stages", "train.fine_tune",
                       "it is two stages by itself; write one or the other");
  if (!train.fine_tune && train.stages.empty()) return;
  const std::string by = train.fine_tune ? "'train.fine_tune'" : "'train.stages'";
  if (train.duration != TrainSpec{}.duration)
    rules.warn("train.duration", by + " says how long the run lasts");
  if (train.freeze.freeze_to != 0) rules.warn("train.freeze_to", by + " says what is frozen");
  if (train.fine_tune && rules.recipe.schedule.type() != "constant")
    rules.warn("schedule", by + " has schedules of its own");
  if (train.fine_tune && !is_default(rules, rules.recipe.optimizer, "lr"))
    rules.warn("optimizer.lr", "'train.fine_tune.base_lr' says what the rates are");
}

void a_rate_is_said_once(const Rules& rules) {
  const auto check = [&](const LearningRate& lr, const std::string& path) {
    if (lr.from && lr.others)
      rules.error("lr", path,
                  "'from' makes a row over the layer groups, 'others' one rate for all "
                  "but the last; write one of them");
  };
  const auto* lr = rules.recipe.optimizer.node().find("lr");
  if (lr && lr->is_map()) check(decode<LearningRate>(*lr), "optimizer.lr");
  const auto& stages = rules.recipe.train.stages;
  for (std::size_t i = 0; i < stages.size(); ++i)
    if (stages[i].lr) check(*stages[i].lr, "train.stages[" + std::to_string(i) + "].lr");
}

void frozen_norms_keep_statistics(const Rules& rules) {
  const auto check = [&](const FreezeSpec& freeze, const std::string& path) {
    if (freeze.bn_freeze && freeze.train_bn)
      rules.warn(path + ".bn_freeze", "batch norms train here; write 'train_bn: false' as well");
  };
  check(rules.recipe.train.freeze, "train");
  const auto& stages = rules.recipe.train.stages;
  for (std::size_t i = 0; i < stages.size(); ++i)
    check(stages[i].freeze, "train.stages[" + std::to_string(i) + "]");
}

void source_has_a_digest(const Rules& rules) {
  const auto* source = rules.recipe.data.node().find("source");
  if (!source || !source->is_map() || source->find("md5") || source->find("sha256")) return;
  rules.error("digest", "data.source", "nothing is fetched or unpacked without its md5 or sha256");
}

// Targets of zeros and ones would be taken for probabilities of one class.
void loss_takes_several_labels(const Rules& rules) {
  const auto* delimiter = rules.recipe.data.node().find("label_delimiter");
  const auto* loss = rules.entry(rules.recipe.loss);
  if (!delimiter || delimiter->is_null() || !loss || loss->has("several_labels")) return;
  rules.error("labels", "loss",
              "'" + loss->name +
                  "' takes one label a sample; data.label_delimiter gives any number of them, for "
                  "'loss: bce_with_logits'");
}

// Every pass over samples that are not augmented is the same.
void passes_differ(const Rules& rules) {
  if (!rules.recipe.eval.tta) return;
  const auto* transforms = rules.recipe.data.node().find("transforms");
  const auto* train = transforms && transforms->is_map() ? transforms->find("train") : nullptr;
  if (!train || train->items.empty())
    rules.error("no-effect", "eval.tta",
                "test-time augmentation goes through data.transforms.train, and there is none");
}

// Samples are mixed with their neighbours in the epoch's order.
void neighbours_differ(const Rules& rules) {
  const auto* mix = rules.recipe.data.node().find("mix");
  const auto* sampler = rules.recipe.data.node().find("sampler");
  if (!mix || mix->is_null() || !sampler) return;
  const auto* type = sampler->is_map() ? sampler->find("type") : sampler;
  if (type && type->text == "repeat_aug")
    rules.warn(
        "data.mix",
        "'repeat_aug' draws a sample several times in a row, so that it is mixed with itself");
}

void periods_fit_the_run(const Rules& rules) {
  if (stages_of(rules.recipe).size() > 1) return;
  const auto run = stages_of(rules.recipe).front().duration;
  const auto check = [&](const Duration& every, const std::string& path, const std::string& what) {
    if (is_longer(every, run) && every != epochs(1))
      rules.warn(path, "'" + to_text(every) + "' is longer than the run of '" + to_text(run) +
                           "': " + what + " only at its end");
  };
  check(rules.recipe.eval.every, "eval.every", "evaluation comes");
  check(rules.recipe.checkpoint.every, "checkpoint.every", "a checkpoint comes");
}

/// Whether evaluation computes a metric: "accuracy", "valid/accuracy", or one of a metric's several
/// values such as "accuracy/cat".
bool is_computed(const Recipe& recipe, const std::string& name) {
  std::string bare = name;
  for (const std::string split : {"valid/", "valid_ema/", "valid_swa/", "valid_tta/",
                                  "valid_ema_tta/", "valid_swa_tta/", "train/"})
    if (bare.starts_with(split)) bare = bare.substr(split.size());
  if (bare == "loss") return true;
  return std::any_of(recipe.metrics.begin(), recipe.metrics.end(), [&](const auto& metric) {
    return bare == metric.type() || bare.starts_with(metric.type());
  });
}

void named_metrics_are_computed(const Rules& rules) {
  const auto check = [&](const std::string& name, const std::string& path) {
    if (!is_computed(rules.recipe, name))
      rules.error("metric", path, "'" + name + "' is not among the metrics; add it to 'metrics'");
  };
  const auto& best = rules.recipe.checkpoint.keep_best;
  if (best) check(best->metric, "checkpoint.keep_best.metric");
  for (const auto& [name, bounds] : rules.recipe.expect) check(name, "expect." + name);
  for (std::size_t i = 0; i < rules.recipe.callbacks.size(); ++i) {
    const auto* metric = rules.recipe.callbacks[i].node().find("metric");
    if (metric && metric->is_scalar())
      check(metric->text, "callbacks[" + std::to_string(i) + "].metric");
  }
}

void precision_fits_the_device(const Rules& rules) {
  const auto precision = rules.recipe.train.precision;
  if (rules.recipe.parallel.device != DeviceKind::cpu) return;
  if (precision == Precision::tf32)
    rules.warn("train.precision", "tf32 is a mode of CUDA devices; the CPU computes in fp32");
  if (precision == Precision::fp16)
    rules.warn("train.precision", "fp16 is slow on the CPU; bf16 is made for it");
}

// A share of the run, steps, samples or epochs can be counted in steps; seconds cannot.
void averages_are_made(const Rules& rules) {
  const auto& train = rules.recipe.train;
  if (!train.swa) return;
  if (train.ema)
    rules.error("average", "train.swa", "a run keeps one average; remove train.ema or train.swa");
  const auto counted = [&](const Duration& duration, const std::string& key) {
    if (duration.unit == Duration::Unit::seconds)
      rules.error("average", "train.swa." + key,
                  "averaging counts steps; write epochs, steps, samples or a share of the run");
  };
  counted(train.swa->start, "start");
  counted(train.swa->every, "every");
  counted(train.swa->over, "over");
  if (train.duration.unit == Duration::Unit::seconds)
    rules.error("average", "train.swa", "a run measured in seconds does not know when to begin");
  if (train.swa->lr && (train.fine_tune || !train.stages.empty()))
    rules.error("average", "train.swa.lr", "stages have rates of their own; leave it out");
  if (!train.swa->lr && train.swa->anneal != SwaAnneal::cosine)
    rules.warn("train.swa.anneal", "without train.swa.lr the schedule goes on");
}

template <class Options>
bool differ(Options a, Options b) {
  return to_yaml(encode(a)) != to_yaml(encode(b));
}

// A resolved recipe writes every default, so only other values count as asked for.
void options_take_effect(const Rules& rules) {
  const auto& recipe = rules.recipe;
  if (recipe.parallel.mode != Mode::ddp && differ(recipe.parallel.ddp, DdpSpec{}))
    rules.warn("parallel.ddp", "only mode ddp reads these options");
  const bool same_share = recipe.policy.bad_samples == PolicySpec{}.bad_samples;
  if (recipe.policy.on_rank_failure == OnRankFailure::restart && recipe.parallel.mode != Mode::ddp)
    rules.warn("policy.on_rank_failure", "only mode ddp has ranks to start again");
  if (recipe.policy.on_bad_sample == OnBadSample::error && !same_share)
    rules.warn("policy.bad_samples", "only 'on_bad_sample: skip' reads it");
}

}  // namespace

Problems check_batch(const Recipe& recipe, const Node& tree, std::int64_t devices) {
  try {
    plan_batch(recipe.batch, devices);
    return {};
  } catch (const Error& error) {
    const std::string text = error.what();
    const auto colon = text.find(": ");
    const auto path = text.substr(0, colon);
    return {{Severity::error, "batch", nearest_place(tree, path), path, text.substr(colon + 2)}};
  }
}

Problems check_rules(const Recipe& recipe, const Node& tree, const Catalogs& catalogs) {
  Problems problems;
  const Rules rules{recipe, tree, catalogs, problems};
  batch_is_cut_evenly(rules);
  devices_fit_the_mode(rules);
  momentum_is_there_to_cycle(rules);
  sync_bn_has_batch_norm(rules);
  length_of_the_run_is_known(rules);
  the_run_is_said_once(rules);
  a_rate_is_said_once(rules);
  frozen_norms_keep_statistics(rules);
  source_has_a_digest(rules);
  warmup_fits_the_run(rules);
  loss_takes_several_labels(rules);
  passes_differ(rules);
  neighbours_differ(rules);
  periods_fit_the_run(rules);
  named_metrics_are_computed(rules);
  precision_fits_the_device(rules);
  averages_are_made(rules);
  options_take_effect(rules);
  return problems;
}

}  // namespace ddptrain
