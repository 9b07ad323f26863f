// Orders as torch's CPU generator gives them (torch.Generator().manual_seed(seed)), computed with
// std::mt19937, which is the same engine.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <string_view>
#include <vector>

namespace ddptrain {

/// How an order is drawn: by our Philox streams, or as torch draws it.
enum class OrderRule { philox, torch };
std::span<const std::string_view> names(OrderRule);

class TorchGenerator {
 public:
  explicit TorchGenerator(std::uint64_t seed) : engine_(static_cast<std::uint32_t>(seed)) {}
  std::uint32_t random() { return static_cast<std::uint32_t>(engine_()); }
  std::uint64_t random64();  // the first word is the upper half
  double uniform();          // [0, 1), 53 bits of random64

 private:
  std::mt19937 engine_;
};

/// torch.randperm(n, generator), for fewer than 2^32 / 20 elements (torch changes its rule there).
std::vector<std::int64_t> torch_randperm(std::int64_t n, TorchGenerator& generator);

/// torch.multinomial(weights, draws, replacement=True, generator) on float64 weights.
std::vector<std::int64_t> torch_multinomial(const std::vector<double>& weights, std::int64_t draws,
                                            TorchGenerator& generator);

}  // namespace ddptrain
