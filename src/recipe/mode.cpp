#include "recipe/mode.h"

#include <array>

namespace ddptrain {

std::span<const std::string_view> names(Mode) {
  static constexpr std::array<std::string_view, 3> words{"none", "dp", "ddp"};
  return words;
}

std::string_view modes_sentence() {
  return "none: one device; dp: replicas in one process; ddp: one process per device.";
}

bool has_ranks(Mode mode) { return mode == Mode::ddp; }
bool has_replicas(Mode mode) { return mode == Mode::dp; }
bool has_devices(Mode mode) { return has_ranks(mode) || has_replicas(mode); }

}  // namespace ddptrain
