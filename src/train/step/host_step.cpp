#include "train/step/host_step.h"

#include <cmath>
#include <utility>

#include "base/error.h"
#include "distributed/engine.h"
#include "distributed/phases.h"
#include "distributed/world.h"
#include "optim/ema.h"
#include "optim/optimizer.h"
#include "train/stages.h"
#include "train/step/kept_buffers.h"
#include "train/step/micro_batches.h"
#include "train/step/shown_gradients.h"
#include "train/step/swa.h"
#include "train/training.h"
#include "train/update/group_norms.h"
#include "train/update/scale_and_clip.h"
#include "train/update/sharded_optimizer.h"

namespace ddptrain {
namespace {

class HostStepper final : public Stepper {
 public:
  HostStepper(Training& training, const RunState& state, GradientHook hook)
      : t_(training), state_(state), hook_(std::move(hook)) {}

  void begin(const StepPlace& place, std::int64_t micro_steps) override {
    place_ = place;
    micro_ = first_micro_step(t_, state_, place);
    keep_buffers(micro_steps);
    t_.engine->carried().keep();
    t_.engine->begin();
    for (std::int64_t i = 0; i < micro_steps; ++i) {
      micro_.last = i + 1 == micro_steps;
      const auto batch = next_batch(t_, place, i, micro_);
      t_.engine->accumulate(batch, *t_.loss, micro_);  // forward, loss, backward
    }
  }

  void finish(bool asked) override {
    DDP_CHECK(!report_, "a step is finished after the last one was read");
    auto& report = report_.emplace();
    const auto rates = rates_of(t_, state_, place_.step);
    report.lr = rates.lr;
    report.momentum = rates.momentum ? rates.momentum : t_.optimizer->momentum();
    report.weight_decay = rates.weight_decay;
    report.totals = t_.engine->totals(t_.engine->sum(asked));  // reduction over ranks, finite check
    if (report.totals.data_lost && keeps_buffers_) buffers_->put_back();
    if (report.changed())
      update(report, rates);
    else
      t_.engine->carried().put_back();
  }

  void abandon() override {
    t_.engine->sum(false);
    t_.engine->carried().put_back();
  }
  StepReport read() override {
    DDP_CHECK(report_, "there is no step to read");
    return *std::exchange(report_, {});
  }
  bool is_under_way() const override { return report_.has_value(); }
  bool is_late() const override { return false; }

 private:
  /// As they were before the step, in case its data are lost.
  void keep_buffers(std::int64_t micro_steps) {
    keeps_buffers_ = may_lose_data_midway(*t_.world, micro_steps);
    if (!keeps_buffers_) return;
    if (buffers_)
      buffers_->keep();
    else
      buffers_.emplace(t_.engine->model());
  }

  void update(StepReport& report, const Rates& rates) {
    move_weights(report, rates);
    if (t_.ema && average_is_due(t_, place_.step + 1)) t_.ema->update();
  }

  void move_weights(StepReport& report, const Rates& rates) {
    const PhaseScope phase(Phase::optimizer);
    const double factor = micro_.nominal / (micro_.loss_scale * report.totals.weight);
    if (group_norms_are_due(t_, place_.step)) {
      const auto norms = group_norms(*t_.optimizer, shared_gradients(t_.recipe, *t_.engine));
      norms[0].mul_(std::abs(factor));
      report.group_norms = named_norms(norms);
    }
    report.gradient_norm = scale_and_clip(t_, log_is_due(t_, place_.step), factor);
    show_gradients(t_, hook_, place_.step + 1);
    t_.optimizer->step(rates);
    t_.engine->parameters_changed();
  }

  Training& t_;
  const RunState& state_;
  const GradientHook hook_;
  StepPlace place_;  // of the step under way
  MicroStep micro_;  // its last one
  bool keeps_buffers_ = false;
  std::optional<KeptBuffers> buffers_;
  std::optional<StepReport> report_;  // of the step that is not read
};

}  // namespace

std::unique_ptr<Stepper> make_host_stepper(Training& training, const RunState& state,
                                           Stepper::GradientHook hook) {
  return std::make_unique<HostStepper>(training, state, std::move(hook));
}

}  // namespace ddptrain
