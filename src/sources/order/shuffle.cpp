// sampler shuffle: every sample once, in an order of each epoch's own.
#include <optional>

#include "base/error.h"
#include "base/random.h"
#include "sources/order/torch_order.h"
#include "sources/order/windowed_order.h"
#include "sources/sampler.h"

namespace ddptrain {
namespace {

struct ShuffleOptions {
  OrderRule order = OrderRule::philox;
  std::optional<std::int64_t> window;
  void fields(Fields& f) {
    f("order", order,
      {.doc = "'torch' gives torch.randperm's order for a CPU generator seeded with seed + epoch, "
              "as DistributedSampler does."});
    f("window", window,
      {.doc = "Shuffles shards, and samples within so many consecutive ones, so that only these "
              "are read at a time; null shuffles all samples. For data in shards.",
       .min = 1,
       .unit = "shards"});
    f.require(needs("window", is("order", "philox")));
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

class WindowedSampler final : public Sampler {
 public:
  WindowedSampler(std::int64_t window, const SamplerContext& context)
      : order_(context.size, shards_of(context), window, context.seed) {}
  std::vector<std::int64_t> order(std::int64_t epoch) const override { return order_.all(epoch); }

 private:
  static std::function<std::int64_t(std::int64_t)> shards_of(const SamplerContext& context) {
    if (context.shard && (context.size == 0 || context.shard(0) >= 0)) return context.shard;
    throw Error(Exit::recipe, Option{"data.sampler.window"},
                "counts shards, and these data have none; leave it out, or write the data as "
                "shards ('ddptrain data shards RECIPE FOLDER')");
  }

  WindowedOrder order_;
};

}  // namespace

Entry<Sampler> shuffle_sampler() {
  return entry<Sampler, ShuffleOptions>(
      "shuffle", "Every sample once, in a random order of each epoch's own.",
      [](const ShuffleOptions& options, const SamplerContext& context) -> std::unique_ptr<Sampler> {
        if (options.window) return std::make_unique<WindowedSampler>(*options.window, context);
        return std::make_unique<ShuffleSampler>(options.order, context);
      });
}

}  // namespace ddptrain
