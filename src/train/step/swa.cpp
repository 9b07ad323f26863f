#include "train/step/swa.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>

#include "base/error.h"
#include "data/loader/lengths.h"
#include "data/loader/loader.h"
#include "distributed/engine.h"
#include "distributed/phases.h"
#include "distributed/world.h"
#include "models/running_statistics.h"
#include "optim/ema.h"
#include "recipe/period.h"
#include "sources/sampler.h"
#include "train/requests.h"
#include "train/run_state.h"
#include "train/step/averaged_weights.h"
#include "train/step/swapped.h"
#include "train/training.h"

namespace ddptrain {
namespace {

std::int64_t first_step(const SwaSpec& spec, const RunLength& length) {
  return in_steps(spec.start, length).value();
}

bool is_due(const SwaSpec& spec, const RunLength& length, std::int64_t step) {
  return step > first_step(spec, length) && Period(spec.every, length).due(step);
}

bool is_ever_due(const SwaSpec& spec, const RunLength& length) {
  for (auto step = first_step(spec, length) + 1; step <= length.total; ++step)
    if (is_due(spec, length, step)) return true;
  return false;
}

struct Norm {
  std::string path;
  RunningStatistics* statistics;
  std::optional<double> momentum;
};

/// Batch norms that forget everything but the last batch while this lives; buffers are put back.
class BatchNormObserver {
 public:
  explicit BatchNormObserver(Model& model) : buffers_(model.named_buffers()) {
    for (const auto& [name, tensor] : buffers_) kept_.push_back(tensor.clone());
    for (const auto& [path, module] : model.modules())
      if (auto* norm = dynamic_cast<RunningStatistics*>(module)) {
        norms_.push_back({path, norm, norm->momentum()});
        norm->set_momentum(1);
      }
  }
  ~BatchNormObserver() {
    const at::NoGradGuard no_grad;
    for (const auto& norm : norms_) norm.statistics->set_momentum(norm.momentum);
    for (std::size_t i = 0; i < kept_.size(); ++i) buffers_[i].tensor.copy_(kept_[i]);
  }
  BatchNormObserver(const BatchNormObserver&) = delete;
  BatchNormObserver& operator=(const BatchNormObserver&) = delete;

  const std::vector<Norm>& norms() const { return norms_; }

  /// Means and variances of the last batch, one after the other, in double, on their device.
  at::Tensor statistics() const {
    std::vector<at::Tensor> parts;
    for (const auto& norm : norms_)
      for (const auto& tensor : {norm.statistics->running_mean(), norm.statistics->running_var()})
        parts.push_back(tensor.to(at::kDouble));
    return at::cat(parts);
  }

  /// The model's buffers with these statistics in place of its own, counted as `batches`.
  std::vector<NamedTensor> buffers_with(const at::Tensor& statistics, std::int64_t batches) const {
    std::vector<NamedTensor> made;
    for (std::size_t i = 0; i < kept_.size(); ++i)
      made.push_back({buffers_[i].name, kept_[i].clone()});
    const auto buffer = [&](const std::string& name) -> at::Tensor& {
      for (auto& [known, tensor] : made)
        if (known == name) return tensor;
      DDP_CHECK(false, "a batch norm without its buffers");
    };
    std::int64_t at = 0;
    for (const auto& norm : norms_) {
      const auto prefix = norm.path.empty() ? "" : norm.path + ".";
      const auto channels = norm.statistics->running_mean().numel();
      buffer(prefix + "running_mean").copy_(statistics.slice(0, at, at + channels));
      buffer(prefix + "running_var").copy_(statistics.slice(0, at + channels, at + 2 * channels));
      buffer(prefix + "num_batches_tracked").fill_(batches);
      at += 2 * channels;
    }
    return made;
  }

 private:
  std::vector<NamedTensor> buffers_;
  std::vector<at::Tensor> kept_;
  std::vector<Norm> norms_;
};

constexpr std::int64_t kFewestRows = 2;  // a variance wants two values

/// A pass over the training set, in rounds in which each rank has a batch or none.
struct TrainPass {
  EpochPlan plan;
  std::size_t rounds = 0;
};

/// Whole batches, however many ranks share them; a rest is left out unless it is all there is.
TrainPass train_pass(const Training& t, const Position& at) {
  const auto batch = std::max(kFewestRows, t.recipe.eval.batch.value.value());
  EpochPlan plan;
  plan.whole = true;
  plan.epoch = std::max<std::int64_t>(0, at.step_in_epoch == 0 ? at.epoch - 1 : at.epoch);
  plan.order = t.sampler->order(plan.epoch);
  auto size = static_cast<std::int64_t>(plan.order.size());
  if (size > batch) size -= size % batch;
  plan.micros = evaluation_batches({size, batch}, t.world->rank, t.world->size);
  auto rounds = evaluation_batches({size, batch}, 0, t.world->size).size();  // no rank has more
  if (t.evaluation_batches) rounds = std::min(rounds, *t.evaluation_batches);
  if (plan.micros.size() > rounds) plan.micros.resize(rounds);
  set_lengths(plan.micros, lengths_of(*t.data, Split::train, plan.order));
  return {std::move(plan), rounds};
}

/// Statistics summed over the batches of all ranks. Batches of which bad samples leave too little
/// do not count.
struct StatisticsSum {
  at::Tensor sum;
  std::int64_t batches = 0;
};

/// Adds what this rank observes of its batch of a round.
void observe_batch(Training& t, const BatchNormObserver& observer, std::size_t round,
                   at::Tensor& sum) {
  const auto batch = t.loader->next();
  if (batch.left_out > 0 && batch.rows < kFewestRows) return t.engine->follow();
  Pass forward{.training = true, .seed = static_cast<std::uint64_t>(t.recipe.seed)};
  forward.step = t.world->rank + static_cast<std::int64_t>(round) * t.world->size;
  forward.first_row = batch.first_row;
  forward.positions = batch.positions;
  t.engine->forward(batch, forward);
  const auto values = sum.numel() - 1;
  sum.narrow(0, 0, values) += observer.statistics();
  sum[values] += 1;
}

/// Nothing where all ranks left early.
std::optional<StatisticsSum> sum_over_batches(Training& t, const BatchNormObserver& observer,
                                              TrainPass pass, const std::function<bool()>& asked,
                                              const std::function<void()>& alive) {
  const auto none = at::zeros_like(observer.statistics());
  auto sum = at::cat({none, none.new_zeros({1})});
  const auto own = pass.plan.micros.size();
  t.loader->start(std::move(pass.plan));
  const auto observe = [&](std::size_t round) {
    if (round < own)
      observe_batch(t, observer, round, sum);
    else
      t.engine->follow();
    if (alive) alive();
  };
  if (!in_rounds(*t.world->control, pass.rounds, asked, observe)) return {};
  sum = sum.cpu();
  if (t.world->size > 1) t.world->control->all_reduce(sum);
  const auto values = sum.numel() - 1;
  return StatisticsSum{sum.narrow(0, 0, values),
                       static_cast<std::int64_t>(sum[values].item<double>())};
}

bool has_batch_norm(const Model& model) {
  const auto modules = model.modules();
  return std::any_of(modules.begin(), modules.end(), [](const auto& module) {
    return dynamic_cast<const RunningStatistics*>(module.second) != nullptr;
  });
}

std::unique_ptr<Ema> exponential_average(const std::vector<NamedTensor>& parameters,
                                         const EmaSpec& spec) {
  return std::make_unique<Ema>(parameters, EmaOptions{.decay = spec.decay,
                                                      .warmup = spec.warmup,
                                                      .warmup_gamma = spec.warmup_gamma,
                                                      .warmup_power = spec.warmup_power,
                                                      .min_decay = spec.min_decay,
                                                      .update_after_step = spec.update_after_step});
}

}  // namespace

std::unique_ptr<Ema> build_average(const Recipe& recipe, Engine& engine) {
  const auto& train = recipe.train;
  const auto parameters = engine.masters();
  if (!train.swa) return train.ema ? exponential_average(parameters, *train.ema) : nullptr;
  return std::make_unique<Ema>(parameters, EmaOptions{.type = Averaging::swa});
}

void require_an_average(const Recipe& recipe, const RunLength& length) {
  const auto& spec = recipe.train.swa;
  if (!spec || is_ever_due(*spec, length)) return;
  throw Error(Exit::recipe, Option{"train.swa"},
              "a run of {} steps makes no average from step {} on; an earlier 'start' or a shorter "
              "'every' does",
              length.total, first_step(*spec, length));
}

bool average_is_due(const Training& t, std::int64_t step) {
  const auto& spec = t.recipe.train.swa;
  return !spec || is_due(*spec, t.length, step);
}

bool average_statistics_are_missing(const Training& t) {
  const auto& spec = t.recipe.train.swa;
  return spec && spec->update_bn && t.ema && t.ema->updates() > 0 && t.ema->buffers().empty() &&
         has_batch_norm(t.engine->model());
}

bool update_average_statistics(Training& t, const Position& at, const std::function<bool()>& asked,
                               const std::function<void()>& alive) {
  if (!average_statistics_are_missing(t)) return true;
  const at::NoGradGuard no_grad;
  const PhaseScope phase(Phase::evaluation);
  t.engine->broadcast_buffers();
  const BatchNormObserver observer(t.engine->model());
  const AveragedParameters averaged(t);
  const auto found = sum_over_batches(t, observer, train_pass(t, at), asked, alive);
  if (!found) return false;
  if (found->batches == 0)
    throw Error(Exit::data, Option{"train.swa.update_bn"},
                "no batch of training samples could be read");
  const auto means = found->sum / static_cast<double>(found->batches);
  t.ema->set_buffers(observer.buffers_with(means, found->batches));
  return true;
}

}  // namespace ddptrain
