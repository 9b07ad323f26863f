// mode: none. One replica; gradients are what autograd leaves.
#include "distributed/engine.h"
#include "distributed/replica.h"

namespace ddptrain {
namespace {

class SingleEngine final : public Engine {
 public:
  SingleEngine(const ModelFactory& factory, const EngineOptions& options)
      : replica_(factory(), options.numerics, options.device) {}

  Model& model() override { return replica_.model(); }
  void freeze(const Frozen& frozen) override { ddptrain::freeze(replica_.model(), frozen); }
  void begin() override {
    replica_.begin();
    left_out_ = 0;
    data_lost_ = false;
  }

  void accumulate(const Batch& batch, const Loss& loss, const MicroStep& at) override {
    scaled_ = at.scaled;
    left_out_ += batch.left_out;
    data_lost_ = data_lost_ || at.data_lost;
    if (batch.rows > 0) replica_.train(batch, loss, at, nullptr);
  }

  StepTotals finish() override {
    auto totals = replica_.totals();
    totals.left_out = left_out_;
    totals.data_lost = data_lost_;
    if (scaled_ && totals.finite) totals.finite = all_finite(replica_.gradients());
    return totals;
  }

  void broadcast_buffers() override {}
  void parameters_changed() override {}
  void observe(const Batch& batch, const Pass& pass) override { replica_.observe(batch, pass); }
  at::Tensor evaluate(const Batch& batch) override { return replica_.evaluate(batch); }

 private:
  Replica replica_;
  bool scaled_ = false;  // by a loss scale that can overflow gradients
  std::int64_t left_out_ = 0;
  bool data_lost_ = false;
};

}  // namespace

std::unique_ptr<Engine> make_single_engine(const ModelFactory& factory,
                                           const EngineOptions& options) {
  return std::make_unique<SingleEngine>(factory, options);
}

}  // namespace ddptrain
