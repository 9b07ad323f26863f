// An optimizer's state in the host's memory, and the chunks in which a step moves it.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

#include "optim/state_chunks.h"
#include "optim/state_stream.h"
#include "optim/update.h"

namespace ddptrain {

class OffloadedState {
 public:
  /// `stays`: slots, by number, that are on the host for optimizers to read; they are not moved,
  /// and no parameter is divided, since a step changes them once.
  OffloadedState(StateStream& stream, std::vector<bool> stays);

  /// The state that there will be, in forms without memory, [parameter][slot].
  void expect(const std::vector<std::vector<at::Tensor>>& forms);
  bool stays(std::size_t slot) const { return stays_[slot]; }
  /// Memory for tensors of these forms, one behind another in one block.
  std::vector<at::Tensor> allocate(const std::vector<at::Tensor>& forms) const;

  /// The next steps are of these parameters and this state.
  void plan(const std::vector<Update>& updates);
  /// Calls `move` for each chunk of the updates, whose state is on the device.
  void step(const std::vector<Update>& updates, const std::function<void(const Update&)>& move);
  /// Until the host has the state of the last step.
  void wait() const { stream_.wait(); }

 private:
  struct Chunk {
    std::size_t update = 0;
    std::vector<ChunkPart> parts;
    std::vector<std::vector<at::Tensor>> state;  // [slot][part]
  };

  ChunkMember member_of(std::int64_t elements, const std::vector<at::Tensor>& slots) const;
  void add_chunk(const Update& u, std::size_t update, std::vector<ChunkPart> parts);
  Update part_of(const Update& u, const Chunk& chunk) const;

  StateStream& stream_;
  std::vector<bool> stays_;
  std::vector<Chunk> chunks_;
  std::vector<StateStream::Copies> copies_;  // of each chunk
};

}  // namespace ddptrain
