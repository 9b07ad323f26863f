// Where a run stands: all that changes as it goes on, apart from what its parts learn.
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "callbacks/callback.h"
#include "optim/loss_scale.h"

namespace ddptrain {

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

/// To the next step.
void move_on(Position& at, std::int64_t steps_per_epoch);

/// The evaluation with the best value of checkpoint.keep_best.
struct BestSoFar {
  double value = 0;
  std::int64_t step = 0;
};

/// The end that a callback asked for. It holds until the run is asked for more.
struct Stop {
  std::string reason;
  std::string asked;  // asked_length() of the recipe at that time (train/run/completion.h)
};

/// Everything in here is in state.json: what a resumed run has no use for does not belong here.
struct RunState {
  Position position;
  double nominal = 0;    // unit of the loss weights: the first step's total weight; 0 until then
  double lr_factor = 1;  // multiplies the schedule's rate
  std::optional<LossScale> loss_scale;  // fp16
  std::optional<BestSoFar> best;
  std::optional<Stop> stop;
  NamedValues evaluation;  // the last one
};

// `fields` declares what a checkpoint keeps. The visitor f is called as
//   f(key, member)                   a key of every checkpoint; an empty optional has none
//   f.added(key, member, otherwise)  checkpoints of earlier versions lack it
//   f.unless_zero(key, member)       left out at 0
// A member that is added to one of these structs does not compile before it is bound here.

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
  f.unless_zero("seconds", seconds);
}

template <class Fields>
void fields(LossScale& loss_scale, Fields& f) {
  auto state = loss_scale.state();
  auto& [scale, finite_steps] = state;
  f("scale", scale);
  f("finite_steps", finite_steps);
  loss_scale.load(state);
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
void fields(RunState& state, Fields& f) {
  auto& [position, nominal, lr_factor, loss_scale, best, stop, evaluation] = state;
  f("position", position);
  f("nominal", nominal);
  f("lr_factor", lr_factor);
  f("loss_scale", loss_scale);
  f("best", best);
  f("stop", stop);
  f("evaluation", evaluation);
}

using StateJson = nlohmann::ordered_json;

/// An object with the keys of `fields`, in their order. JSON has no NaN: null stands for it.
StateJson to_json(const RunState& state);

/// Reads those keys of an object that may have others. Throws what nlohmann::json throws where a
/// key is not as it was written.
RunState run_state_of(const StateJson& json);

}  // namespace ddptrain
