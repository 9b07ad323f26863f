#include "forecast/limit.h"

#include <fmt/format.h>

#include "base/text.h"

namespace ddptrain {

std::optional<std::int64_t> useful_devices(const std::vector<DeviceRate>& rates) {
  for (std::size_t i = 0; i + 1 < rates.size(); ++i)
    if (rates[i + 1].samples_per_second < kWorthDoubling * rates[i].samples_per_second)
      return rates[i].devices;
  return {};
}

std::string limit_sentence(const std::vector<DeviceRate>& rates) {
  const auto gain = format_fixed(100 * (kWorthDoubling - 1), 0) + " %";
  if (const auto devices = useful_devices(rates))
    return fmt::format("beyond {}, doubling them gives less than {} more samples a second",
                       plural(*devices, "device"), gain);
  return fmt::format("up to {}, each doubling gives at least {} more samples a second",
                     plural(rates.back().devices, "device"), gain);
}

}  // namespace ddptrain
