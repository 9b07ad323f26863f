#include "train/state.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "base/version.h"
#include "data/loader/scored.h"
#include "train/completion.h"

namespace ddptrain {
namespace {

using Json = nlohmann::ordered_json;

// What must be the same for a resumed run to be bit-identical to an uninterrupted one.
Json surroundings(const Training& t) {
  return {{"ddptrain", version()},
          {"torch", torch_version()},
          {"mode", names(t.recipe.parallel.mode)[static_cast<std::size_t>(t.recipe.parallel.mode)]},
          {"ranks", t.placement.ranks},
          {"replicas", t.placement.replicas},
          {"device", t.placement.cuda ? "cuda" : "cpu"},
          {"threads", t.placement.threads},
          {"global", t.placement.batch.global},
          {"accumulate", t.placement.batch.accumulate}};
}

Json position_json(const Position& at) {
  Json json{{"step", at.step},
            {"epoch", at.epoch},
            {"step_in_epoch", at.step_in_epoch},
            {"bad_in_epoch", at.bad_in_epoch},
            {"samples", at.samples},
            {"evaluated", at.evaluated},
            {"evaluation_due", at.evaluation_due},
            {"empty_steps", at.empty_steps},
            {"skipped_steps", at.skipped_steps},
            {"train_loss", at.train_loss},
            {"lr", at.lr}};
  if (at.seconds > 0) json["seconds"] = at.seconds;
  return json;
}

/// NaN where it is null, as JSON has no NaN, and in older checkpoints.
double number_of(const Json& json, const char* name) {
  const auto value = json.value(name, Json());
  return value.is_number() ? value.get<double>() : std::nan("");
}

Position position_of(const Json& json) {
  Position at;
  at.step = json.at("step");
  at.epoch = json.at("epoch");
  at.step_in_epoch = json.at("step_in_epoch");
  at.bad_in_epoch = json.value("bad_in_epoch", std::int64_t{0});  // older ones do not have it
  at.samples = json.at("samples");
  at.evaluated = json.at("evaluated");
  at.evaluation_due = json.value("evaluation_due", false);  // nor this
  at.empty_steps = json.at("empty_steps");
  at.skipped_steps = json.at("skipped_steps");
  at.train_loss = number_of(json, "train_loss");
  at.lr = number_of(json, "lr");
  at.seconds = json.value("seconds", 0.0);
  return at;
}

Json callback_states(const Training& t) {
  Json states = Json::array();
  for (std::size_t i = 0; i < t.callbacks.size(); ++i)
    states.push_back({{"type", t.recipe.callbacks[i].type()}, {"state", t.callbacks[i]->state()}});
  return states;
}

Json numbers_json(const NamedValues& values) {
  Json json = Json::object();
  for (const auto& [name, value] : values) json[name] = value;
  return json;
}

void restore_callbacks(Training& t, const Json& states) {
  for (std::size_t i = 0; i < t.callbacks.size() && i < states.size(); ++i)
    if (states[i].at("type") == t.recipe.callbacks[i].type())
      t.callbacks[i]->load(states[i].at("state"));
    else
      log::warning("callbacks[" + std::to_string(i) +
                   "] is another one than in the checkpoint; it "
                   "starts anew");
}

// A stop holds until the run is asked for more; what callbacks counted stays either way.
void restore_stop(Training& t, const Json& state) {
  const auto stop = state.find("stop");
  if (stop == state.end()) return;
  const auto reason = stop->at("reason").get<std::string>();
  if (stop->at("asked") == asked_length(t.recipe)) {
    t.control.stop = reason;
    return;
  }
  std::vector<std::string> counting;
  for (std::size_t i = 0; i < t.callbacks.size(); ++i)
    if (!t.callbacks[i]->state().empty())
      counting.push_back("callbacks[" + std::to_string(i) + "] (" + t.recipe.callbacks[i].type() +
                         ")");
  log::info("the run had stopped (" + reason + ") and continues, since it is asked for more; " +
            (counting.empty() ? "nothing of the stop counts any more"
                              : join(counting, ", ") +
                                    " keep what they counted, so the next evaluation that is no "
                                    "better may stop it again"));
}

void say_differences(const Json& saved, const Json& now) {
  for (const auto& [key, value] : now.items())
    if (saved.value(key, Json()) != value)
      log::warning("resuming with " + key + " " + value.dump() + ", the checkpoint has " +
                   saved.value(key, Json()).dump() +
                   ": the run goes on, not bit for bit as before");
}

[[noreturn]] void refuse(const std::string& why) {
  throw Error(Exit::data, "the run cannot go on from this checkpoint: " + why);
}

/// An output of the model means a class, by its name: data of a class fewer is other data.
void require_all_classes(const Training& t, const Json& state) {
  const auto classes = state.at("classes").get<std::vector<std::string>>();
  if (classes != t.data->facts().classes)
    refuse("it was trained on the classes [" + join(classes, ", ") + "], and the data has [" +
           join(t.data->facts().classes, ", ") + "]");
  if (state.at("data") == t.data->digest()) return;
  const auto absent = absent_classes(*t.data, Split::train);
  if (!absent.empty())
    refuse("it was trained on the classes [" + join(classes, ", ") +
           "], and the data has no training sample of [" + join(absent, ", ") + "]");
  log::warning("the data is not what it was when the checkpoint was written");
}

// Position and schedule count steps.
void require_the_same_epochs(const Training& t, const Json& state) {
  const std::int64_t steps = state.at("steps_per_epoch"),
                     global = state.at("surroundings").at("global");
  if (steps != t.length.per_epoch || global != t.length.global)
    refuse("its epochs are " + std::to_string(steps) + " steps of " + std::to_string(global) +
           " samples, and they would be " + std::to_string(t.length.per_epoch) + " of " +
           std::to_string(t.length.global) + " (batch.global, data)");
}

// Statistics of an average are there only once it was finished.
std::vector<NamedTensor> buffers_among(const std::vector<NamedTensor>& saved, const Model& model) {
  std::vector<NamedTensor> found;
  for (const auto& [name, live] : model.named_buffers())
    for (const auto& each : saved)
      if (each.name == name) found.push_back({name, live.detach().clone()});
  return found;
}

}  // namespace

Checkpoint capture(const Training& t) {
  Checkpoint checkpoint;
  checkpoint.step = t.position.step;
  checkpoint.model = t.engine->model().state();
  checkpoint.optimizer = t.optimizer->state();
  if (t.ema) checkpoint.ema = t.ema->state();
  Json state;
  state["format"] = 1;
  state["position"] = position_json(t.position);
  state["seed"] = t.recipe.seed;
  state["classes"] = t.data->facts().classes;
  state["data"] = t.data->digest();
  if (const auto fitted = t.data->state(); !fitted.empty()) state["fitted"] = Json::parse(fitted);
  state["steps_per_epoch"] = t.length.per_epoch;
  state["nominal"] = t.nominal;
  state["lr_factor"] = t.control.lr_factor;
  if (t.loss_scale) state["loss_scale"] = Json::parse(t.loss_scale->state());
  if (t.best && t.best->value())
    state["best"] = {{"value", *t.best->value()}, {"step", t.best_step}};
  if (t.control.stop)
    state["stop"] = {{"reason", *t.control.stop}, {"asked", asked_length(t.recipe)}};
  state["evaluation"] = numbers_json(t.last_evaluation);
  state["callbacks"] = callback_states(t);
  state["surroundings"] = surroundings(t);
  checkpoint.state = state.dump(2) + "\n";
  return checkpoint;
}

void restore_weights(Training& t, const Checkpoint& checkpoint) {
  restore(checkpoint.model, t.engine->model().state(), "the model");
  t.engine->parameters_changed();
  if (!t.ema) return;
  if (checkpoint.ema.empty()) {
    log::warning("the checkpoint has no average of weights; it starts here");
    return;
  }
  t.ema->set_buffers(buffers_among(checkpoint.ema, t.engine->model()));
  restore(checkpoint.ema, t.ema->state(), "the average");
}

SavedData saved_data(const Checkpoint& checkpoint) {
  const auto state = Json::parse(checkpoint.state);
  const auto fitted = state.find("fitted");
  return {fitted == state.end() ? std::string() : fitted->dump(),
          state.at("classes").get<std::vector<std::string>>()};
}

void restore(Training& t, const Checkpoint& checkpoint) {
  const auto state = Json::parse(checkpoint.state);
  restore_weights(t, checkpoint);
  require_all_classes(t, state);
  require_the_same_epochs(t, state);
  t.optimizer->load(checkpoint.optimizer);
  t.position = position_of(state.at("position"));
  t.nominal = state.at("nominal");
  t.control.lr_factor = state.at("lr_factor");
  if (t.loss_scale && state.contains("loss_scale"))
    t.loss_scale->load(state.at("loss_scale").dump());
  if (t.best && state.contains("best")) {
    t.best->restore(state["best"].at("value").get<double>());
    t.best_step = state["best"].at("step");
  }
  for (const auto& [name, value] : state.at("evaluation").items())
    t.last_evaluation.emplace_back(name, value.is_number() ? value.get<double>() : std::nan(""));
  restore_callbacks(t, state.at("callbacks"));
  restore_stop(t, state);
  say_differences(state.at("surroundings"), surroundings(t));
}

}  // namespace ddptrain
