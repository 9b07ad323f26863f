#include "recipe/mode.h"

#include <array>

#include "base/names.h"

namespace ddptrain {

std::span<const std::string_view> names(Mode) {
  return kNameList<"none", "dp", "ddp", "zero1", "zero2", "fsdp", "auto">;
}

std::string_view name_of(Mode mode) { return names(mode)[static_cast<std::size_t>(mode)]; }

std::span<const Mode> modes_of_ranks() {
  static constexpr std::array modes{Mode::ddp, Mode::zero1, Mode::zero2, Mode::fsdp};
  return modes;
}

std::vector<Mode> compared_modes(Mode own) {
  std::vector<Mode> modes{Mode::ddp};
  if (has_shards(own) || has_replicas(own)) modes.push_back(own);
  return modes;
}

bool is_worth_a_word(Mode mode) { return has_shards(mode) || has_replicas(mode); }

std::string_view modes_sentence() {
  return "none: one device; dp: replicas in one process; ddp: one process per device; zero1: as "
         "ddp, but each rank has a part of the optimizer's state; zero2: and of gradients; fsdp: "
         "and of weights; auto: of these with ranks the first in which a step fits into memory.";
}

bool is_chosen_by_a_run(Mode mode) { return mode == Mode::automatic; }
Mode mode_of_one_device() { return Mode::none; }

bool has_ranks(Mode mode) { return mode >= Mode::ddp; }
bool has_shards(Mode mode) { return mode >= Mode::zero1 && mode <= Mode::fsdp; }
bool has_units(Mode mode) { return mode == Mode::zero2 || mode == Mode::fsdp; }
bool may_have_shards(Mode mode) { return has_shards(mode) || mode == Mode::automatic; }
bool may_have_units(Mode mode) { return has_units(mode) || mode == Mode::automatic; }
bool has_replicas(Mode mode) { return mode == Mode::dp; }
bool has_devices(Mode mode) { return has_ranks(mode) || has_replicas(mode); }

}  // namespace ddptrain
