
#include "base/output/log.h"
#include "callbacks/writers.h"

namespace ddptrain {
namespace {

class TextLines final : public Callback {
 public:
  void at(Moment moment, const RunView& run, RunControl&) override {
    if (moment != Moment::evaluated) return;
    for (const auto& each : run.texts) {
      log::info("step {}  {} > {}", run.step, each.weights, each.prompt);
      log::info("step {}  {} |{}", run.step, each.weights, each.text);
    }
  }
};

}  // namespace

std::unique_ptr<Callback> make_text_lines() { return std::make_unique<TextLines>(); }

}  // namespace ddptrain
