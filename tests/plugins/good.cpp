// A plug-in of one loss: the squared difference times an option.
#include "config/plugin_components.h"
#include "losses/loss.h"
#include "losses/rows.h"

namespace ddptrain {
namespace {

class Scaled final : public Loss {
 public:
  struct Options {
    double factor = 2;
    void fields(Fields& f) { f("factor", factor, {.doc = "What it is multiplied by.", .min = 0}); }
  };
  explicit Scaled(const Options& options) : factor_(options.factor) {}
  LossTerms operator()(const at::Tensor& output, const at::Tensor& target) const override {
    return of_known_numbers(output, target, [this](const at::Tensor& a, const at::Tensor& b) {
      return a.sub(b).square().mul(factor_);
    });
  }

 private:
  double factor_;
};

}  // namespace
}  // namespace ddptrain

DDPTRAIN_PLUGIN(components) {
  using ddptrain::Loss, ddptrain::Scaled;
  components.add(ddptrain::entry<Loss, Scaled::Options>(
      PLUGIN_LOSS, "The squared difference times a factor.",
      [](const Scaled::Options& options, const ddptrain::LossContext&) {
        return std::make_unique<Scaled>(options);
      },
      {PLUGIN_TRAIT}));
}
