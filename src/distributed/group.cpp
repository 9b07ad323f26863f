#include "distributed/group.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace ddptrain {
namespace {

class Finished final : public Pending {
 public:
  void wait() override {}
};

class SingleGroup final : public Group {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::vector<at::Tensor> all_gather(const at::Tensor& tensor) override {
    return {tensor.detach().clone()};
  }
  void all_reduce(at::Tensor&) override {}
  std::unique_ptr<Pending> all_reduce_async(at::Tensor&) override {
    return std::make_unique<Finished>();
  }
  void broadcast(at::Tensor&, int) override {}
  std::unique_ptr<Pending> all_gather_async(at::Tensor&, const Cuts&) override {
    return std::make_unique<Finished>();
  }
  std::unique_ptr<Pending> exchange_async(const at::Tensor& flat, const Cuts&,
                                          at::Tensor& parts) override {
    parts.view(-1).copy_(flat);
    return std::make_unique<Finished>();
  }
  void send(const at::Tensor&, int) override { DDP_CHECK(false, "a group of one has no other"); }
  void receive(at::Tensor&, int) override { DDP_CHECK(false, "a group of one has no other"); }
  void barrier() override {}
  bool can_be_captured() const override { return true; }
  void abort(const std::string&) override {}
};

at::Tensor tensor_of(const std::string& text) {
  auto bytes = at::empty({static_cast<std::int64_t>(text.size())}, at::kByte);
  std::memcpy(bytes.data_ptr(), text.data(), text.size());
  return bytes;
}

std::string text_of(const at::Tensor& bytes) {
  return {static_cast<const char*>(bytes.const_data_ptr()),
          static_cast<std::size_t>(bytes.numel())};
}

at::Tensor flat_bytes(const at::Tensor& tensor) {
  return tensor.detach().contiguous().reshape(-1).view(at::kByte);
}

}  // namespace

at::Tensor Group::buffer(std::int64_t elements, const at::TensorOptions& options) {
  return at::zeros({elements}, options);
}

/// With this sum over all, a member has its own slice of it too.
std::unique_ptr<Pending> Group::reduce_scatter_async(at::Tensor& flat, const Cuts&) {
  return all_reduce_async(flat);
}

at::Tensor slice_of(const at::Tensor& flat, const Cuts& cuts, int member) {
  const auto r = static_cast<std::size_t>(member);
  return flat.narrow(0, cuts[r], cuts[r + 1] - cuts[r]);
}

Cuts even_cuts(std::int64_t elements, int members, std::int64_t unit) {
  const auto units = (elements + unit - 1) / unit;
  const auto length = (units + members - 1) / members * unit;
  Cuts cuts;
  for (int r = 0; r <= members; ++r) cuts.push_back(std::min(elements, r * length));
  return cuts;
}

std::unique_ptr<Group> make_single_group() { return std::make_unique<SingleGroup>(); }

std::vector<at::Tensor> gather_rows(Group& group, const at::Tensor& rows) {
  std::vector<std::int64_t> counts;
  for (const auto& count : group.all_gather(at::scalar_tensor(rows.size(0), at::kLong)))
    counts.push_back(count.item<std::int64_t>());
  auto missing = rows.sizes().vec();
  missing.front() = *std::max_element(counts.begin(), counts.end()) - rows.size(0);
  auto all = group.all_gather(at::cat({rows, at::zeros(missing, rows.options())}));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = all[i].narrow(0, 0, counts[i]);
  return all;
}

std::vector<std::string> gather_text(Group& group, const std::string& text) {
  std::vector<std::string> texts;
  for (const auto& bytes : gather_rows(group, tensor_of(text))) texts.push_back(text_of(bytes));
  return texts;
}

std::string broadcast_text(Group& group, const std::string& text, int root) {
  auto length = at::scalar_tensor(static_cast<std::int64_t>(text.size()), at::kLong);
  group.broadcast(length, root);
  const auto size = length.item<std::int64_t>();
  auto bytes = group.rank() == root ? tensor_of(text) : at::zeros({size}, at::kByte);
  group.broadcast(bytes, root);
  return text_of(bytes);
}

namespace {

/// In one broadcast, whatever their types.
void broadcast_together(Group& group, const std::vector<at::Tensor>& tensors, int root) {
  std::vector<at::Tensor> parts;
  for (const auto& tensor : tensors) parts.push_back(flat_bytes(tensor));
  auto all = at::cat(parts);
  group.broadcast(all, root);
  if (group.rank() == root) return;
  std::int64_t first = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const auto& tensor = tensors[i];
    // A copy of its own: a slice of bytes need not be aligned for a wider type.
    const auto part = all.narrow(0, first, parts[i].numel()).clone().view(tensor.scalar_type());
    tensor.detach().copy_(part.reshape(tensor.sizes()));
    first += parts[i].numel();
  }
}

}  // namespace

void broadcast_tensors(Group& group, const std::vector<at::Tensor>& tensors, int root) {
  if (group.size() == 1) return;
  constexpr std::size_t most = 25 << 20;  // bytes at once, but for a larger tensor
  std::vector<at::Tensor> together;
  std::size_t bytes = 0;
  for (const auto& tensor : tensors) {
    if (!together.empty() && bytes + tensor.nbytes() > most) {
      broadcast_together(group, together, root);
      together.clear();
      bytes = 0;
    }
    together.push_back(tensor);
    bytes += tensor.nbytes();
  }
  if (!together.empty()) broadcast_together(group, together, root);
}

}  // namespace ddptrain
