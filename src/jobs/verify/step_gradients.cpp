#include "jobs/verify/step_gradients.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/full.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/nextafter.h>
#include <ATen/ops/norm.h>
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <map>

#include "base/files/files.h"
#include "base/json.h"
#include "checkpoint/safetensors.h"

namespace ddptrain {
namespace {

constexpr double kNoisyShare = 0.1;

std::string gradients_file(const std::string& folder, std::int64_t step) {
  return fmt::format("{}/gradients-{}.safetensors", folder, step);
}

std::string noted_file(const std::string& folder) { return folder + "/followed.json"; }

std::vector<NamedTensor> gradients_of(const std::vector<NamedTensor>& parameters) {
  std::vector<NamedTensor> all;
  for (const auto& [name, parameter] : parameters)
    if (const auto& gradient = parameter.grad(); gradient.defined())
      all.push_back({name, gradient.detach().cpu()});
  return all;
}

bool is_finite(const std::vector<NamedTensor>& gradients) {
  for (const auto& [name, gradient] : gradients)
    if (!gradient.isfinite().all().item<bool>()) return false;
  return true;
}

std::int64_t count(const at::Tensor& where) { return where.sum().item<std::int64_t>(); }

/// How many numbers of a tensor differ by more than their share.
NoisyTensor noise_of(const std::string& name, const at::Tensor& own, const at::Tensor& given) {
  const auto size = at::maximum(own.abs(), given.abs());
  return {name, count(own.sub(given).abs().gt(size.mul(kNoisyShare))), count(size.gt(0))};
}

/// By a unit in the last place, up and down alternately: of the type in which a parameter is kept.
void shake(const at::Tensor& parameter) {
  const auto flat = parameter.view(-1);
  const auto up = at::full({}, std::numeric_limits<double>::infinity(), parameter.options());
  const auto each_second = [&](std::int64_t first) {
    return flat.slice(0, first, std::nullopt, 2);
  };
  each_second(0).nextafter_(up);
  each_second(1).nextafter_(up.neg());
}

class Follower {
 public:
  Follower(std::string folder, std::string kept, FollowersWeights weights)
      : folder_(std::move(folder)), kept_(std::move(kept)), weights_(weights) {}

  void operator()(const std::vector<NamedTensor>& parameters, std::int64_t step) {
    const at::NoGradGuard no_grad;
    const auto file = gradients_file(kept_, step);
    if (std::filesystem::exists(file))
      follow(parameters, read_safetensors(file).tensors, step);
    else
      note_distance(kInfinite, step);  // the other run left the step out
    if (weights_ == FollowersWeights::shaken)
      for (const auto& [name, parameter] : parameters) shake(parameter);
    write();
  }

 private:
  static constexpr double kInfinite = std::numeric_limits<double>::infinity();

  void follow(const std::vector<NamedTensor>& parameters, const std::vector<NamedTensor>& given,
              std::int64_t step) {
    if (!is_finite(given)) return;
    std::map<std::string, at::Tensor> by_name;
    for (const auto& [name, gradient] : given) by_name.emplace(name, gradient);
    double distance = 0, size = 0;
    for (const auto& [name, parameter] : parameters) {
      const auto found = by_name.find(name);
      const auto& gradient = parameter.grad();
      if (gradient.defined() != (found != by_name.end())) distance = kInfinite;
      if (!gradient.defined() || found == by_name.end()) continue;
      const auto own = gradient.cpu().to(at::kDouble), other = found->second.to(at::kDouble);
      distance = std::hypot(distance, own.sub(other).norm().item<double>());
      size = std::hypot(size, other.norm().item<double>());
      note_noise(noise_of(name, own, other));
      gradient.copy_(found->second);
    }
    const double unit = std::max(size, std::numeric_limits<double>::min());
    note_distance(distance == 0 ? 0 : distance / unit, step);
  }

  void note_distance(double distance, std::int64_t step) {
    if (std::isnan(distance)) distance = kInfinite;
    if (followed_.step > 0 && distance <= followed_.largest) return;
    followed_.largest = distance;
    followed_.step = step;
  }

  void note_noise(const NoisyTensor& now) {
    if (now.noisy == 0) return;
    for (auto& known : followed_.noisy)
      if (known.name == now.name) {
        if (now.noisy > known.noisy) known = now;
        return;
      }
    followed_.noisy.push_back(now);
  }

  void write() const {
    auto noisy = Json::array();
    for (const auto& each : followed_.noisy) noisy.push_back({each.name, each.noisy, each.nonzero});
    const Json json{{"largest", followed_.largest}, {"step", followed_.step}, {"noisy", noisy}};
    write_atomically(noted_file(folder_), json_text(json));
  }

  std::string folder_, kept_;
  FollowersWeights weights_;
  FollowedGradients followed_;
};

}  // namespace

GradientHook keep_gradients(const std::string& folder) {
  return [folder](const std::vector<NamedTensor>& parameters, std::int64_t step) {
    write_safetensors(gradients_file(folder, step), {gradients_of(parameters), {}});
  };
}

GradientHook follow_gradients(const std::string& folder, const std::string& kept,
                              FollowersWeights weights) {
  return Follower(folder, kept, weights);
}

// JSON has no infinite number: null stands for it.
FollowedGradients followed_gradients(const std::string& folder) {
  const auto json = parse_json(read_text(noted_file(folder)));
  FollowedGradients followed;
  const auto& largest = json.at("largest");
  followed.largest =
      largest.is_null() ? std::numeric_limits<double>::infinity() : largest.get<double>();
  followed.step = json.at("step");
  for (const auto& each : json.at("noisy")) followed.noisy.push_back({each[0], each[1], each[2]});
  return followed;
}

}  // namespace ddptrain
