// sampler partial: a random part of the samples in every epoch (fastai's PartialDL).
#include <algorithm>

#include "base/random.h"
#include "sources/sampler.h"

namespace ddptrain {
namespace {

struct PartialOptions {
  std::int64_t samples = 0;
  void fields(Fields& f) {
    f("samples", samples,
      {.doc =
           "Samples of an epoch, drawn for each epoch without replacement; at most all there are.",
       .min = 1,
       .required = true,
       .unit = "samples",
       .example = "1000"});
  }
};

class PartialSampler final : public Sampler {
 public:
  PartialSampler(std::int64_t samples, const SamplerContext& context)
      : samples_(std::min(samples, context.size)), size_(context.size), seed_(context.seed) {}

  std::vector<std::int64_t> order(std::int64_t epoch) const override {
    Stream random(mix(seed_, hash_text("sampler partial")), static_cast<std::uint64_t>(epoch));
    return random_order(size_, samples_, random);
  }

 private:
  std::int64_t samples_;
  std::int64_t size_;
  std::uint64_t seed_;
};

}  // namespace

Entry<Sampler> partial_sampler() {
  return entry<Sampler, PartialOptions>(
      "partial", "A random part of the samples in every epoch, as fastai's PartialDL.",
      [](const PartialOptions& options, const SamplerContext& context) -> std::unique_ptr<Sampler> {
        return std::make_unique<PartialSampler>(options.samples, context);
      });
}

}  // namespace ddptrain
