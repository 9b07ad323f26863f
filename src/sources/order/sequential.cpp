// sampler sequential: samples in the data's own order.
#include <numeric>

#include "sources/sampler.h"

namespace ddptrain {
namespace {

class SequentialSampler final : public Sampler {
 public:
  explicit SequentialSampler(std::int64_t size) : size_(size) {}
  std::vector<std::int64_t> order(std::int64_t) const override {
    std::vector<std::int64_t> all(static_cast<std::size_t>(size_));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }

 private:
  std::int64_t size_;
};

}  // namespace

Entry<Sampler> sequential_sampler() {
  return entry<Sampler, NoOptions>(
      "sequential", "Every sample once, in the data's own order.",
      [](const NoOptions&, const SamplerContext& context) -> std::unique_ptr<Sampler> {
        return std::make_unique<SequentialSampler>(context.size);
      },
      {"in_order"});
}

}  // namespace ddptrain
