#include "distributed/group.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cstring>

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

void broadcast_tensors(Group& group, const std::vector<at::Tensor>& tensors, int root) {
  if (tensors.empty() || group.size() == 1) return;
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

}  // namespace ddptrain
