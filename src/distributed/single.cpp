// mode: none. One replica; gradients are what autograd leaves.
#include "distributed/engine.h"
#include "distributed/replica.h"
#include "distributed/window_numbers.h"

namespace ddptrain {
namespace {

class SingleEngine final : public Engine, private PassCapture {
 public:
  SingleEngine(const ModelFactory& factory, const EngineOptions& options)
      : replica_(placed(factory(), options.numerics, options.device), options, options.device,
                 carried_) {}

  Model& model() override { return replica_.model(); }
  void freeze(const Frozen& frozen) override { ddptrain::freeze(replica_.model(), frozen); }
  void begin() override {
    replica_.begin();
    counts_ = {};
  }

  void accumulate(const Batch& batch, const Loss& loss, const MicroStep& at) override {
    counts_.add(batch, at);
    if (batch.rows > 0) replica_.train(batch, loss, at, nullptr);
  }

  at::Tensor sum(bool asked) override {
    auto numbers = host_.behind(replica_.sums(), counted(counts_, asked));
    look_at_gradients(numbers, replica_.gradients());
    return numbers;
  }

  void broadcast_buffers() override {}
  void parameters_changed() override {}
  at::Tensor forward(const Batch& batch, const Pass& pass) override {
    return replica_.forward(batch, pass);
  }
  PassCapture& capture() override { return *this; }

 private:
  std::string obstacle() const override { return {}; }
  PassResults results() override { return replica_.results(); }
  void restore(const PassResults& results) override {
    replica_.restore(results);
    counts_ = {};
  }
  void upload(bool asked) override { host_.on(replica_.sums().device(), counted(counts_, asked)); }

  Replica replica_;
  HostCounts counts_;  // in this window
  HostNumbers host_;
};

}  // namespace

std::unique_ptr<Engine> make_single_engine(const ModelFactory& factory,
                                           const EngineOptions& options) {
  return std::make_unique<SingleEngine>(factory, options);
}

}  // namespace ddptrain
