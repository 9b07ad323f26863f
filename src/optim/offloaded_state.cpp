#include "optim/offloaded_state.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <utility>

namespace ddptrain {
namespace {

std::int64_t bytes_of(const at::Tensor& tensor) {
  return tensor.numel() * static_cast<std::int64_t>(tensor.element_size());
}

/// A tensor of a form, of bytes from `first` on.
at::Tensor formed(const at::Tensor& bytes, std::int64_t first, const at::Tensor& form) {
  return bytes.narrow(0, first, bytes_of(form))
      .view(form.scalar_type())
      .as_strided(form.sizes(), form.strides());
}

/// Elements of a dense tensor in order of memory.
at::Tensor elements_of(const at::Tensor& tensor, const ChunkPart& part) {
  if (part.elements == tensor.numel()) return tensor;
  return tensor.as_strided({part.elements}, {1}, tensor.storage_offset() + part.first);
}

/// Copies between the host's memory and a buffer; neighbors in both are copied at once.
class Runs {
 public:
  explicit Runs(at::Tensor buffer) : buffer_(std::move(buffer)) {}

  void add(const at::Tensor& host, std::int64_t there) {
    const auto size = static_cast<std::int64_t>(host.element_size());
    const auto first = host.storage_offset() * size;
    if (host.numel() == 0) return;
    if (runs_.empty() || !runs_.back().goes_on(host, first, there))
      runs_.push_back({host, first, there, 0});
    auto& run = runs_.back();
    run.bytes = first + host.numel() * size - run.first;
  }

  StateStream::Copies copies() const {
    StateStream::Copies all;
    for (const auto& run : runs_) {
      const auto host =
          at::empty({0}, at::kByte).set_(run.host.storage(), run.first, {run.bytes}, {1});
      all.push_back({host, buffer_.narrow(0, run.there, run.bytes)});
    }
    return all;
  }

 private:
  struct Run {
    at::Tensor host;
    std::int64_t first, there, bytes;
    bool goes_on(const at::Tensor& next, std::int64_t next_first, std::int64_t next_there) const {
      return next.is_alias_of(host) && next_first - first == next_there - there;
    }
  };

  at::Tensor buffer_;
  std::vector<Run> runs_;
};

}  // namespace

OffloadedState::OffloadedState(StateStream& stream, std::vector<bool> stays)
    : stream_(stream), stays_(std::move(stays)) {}

ChunkMember OffloadedState::member_of(std::int64_t elements,
                                      const std::vector<at::Tensor>& slots) const {
  ChunkMember member{elements, {}, stream_.options().divides_parameters};
  for (std::size_t s = 0; s < slots.size(); ++s) {
    if (stays_[s]) member.divisible = false;
    if (stays_[s] || !slots[s].defined()) continue;
    member.slot_bytes.push_back(bytes_of(slots[s]));
    if (slots[s].numel() != elements) member.divisible = false;
  }
  return member;
}

void OffloadedState::expect(const std::vector<std::vector<at::Tensor>>& forms) {
  std::int64_t all = 0, largest = 0;
  for (const auto& slots : forms) {
    std::int64_t elements = 0;
    for (std::size_t s = 0; s < slots.size(); ++s)
      if (!stays_[s] && slots[s].defined()) elements = std::max(elements, slots[s].numel());
    const auto member = member_of(elements, slots);
    all += member.bytes_of(elements);
    const auto at_once = member.divisible ? std::min(elements, kChunkUnit) : elements;
    largest = std::max(largest, member.bytes_of(at_once));
  }
  stream_.expect(all, largest);
}

std::vector<at::Tensor> OffloadedState::allocate(const std::vector<at::Tensor>& forms) const {
  std::int64_t bytes = 0;
  for (const auto& form : forms)
    if (form.defined()) bytes += aligned_bytes(bytes_of(form));
  const auto block = stream_.host(bytes);
  std::vector<at::Tensor> all;
  std::int64_t first = 0;
  for (const auto& form : forms) {
    all.push_back(form.defined() ? formed(block, first, form) : at::Tensor());
    if (form.defined()) first += aligned_bytes(bytes_of(form));
  }
  return all;
}

void OffloadedState::plan(const std::vector<Update>& updates) {
  chunks_.clear();
  copies_.clear();
  for (std::size_t i = 0; i < updates.size(); ++i) {
    const auto& u = updates[i];
    std::vector<ChunkMember> members;
    for (std::size_t p = 0; p < u.parameters.size(); ++p) {
      std::vector<at::Tensor> slots;
      for (const auto& slot : u.state) slots.push_back(slot[p]);
      members.push_back(member_of(u.parameters[p].numel(), slots));
    }
    for (auto& parts : cut_into_chunks(members, stream_.buffer_bytes()))
      add_chunk(u, i, std::move(parts));
  }
}

void OffloadedState::add_chunk(const Update& u, std::size_t update, std::vector<ChunkPart> parts) {
  const auto buffer = stream_.buffer(chunks_.size());
  Runs runs(buffer);
  Chunk chunk{update, std::move(parts), {}};
  chunk.state.resize(u.state.size());
  std::int64_t there = 0;
  for (std::size_t s = 0; s < u.state.size(); ++s)
    for (const auto& part : chunk.parts) {
      const auto& slot = u.state[s][part.member];
      if (stays_[s] || !slot.defined()) {
        chunk.state[s].push_back(slot);
        continue;
      }
      const bool whole = part.elements == u.parameters[part.member].numel();
      const auto host = whole ? slot : elements_of(slot, part);
      runs.add(host, there);
      chunk.state[s].push_back(formed(buffer, there, host));
      there += aligned_bytes(bytes_of(host));
    }
  chunks_.push_back(std::move(chunk));
  copies_.push_back(runs.copies());
}

/// Its parameters and gradients are views, for memory of both may be another one in each step.
Update OffloadedState::part_of(const Update& u, const Chunk& chunk) const {
  Update part;
  part.step = u.step;
  part.lr = u.lr;
  part.weight_decay = u.weight_decay;
  part.momentum = u.momentum;
  part.refused = u.refused;
  part.rate_there = u.rate_there;
  part.group = u.group;
  part.state = chunk.state;
  for (const auto& each : chunk.parts) {
    part.parameters.push_back(elements_of(u.parameters[each.member], each));
    part.gradients.push_back(elements_of(u.gradients[each.member], each));
    part.steps.push_back(u.steps[each.member]);
    part.members.push_back(u.members[each.member]);
  }
  return part;
}

void OffloadedState::step(const std::vector<Update>& updates,
                          const std::function<void(const Update&)>& move) {
  stream_.run(copies_, [&](std::size_t k) {
    const auto& chunk = chunks_[k];
    move(part_of(updates[chunk.update], chunk));
  });
}

}  // namespace ddptrain
