// sampler shuffle: every sample once, in an order of each epoch's own.
#include "base/random.h"
#include "sources/order/torch_order.h"
#include "sources/sampler.h"

namespace ddptrain {
namespace {

struct ShuffleOptions {
  OrderRule order = OrderRule::philox;
  void fields(Fields& f) {
    f("order", order,
      {.doc = "'torch' gives torch.randperm's order for a CPU generator seeded with seed + epoch, "
              "as DistributedSampler does."});
  }
};

class ShuffleSampler final : public Sampler {
 public:
  ShuffleSampler(OrderRule rule, const SamplerContext& context)
      : rule_(rule), size_(context.size), seed_(context.seed) {}

  std::vector<std::int64_t> order(std::int64_t epoch) const override {
    const auto e = static_cast<std::uint64_t>(epoch);
    if (rule_ == OrderRule::torch) {
      TorchGenerator generator(seed_ + e);
      return torch_randperm(size_, generator);
    }
    Stream random(mix(seed_, hash_text("sampler shuffle")), e);
    return random_order(size_, size_, random);
  }

 private:
  OrderRule rule_;
  std::int64_t size_;
  std::uint64_t seed_;
};

}  // namespace

Entry<Sampler> shuffle_sampler() {
  return entry<Sampler, ShuffleOptions>(
      "shuffle", "Every sample once, in a random order of each epoch's own.",
      [](const ShuffleOptions& options, const SamplerContext& context) -> std::unique_ptr<Sampler> {
        return std::make_unique<ShuffleSampler>(options.order, context);
      });
}

}  // namespace ddptrain
