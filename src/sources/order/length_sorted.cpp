// sampler length_sorted: samples of nearly equal length in each batch (fastai's SortedDL), so that
// little of it is padding.
#include "base/error.h"
#include "base/names.h"
#include "base/random.h"
#include "sources/order/length_order.h"
#include "sources/sampler.h"

namespace ddptrain {

enum class LengthRule { balanced, fastai };

std::span<const std::string_view> names(LengthRule) { return kNameList<"balanced", "fastai">; }

namespace {

struct LengthSortedOptions {
  bool shuffle = true;
  std::int64_t chunk = 100;
  LengthRule order = LengthRule::balanced;
  void fields(Fields& f) {
    f("shuffle", shuffle,
      {.doc = "Another order in every epoch; false: from the longest to the shortest."});
    f("chunk", chunk,
      {.doc = "Batches' worth of samples drawn at random and sorted together: more mean less "
              "padding, fewer more chance (fastai: 50).",
       .min = 1});
    f("order", order,
      {.doc = "balanced: parts of a batch have nearly equally many tokens, so ranks wait little "
              "for each other; fastai: as its SortedDL."});
  }
};

class LengthSorted final : public Sampler {
 public:
  LengthSorted(const LengthSortedOptions& options, const SamplerContext& context)
      : options_(options), context_(context) {
    if (context_.lengths.empty() && context_.size > 0)
      throw Error(Exit::recipe, Option{"data.sampler"},
                  "'length_sorted' is for samples of different lengths, and these are all alike; "
                  "'shuffle' gives a random order");
  }

  std::vector<std::int64_t> order(std::int64_t epoch) const override {
    if (!options_.shuffle) return falling_order(context_.lengths);
    Stream random(mix(context_.seed, hash_text("sampler length_sorted")),
                  static_cast<std::uint64_t>(epoch));
    const auto n = context_.size, batch = context_.global;
    const LengthOrder parts{batch, options_.chunk, random_order(n, n, random)};
    const bool fastai = options_.order == LengthRule::fastai;
    const auto batches = fastai ? fastai_batches(n, batch) : balanced_batches(n, batch);
    const auto shuffled = random_order(batches, batches, random);
    return fastai ? fastai_order(context_.lengths, parts, shuffled)
                  : balanced_order(context_.lengths, parts, shuffled);
  }

 private:
  LengthSortedOptions options_;
  SamplerContext context_;
};

}  // namespace

Entry<Sampler> length_sorted_sampler() {
  return entry_of<Sampler, LengthSorted, LengthSortedOptions>(
      "length_sorted", "Samples of nearly equal length in each batch, as fastai's SortedDL.",
      {"wants_texts"});
}

}  // namespace ddptrain
