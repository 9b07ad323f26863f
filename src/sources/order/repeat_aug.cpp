// sampler repeat_aug: each sample several times in a row, so that ranks augment the same one
// differently (Hoffer et al. 2020, timm's RepeatAugSampler).
#include "base/random.h"
#include "sources/order/torch_order.h"
#include "sources/sampler.h"

namespace ddptrain {
namespace {

struct RepeatAugOptions {
  std::int64_t repeats = 3;
  Auto<std::int64_t> samples;
  OrderRule order = OrderRule::philox;
  void fields(Fields& f) {
    f("repeats", repeats, {.doc = "How many times a sample comes in a row.", .min = 1});
    f("samples", samples,
      {.doc = "Length of an epoch; auto: as many as there are samples, so that each epoch has a "
              "share of them only.",
       .min = 1});
    f("order", order,
      {.doc =
           "'torch' gives torch.randperm's order for a CPU generator seeded with seed + epoch."});
  }
};

class RepeatAugSampler final : public Sampler {
 public:
  RepeatAugSampler(const RepeatAugOptions& options, const SamplerContext& context)
      : options_(options),
        samples_(options.samples.value.value_or(context.size)),
        context_(context) {}

  std::vector<std::int64_t> order(std::int64_t epoch) const override {
    const auto once = permutation(static_cast<std::uint64_t>(epoch));
    std::vector<std::int64_t> order;
    for (std::int64_t i = 0; i < samples_; ++i)
      order.push_back(once[static_cast<std::size_t>(i / options_.repeats % context_.size)]);
    return order;
  }

 private:
  std::vector<std::int64_t> permutation(std::uint64_t epoch) const {
    if (options_.order == OrderRule::torch) {
      TorchGenerator generator(context_.seed + epoch);
      return torch_randperm(context_.size, generator);
    }
    Stream random(mix(context_.seed, hash_text("sampler repeat_aug")), epoch);
    return random_order(context_.size, context_.size, random);
  }

  RepeatAugOptions options_;
  std::int64_t samples_;
  SamplerContext context_;
};

}  // namespace

Entry<Sampler> repeat_aug_sampler() {
  return entry_of<Sampler, RepeatAugSampler, RepeatAugOptions>(
      "repeat_aug", "Each sample several times in a row, augmented differently each time.",
      {"repeats"});
}

}  // namespace ddptrain
