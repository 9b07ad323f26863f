// How many devices a run can use.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ddptrain {

struct DeviceRate {
  std::int64_t devices = 1;
  double samples_per_second = 0;
};

/// What doubling the devices has to bring, to be worth it.
constexpr double kWorthDoubling = 1.2;

/// Of rates at doubling numbers of devices: the first from which the next brings less than that;
/// nothing if each brings more.
std::optional<std::int64_t> useful_devices(const std::vector<DeviceRate>& rates);

/// That in a sentence.
std::string limit_sentence(const std::vector<DeviceRate>& rates);

}  // namespace ddptrain
