#include "recipe/mode.h"

#include <array>

namespace ddptrain {

std::span<const std::string_view> names(Mode) {
  static constexpr std::array<std::string_view, 6> words{"none",  "dp",    "ddp",
                                                         "zero1", "zero2", "fsdp"};
  return words;
}

std::string_view name_of(Mode mode) { return names(mode)[static_cast<std::size_t>(mode)]; }

std::span<const Mode> modes_of_ranks() {
  static constexpr std::array modes{Mode::ddp, Mode::zero1, Mode::zero2, Mode::fsdp};
  return modes;
}

std::vector<Mode> compared_modes(Mode own) {
  std::vector<Mode> modes{Mode::ddp};
  if (has_devices(own) && own != Mode::ddp) modes.push_back(own);
  return modes;
}

bool is_worth_a_word(Mode mode) { return mode != Mode::none && mode != Mode::ddp; }

std::string_view modes_sentence() {
  return "none: one device; dp: replicas in one process; ddp: one process per device; zero1: as "
         "ddp, but each rank has a part of the optimizer's state; zero2: and of gradients; fsdp: "
         "and of weights.";
}

bool has_ranks(Mode mode) { return mode == Mode::ddp || has_shards(mode); }
bool has_shards(Mode mode) { return mode >= Mode::zero1; }
bool has_units(Mode mode) { return mode == Mode::zero2 || mode == Mode::fsdp; }
bool has_replicas(Mode mode) { return mode == Mode::dp; }
bool has_devices(Mode mode) { return has_ranks(mode) || has_replicas(mode); }

}  // namespace ddptrain
