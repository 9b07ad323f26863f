// Filters of sampling against transformers' logits processors.
#include <gtest/gtest.h>

#include <algorithm>

#include "config/decode.h"
#include "generation/sampling.h"
#include "support/golden.h"
#include "support/node.h"

namespace ddptrain::golden {

GOLDEN(language_models, sampling_filter) {
  const auto options = decode<SamplingOptions>(to_node(c.input.at("options")));
  const auto before = c.input.at("tokens_before").get<std::vector<std::int64_t>>();
  const auto found = probabilities(numbers(c.input.at("logits")), before, options);
  const auto expected = numbers(c.expect.at("probabilities"));
  expect_close(found, expected, 0, 1e-10 * *std::max_element(expected.begin(), expected.end()),
               "probabilities");
  EXPECT_EQ(std::count_if(found.begin(), found.end(), [](double p) { return p > 0; }),
            c.expect.at("kept").get<std::int64_t>());
}

}  // namespace ddptrain::golden
