// sampler weighted: draws with replacement, in proportion to the samples' weights.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <span>

#include "base/error.h"
#include "base/names.h"
#include "base/output/log.h"
#include "base/random.h"
#include "sources/order/torch_order.h"
#include "sources/sampler.h"

namespace ddptrain {
namespace {

enum class WeighedBy { weights, classes };
std::span<const std::string_view> names(WeighedBy) { return kNameList<"weights", "classes">; }

struct WeightedOptions {
  WeighedBy by = WeighedBy::weights;
  Auto<std::int64_t> samples;
  OrderRule order = OrderRule::philox;
  void fields(Fields& f) {
    f("by", by,
      {.doc = "weights: those that the data gives its samples; classes: 1 / (samples of the same "
              "class), so that all classes are drawn alike."});
    f("samples", samples,
      {.doc = "Draws of an epoch; auto: as many as there are samples.", .min = 1});
    f("order", order,
      {.doc = "'torch' draws as torch's WeightedRandomSampler with a CPU generator seeded with "
              "seed + epoch."});
  }
};

/// Walker's alias table in Vose's form (IEEE Trans. Software Eng. 17, 1991): a draw costs one look.
class AliasTable {
 public:
  explicit AliasTable(const std::vector<double>& weights)
      : keep_(weights.size()), other_(weights.size()) {
    const double mean =
        std::accumulate(weights.begin(), weights.end(), 0.0) / static_cast<double>(weights.size());
    std::vector<std::size_t> below, above;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      keep_[i] = weights[i] / mean;
      (keep_[i] < 1 ? below : above).push_back(i);
    }
    while (!below.empty() && !above.empty()) {
      const auto small = below.back(), large = above.back();
      below.pop_back();
      other_[small] = large;
      keep_[large] -= 1 - keep_[small];
      if (keep_[large] >= 1) continue;
      above.pop_back();
      below.push_back(large);
    }
    for (const auto i : below) keep_[i] = 1;  // rounding left them a hair below the mean
  }

  std::int64_t draw(Stream& random) const {
    const auto i = random.below(keep_.size());
    return static_cast<std::int64_t>(random.uniform() < keep_[i] ? i : other_[i]);
  }

 private:
  std::vector<double> keep_;
  std::vector<std::size_t> other_;
};

void require_usable(const SamplerContext& context) {
  double sum = 0;
  for (const double weight : context.weights) {
    if (!(weight >= 0) || std::isinf(weight))
      throw Error(Exit::data, Option{"data.sampler"},
                  "a sample's weight is negative or not finite");
    sum += weight;
  }
  if (!context.weights.empty() && !(sum > 0))
    throw Error(Exit::data, Option{"data.sampler"}, "all weights are 0");
}

std::vector<double> balancing_weights(const SamplerContext& context) {
  std::map<std::int64_t, double> samples_of;
  std::vector<std::int64_t> labels;
  for (std::int64_t i = 0; i < context.size; ++i) {
    labels.push_back(context.label(i));
    if (labels.back() < 0)
      throw Error(Exit::data, Option{"data.sampler"},
                  "'by: classes' is for samples of one class each; sample {} has not one", i);
    ++samples_of[labels.back()];
  }
  std::vector<double> weights;
  for (const auto label : labels) weights.push_back(1 / samples_of.at(label));
  return weights;
}

std::vector<double> weights_of(const WeightedOptions& options, const SamplerContext& context) {
  if (options.by == WeighedBy::classes) return balancing_weights(context);
  require_usable(context);
  if (!context.weights.empty()) return context.weights;
  log::warning("sampler weighted: the data has no weights, so all samples weigh the same");
  return std::vector<double>(static_cast<std::size_t>(context.size), 1.0);
}

class WeightedSampler final : public Sampler {
 public:
  WeightedSampler(const WeightedOptions& options, const SamplerContext& context)
      : rule_(options.order),
        samples_(options.samples.value.value_or(context.size)),
        seed_(context.seed),
        weights_(weights_of(options, context)),
        table_(weights_) {}

  std::vector<std::int64_t> order(std::int64_t epoch) const override {
    const auto e = static_cast<std::uint64_t>(epoch);
    if (rule_ == OrderRule::torch) {
      TorchGenerator generator(seed_ + e);
      return torch_multinomial(weights_, samples_, generator);
    }
    Stream random(mix(seed_, hash_text("sampler weighted")), e);
    std::vector<std::int64_t> drawn(static_cast<std::size_t>(samples_));
    for (auto& index : drawn) index = table_.draw(random);
    return drawn;
  }

 private:
  OrderRule rule_;
  std::int64_t samples_;
  std::uint64_t seed_;
  std::vector<double> weights_;
  AliasTable table_;
};

}  // namespace

Entry<Sampler> weighted_sampler() {
  return entry_of<Sampler, WeightedSampler, WeightedOptions>(
      "weighted", "Draws with replacement in proportion to the samples' weights.",
      {"wants_weights"});
}

}  // namespace ddptrain
