// mix mixup: weighted means of two samples (Zhang et al., 2018; fastai.callback.mixup.MixUp).
#include <algorithm>

#include "base/error.h"
#include "data/mix.h"

namespace ddptrain {
namespace {

class Mixup final : public Mix {
 public:
  struct Options : MixOptions {
    Options() { alpha = 0.4; }
  };
  explicit Mixup(const Options& options) : options_(options) {}

  void check(const Batch& example) const override {
    if (example.pixels) return;
    for (const auto& input : example.inputs)
      if (!input.is_floating_point())
        throw Error(
            Exit::recipe, Option{"data.mix"},
            "mixup takes means of numbers, and this data has names or words among its inputs");
  }

  RowMix draw(std::span<const at::Tensor>, MixDraws& draws) const override {
    auto& random = stream(draws, options_.per);
    if (random.uniform() >= options_.p) return {};
    const double drawn = draw_beta(options_.alpha, random);
    return {RowMix::How::blend, std::max(drawn, 1 - drawn)};  // mostly itself, as in fastai
  }
  bool blends() const override { return true; }

 private:
  Options options_;
};

}  // namespace

Entry<Mix> mixup_mix() {
  return entry_of<Mix, Mixup>(
      "mixup", "Weighted means of pairs of samples; the loss takes the targets of both.");
}

}  // namespace ddptrain
