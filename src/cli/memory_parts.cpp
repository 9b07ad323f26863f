#include "cli/memory_parts.h"

#include <algorithm>

#include "base/text.h"
#include "recipe/mode.h"

namespace ddptrain {

MemoryParts memory_parts(const ModelFacts& facts, const ShardSpec& shard, std::int64_t known,
                         std::int64_t micro, std::int64_t node) {
  MemoryParts parts{.weights = static_cast<double>(facts.weight_bytes),
                    .gradients = static_cast<double>(facts.gradient_bytes),
                    .optimizer = static_cast<double>(facts.optimizer_bytes),
                    .average = static_cast<double>(facts.average_bytes)};
  const auto activations = static_cast<double>(facts.step.activations);
  parts.rest = static_cast<double>(facts.step.most) - parts.weights - parts.gradients -
               parts.optimizer - parts.average - activations;
  parts.activations = activations * static_cast<double>(micro) / static_cast<double>(known);
  parts.group = shard.ranks(0, node);
  parts.whole_gradients = shard.reduce == ShardReduce::last;
  if (shard.offload == Offload::optimizer) {
    parts.buffer = static_cast<double>(kStateBuffer);
    parts.whole_state = static_cast<double>(facts.whole_state);
  }
  const auto all = static_cast<double>(facts.parameters);
  if (all > 0) {
    parts.root = static_cast<double>(facts.root) / all;
    parts.block = static_cast<double>(facts.largest) / all;
    parts.cast = static_cast<double>(facts.cast) / all;
  }
  return parts;
}

Mode mode_with_room(const MemoryParts& parts, std::int64_t devices, double bytes) {
  if (devices == 1) return mode_of_one_device();
  const auto needed = [&](Mode mode) {
    return device_bytes(parts, sharding_of(name_of(mode)), devices);
  };
  const auto modes = modes_of_ranks();
  const auto first =
      std::ranges::find_if(modes, [&](Mode mode) { return leaves_room(needed(mode), bytes); });
  return first != modes.end() ? *first : *std::ranges::min_element(modes, {}, needed);
}

std::string memory_of_modes(const MemoryParts& parts, std::int64_t devices) {
  std::string text;
  for (const auto mode : modes_of_ranks()) {
    const auto name = name_of(mode);
    const auto bytes = device_bytes(parts, sharding_of(name), devices);
    text += (text.empty() ? "" : ", ") + std::string(name) + " " +
            format_bytes(static_cast<std::int64_t>(bytes));
  }
  return text;
}

}  // namespace ddptrain
