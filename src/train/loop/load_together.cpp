#include "train/loop/load_together.h"

#include "base/error.h"
#include "checkpoint/verify.h"
#include "distributed/world.h"

namespace ddptrain {

Checkpoint load_together(const std::string& folder, World& world) {
  std::string damage;
  try {
    verify_checkpoint(folder, {world.rank, world.size});
  } catch (const Error& error) {
    damage = error.what();
  }
  for (const auto& found : gather_text(*world.control, damage))
    if (!found.empty()) throw Error(Exit::data, found);
  return map_checkpoint(folder);
}

}  // namespace ddptrain
