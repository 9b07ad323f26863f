#include "models/tensor_part.h"

namespace ddptrain {

StatePlaces::StatePlaces(const std::vector<NamedTensor>& parameters) {
  for (const auto& named : parameters) order_.emplace(named.name, std::ssize(order_));
}

std::int64_t StatePlaces::next(const std::string& name) {
  constexpr std::int64_t most_of_one = 1 << 20;
  auto parameter = std::ssize(order_);
  for (auto end = name.size(); end != std::string::npos && end > 0; end = name.rfind('.', end - 1))
    if (const auto found = order_.find(name.substr(0, end)); found != order_.end()) {
      parameter = found->second;
      break;
    }
  return parameter * most_of_one + given_[parameter]++;
}

}  // namespace ddptrain
