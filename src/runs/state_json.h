// state.json of a checkpoint: where a run stands, and what its weights are of.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/named_values.h"

namespace ddptrain {

inline constexpr const char* kStateJson = "state.json";

struct Position {
  std::int64_t step = 0;           // optimizer steps made
  std::int64_t epoch = 0;          // epochs completed
  std::int64_t step_in_epoch = 0;  // steps made of the epoch under way
  std::int64_t bad_in_epoch = 0;   // samples left out of it so far, over all ranks
  std::int64_t samples = 0;        // samples seen by all ranks
  std::int64_t evaluated = 0;      // steps made at the last evaluation
  bool evaluation_due = false;     // and not finished: a resumed run begins with it
  std::int64_t empty_steps = 0;    // without a counted sample: nothing changed
  std::int64_t skipped_steps = 0;  // not finite: nothing changed
  double train_loss = 0;           // of the last step, for the row of an evaluation after it
  double lr = 0;
  double seconds = 0;  // trained, where train.duration is a time
};

/// The evaluation with the best value of checkpoint.keep_best.
struct BestSoFar {
  double value = 0;
  std::int64_t step = 0;
};

/// The end that a callback asked for. It holds until the run is asked for more.
struct Stop {
  std::string reason;
  std::string asked;  // asked_length() of the recipe at that time (train/loop/completion.h)
};

struct SavedLossScale {
  double scale = 0;
  std::int64_t finite_steps = 0;
};

struct SavedCallback {
  std::string type;
  std::string state;  // JSON text; empty: it has none
};

/// What must be the same for a resumed run to be bit-identical to an uninterrupted one.
struct RunEnvironment {
  std::string ddptrain, torch;  // versions
  std::string mode;
  std::int64_t ranks = 0;
  std::int64_t replicas = 0;
  std::string device;
  std::int64_t threads = 0;
  std::int64_t global = 0;
  std::int64_t accumulate = 0;
};

/// What the rows of saved tensors stand for. All empty where unknown.
struct SavedNames {
  std::vector<std::string> classes;  // of the outputs, in their order
  std::vector<std::string> targets;  // of outputs that are numbers
  std::string fitted;                // Dataset::state(), JSON: words, categories, columns
  bool operator==(const SavedNames&) const = default;
};

struct SavedState {
  std::int64_t format = 1;
  Position position;
  std::int64_t seed = 0;
  SavedNames names;
  std::string data;  // its digest
  std::int64_t steps_per_epoch = 0;
  double nominal = 0;
  double lr_factor = 1;
  std::optional<SavedLossScale> loss_scale;
  std::optional<BestSoFar> best;
  std::optional<Stop> stop;
  NamedValues evaluation;  // the last one
  std::vector<SavedCallback> callbacks;
  RunEnvironment environment;
};

/// The text of the file, and what a text holds. An Error (Exit::data) where it is no such text:
/// checkpoints of earlier versions lack only what their version did not have.
std::string to_text(const SavedState& state);
SavedState saved_state_of(const std::string& text);

/// That of a checkpoint's folder.
SavedState read_saved_state(const std::string& checkpoint);

/// The names alone, as far as they are in a text that may be another's.
SavedNames saved_names(const std::string& text);

/// Titles and values as JSON, for a comparison of two: "ranks" "2", "mode" "\"ddp\"".
std::vector<std::pair<std::string, std::string>> listed(const RunEnvironment& environment);

// The visitor f is one of runs/json_fields.h, or of a test. A member that is added to one of these
// structs does not compile before it is bound here.

template <class Fields>
void fields(Position& position, Fields& f) {
  constexpr auto unknown = std::numeric_limits<double>::quiet_NaN();
  auto& [step, epoch, step_in_epoch, bad_in_epoch, samples, evaluated, evaluation_due, empty_steps,
         skipped_steps, train_loss, lr, seconds] = position;
  f("step", step);
  f("epoch", epoch);
  f("step_in_epoch", step_in_epoch);
  f.added("bad_in_epoch", bad_in_epoch, std::int64_t{0});
  f("samples", samples);
  f("evaluated", evaluated);
  f.added("evaluation_due", evaluation_due, false);
  f("empty_steps", empty_steps);
  f("skipped_steps", skipped_steps);
  f.added("train_loss", train_loss, unknown);
  f.added("lr", lr, unknown);
  f.unless_empty("seconds", seconds);
}

template <class Fields>
void fields(SavedLossScale& loss_scale, Fields& f) {
  auto& [scale, finite_steps] = loss_scale;
  f("scale", scale);
  f("finite_steps", finite_steps);
}

template <class Fields>
void fields(BestSoFar& best, Fields& f) {
  auto& [value, step] = best;
  f("value", value);
  f("step", step);
}

template <class Fields>
void fields(Stop& stop, Fields& f) {
  auto& [reason, asked] = stop;
  f("reason", reason);
  f("asked", asked);
}

template <class Fields>
void fields(SavedCallback& callback, Fields& f) {
  auto& [type, state] = callback;
  f("type", type);
  f("state", state);
}

template <class Fields>
void fields(RunEnvironment& environment, Fields& f) {
  auto& [ddptrain, torch, mode, ranks, replicas, device, threads, global, accumulate] = environment;
  f.added("ddptrain", ddptrain, std::string());
  f.added("torch", torch, std::string());
  f.added("mode", mode, std::string());
  f.added("ranks", ranks, std::int64_t{0});
  f.added("replicas", replicas, std::int64_t{0});
  f.added("device", device, std::string());
  f.added("threads", threads, std::int64_t{0});
  f("global", global);
  f.added("accumulate", accumulate, std::int64_t{0});
}

template <class Fields>
void fields(SavedState& state, Fields& f) {
  auto& [format, position, seed, names, data, steps_per_epoch, nominal, lr_factor, loss_scale, best,
         stop, evaluation, callbacks, environment] = state;
  auto& [classes, targets, fitted] = names;
  f("format", format);
  f("position", position);
  f("seed", seed);
  f("classes", classes);
  f.unless_empty("targets", targets);
  f("data", data);
  f.embedded("fitted", fitted);
  f("steps_per_epoch", steps_per_epoch);
  f("nominal", nominal);
  f("lr_factor", lr_factor);
  f("loss_scale", loss_scale);
  f("best", best);
  f("stop", stop);
  f("evaluation", evaluation);
  f("callbacks", callbacks);
  f("surroundings", environment);
}

}  // namespace ddptrain
