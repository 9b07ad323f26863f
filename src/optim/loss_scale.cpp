// The factor that keeps float16 gradients above zero: torch.amp.GradScaler's arithmetic.
#include "optim/loss_scale.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace ddptrain {

void LossScale::update(bool finite) {
  if (!finite) {
    scale_ = static_cast<float>(scale_ * options_.backoff);  // torch keeps a float
    finite_steps_ = 0;
    return;
  }
  if (++finite_steps_ < options_.growth_interval) return;
  finite_steps_ = 0;
  const auto grown = static_cast<float>(scale_ * options_.growth);
  if (std::isfinite(grown)) scale_ = grown;
}

std::string LossScale::state() const {
  return nlohmann::ordered_json{{"scale", scale_}, {"finite_steps", finite_steps_}}.dump();
}

void LossScale::load(const std::string& state) {
  const auto json = nlohmann::json::parse(state);
  scale_ = json.at("scale");
  finite_steps_ = json.at("finite_steps");
}

}  // namespace ddptrain
