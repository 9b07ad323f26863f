#include "models/text/token_rows.h"

#include <ATen/ops/arange.h>

namespace ddptrain {

at::Tensor at_the_left(const at::Tensor& tokens, std::int64_t padding) {
  const auto order = tokens.eq(padding).to(at::kByte).argsort(/*stable=*/true, 1);
  return tokens.gather(1, order);
}

// The padding that at_the_left moved behind the tokens is what comes in front, round the corner.
at::Tensor in_whole_segments(const at::Tensor& tokens, std::int64_t padding, std::int64_t segment) {
  const auto time = tokens.size(1);
  const auto padded = tokens.eq(padding).sum(1, /*keepdim=*/true);
  const auto front = padded.sub(padded.remainder(segment));
  const auto places = at::arange(time, tokens.options()).unsqueeze(0).sub(front).remainder(time);
  return at_the_left(tokens, padding).gather(1, places);
}

}  // namespace ddptrain
