// A net with batch norm and dropout for tests of engines.
#pragma once

#include <ATen/CPUGeneratorImpl.h>

#include "nets.h"
#include "support/node.h"

namespace ddptrain::test {

/// Convolutions, batch norm with these options, dropout.
inline ModelFactory conv_net(const nlohmann::json& norm = {{"type", "batch_norm"}}) {
  return [norm] {
    ModelContext context;
    context.data.classes.resize(3);
    context.generator = at::make_generator<at::CPUGeneratorImpl>(5);
    const nlohmann::json layers{
        {{"type", "conv"}, {"out", 4}, {"padding", 1}, {"bias", false}},
        norm,
        {{"type", "relu"}},
        {{"type", "max_pool"}},
        {{"type", "conv"}, {"out", 5}, {"padding", 1}},
        norm,
        {{"type", "relu"}},
        {{"type", "dropout"}, {"p", 0.3}},
        {{"type", "adaptive_avg_pool"}},
        {{"type", "flatten"}},
        {{"type", "linear"}, {"out", 3}},
    };
    return catalog<Model>().build(
        fragment<Model>({{"type", "sequential"}, {"input", {2, 4, 4}}, {"layers", layers}}),
        context);
  };
}

}  // namespace ddptrain::test
