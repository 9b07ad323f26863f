#include "train/run/pass_memory.h"

#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <cmath>
#include <map>

#include "distributed/engine.h"
#include "distributed/phases.h"
#include "losses/vocabulary_loss.h"
#include "train/training.h"

namespace ddptrain {
namespace {

constexpr std::size_t kForward = 0, kLoss = 1, kBackward = 2;  // of MeasuredPass::held
constexpr std::int64_t kMostScores = 2 * kScoresOfAChunk;

/// Records what is held, by the part of a pass that is under way.
class PassRecorder final : private PhaseWatcher {
 public:
  explicit PassRecorder(MeasuredPass& pass) : pass_(pass) {}

  void begin_pass() { pass_.before = now_; }
  void begin_loss() {
    if (part_ != kForward) return;
    part_ = kLoss;
    pass_.kept = now_ - pass_.before;
  }

 private:
  void begin(Phase phase) override {
    if (phase == Phase::backward) part_ = kBackward;
  }
  void end(Phase) override {}

  MeasuredPass& pass_;
  std::size_t part_ = kForward;
  std::int64_t now_ = 0;
  MemoryReports reports_{[this](const MemoryReport& report) {
    now_ += report.bytes;
    pass_.held[part_].push_back(now_);
  }};
};

/// A loss that says when it begins.
class WatchedLoss final : public Loss {
 public:
  WatchedLoss(const Loss& loss, PassRecorder& recorder) : loss_(loss), recorder_(recorder) {}
  LossTerms operator()(const at::Tensor& output, const at::Tensor& target) const override {
    recorder_.begin_loss();
    return loss_(output, target);
  }
  LossTerms projected(const ProjectedOutput& output, const at::Tensor& target) const override {
    recorder_.begin_loss();
    return loss_.projected(output, target);
  }
  OutputActivation activation() const override { return loss_.activation(); }

 private:
  const Loss& loss_;
  PassRecorder& recorder_;
};

void make_gradients(Model& model) {
  for (const auto& [name, tensor] : model.named_parameters())
    if (tensor.requires_grad()) tensor.mutable_grad() = at::zeros_like(tensor);
}

/// What a loss of projected outputs holds, by the number of places.
class LossMemory {
 public:
  explicit LossMemory(const Training& t)
      : loss_(*t.loss), projection_(t.engine->model().projection()) {}

  struct Bytes {
    double most = 0;  // while it is computed
    double end = 0;   // until the backward pass
  };
  Bytes of(std::int64_t places) {
    const auto limit = std::max<std::int64_t>(2, kMostScores / projection_.weight.size(0));
    if (places <= limit) return measured(places);
    const auto half = measured(limit / 2), whole = measured(limit);
    const auto steps = static_cast<double>(places - limit) / static_cast<double>(limit - limit / 2);
    return {whole.most + steps * (whole.most - half.most),
            whole.end + steps * (whole.end - half.end)};
  }

 private:
  Bytes measured(std::int64_t places) {
    const auto known = measured_.find(places);
    if (known != measured_.end()) return known->second;
    const auto& weight = projection_.weight;
    const auto hidden =
        at::zeros({1, places, weight.size(1)}, weight.options().requires_grad(true));
    const auto target = at::zeros({1, places}, at::kLong);
    const HeldBytes held;
    const auto terms =
        loss_.projected({hidden, weight, projection_.bias, projection_.soft_cap}, target);
    return measured_[places] = {static_cast<double>(held.most()), static_cast<double>(held.now())};
  }

  const Loss& loss_;
  Projection projection_;
  std::map<std::int64_t, Bytes> measured_;
};

std::int64_t most_of(const std::vector<std::int64_t>& held) {
  return held.empty() ? 0 : *std::max_element(held.begin(), held.end());
}

/// The line through what two passes held.
class ThroughTwo {
 public:
  ThroughTwo(const MeasuredPass& few, const MeasuredPass& many, std::int64_t rows)
      : few_(few),
        many_(many),
        reach_(static_cast<double>(rows - few.rows) / static_cast<double>(many.rows - few.rows)) {}

  double at(std::int64_t few, std::int64_t many) const {
    return static_cast<double>(few) + reach_ * static_cast<double>(many - few);
  }
  /// The most in a part of the pass: moment by moment, where both have the same ones.
  double most_in(std::size_t part) const {
    const auto &few = few_.held[part], &many = many_.held[part];
    if (few.size() != many.size()) return at(most_of(few), most_of(many));
    double most = 0;
    for (std::size_t i = 0; i < few.size(); ++i) most = std::max(most, at(few[i], many[i]));
    return most;
  }

 private:
  const MeasuredPass &few_, &many_;
  double reach_;
};

}  // namespace

MeasuredPass measure_pass(Training& t, const Batch& batch, Gradients gradients) {
  MeasuredPass pass;
  pass.rows = batch.rows;
  if (t.engine->model().projection()) pass.places = batch.targets.at(0).numel();
  MicroStep at;
  at.seed = static_cast<std::uint64_t>(t.recipe.seed);
  at.nominal = static_cast<double>(batch.rows);
  at.alone = true;
  t.engine->begin();
  PassRecorder recorder(pass);
  if (gradients == Gradients::added) make_gradients(t.engine->model());
  recorder.begin_pass();
  t.engine->accumulate(batch, WatchedLoss(*t.loss, recorder), at);
  pass.totals = t.engine->finish();
  return pass;
}

PassBytes bytes_of_pass(const Training& t, const MeasuredPass& few, const MeasuredPass& many,
                        std::int64_t rows) {
  const ThroughTwo line(few, many, rows);
  const double kept = std::max(0.0, line.at(few.kept, many.kept));
  PassBytes bytes;
  bytes.activations = std::llround(kept);
  double loss = line.most_in(kLoss);
  if (many.places > 0) {
    LossMemory memory(t);
    const auto own = memory.of(many.places / many.rows * rows);
    const auto before = many.before + many.kept;
    loss = static_cast<double>(many.before) + kept +
           static_cast<double>(most_of(many.held[kLoss]) - before) + own.most -
           memory.of(many.places).most;
    bytes.logits = std::llround(own.most - own.end);
  }
  bytes.most = std::llround(std::max({line.most_in(kForward), loss, line.most_in(kBackward)}));
  return bytes;
}

}  // namespace ddptrain
