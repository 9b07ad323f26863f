#include "train/step/swapped.h"

#include <unordered_map>

namespace ddptrain {

Swapped::Swapped(std::vector<NamedTensor> live, const std::vector<NamedTensor>& lent) {
  std::unordered_map<std::string, at::Tensor> by_name;
  for (const auto& [name, tensor] : lent) by_name.emplace(name, tensor);
  for (auto& [name, tensor] : live) {
    const auto found = by_name.find(name);
    if (found == by_name.end()) continue;
    kept_.push_back(tensor.detach());
    tensor.set_data(found->second);
    live_.push_back(std::move(tensor));
  }
}

Swapped::~Swapped() {
  for (std::size_t i = 0; i < live_.size(); ++i) live_[i].set_data(kept_[i]);
}

}  // namespace ddptrain
