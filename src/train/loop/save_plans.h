// Where the checkpoints of a run go, and how often.
#pragma once

#include <cstdint>
#include <optional>

#include "recipe/period.h"
#include "train/loop/checkpoint_writer.h"

namespace ddptrain {

class Group;
struct Hooks;
struct RunState;
struct Training;
struct World;

/// To the run folder.
SavePlan shared_save(const Training& training, const RunState& state, const Hooks& hooks);
/// To the disks of the nodes (checkpoint.local).
SavePlan local_save(const Training& training, const Hooks& hooks);

/// How often there; nothing where none go there.
std::optional<Period> locally_every(const Training& training, const Hooks& hooks);

/// Those who write a checkpoint together, by the thread that trains or by one of its own; null:
/// this rank is alone.
Group* saving_group(const World& world, bool at_once);

/// What is being written.
struct SaveUnderWay {
  std::int64_t step = 0;
  double epoch = 0;
  bool locally = false;
};

}  // namespace ddptrain
