// Sums in rank order: each member gets the others' parts of its slice and adds them up, where there
// are several nodes first within its node, and then over nodes.
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "distributed/group.h"

namespace ddptrain {
namespace {

/// The sum of the rows, from the first to the last, into the slice.
void add_in_order(const at::Tensor& parts, const at::Tensor& slice) {
  slice.copy_(parts.select(0, 0));
  for (std::int64_t r = 1; r < parts.size(0); ++r) slice.add_(parts.select(0, r));
}

class OrderedSum : public Pending {
 public:
  OrderedSum(Group& group, at::Tensor flat, Cuts cuts)
      : flat_(std::move(flat)), cuts_(std::move(cuts)) {
    slice_ = slice_of(flat_, cuts_, group.rank());
    parts_ = at::empty({group.size(), slice_.numel()}, flat_.options());
    pending_ = group.exchange_async(flat_, cuts_, parts_);
  }

  void wait() override {
    if (!pending_) return;
    std::exchange(pending_, {})->wait();
    add_in_order(parts_, slice_);
    parts_.reset();
  }

 protected:
  at::Tensor flat_;
  Cuts cuts_;

 private:
  at::Tensor slice_, parts_;
  std::unique_ptr<Pending> pending_;
};

/// A node's members exchange what they have in the slices of those that have the same place in
/// their nodes; sums of those travel between nodes, so that each number crosses once.
class OrderedSumOverNodes final : public Pending {
 public:
  OrderedSumOverNodes(const NodeGroups& groups, at::Tensor flat, Cuts cuts, int rank)
      : groups_(groups) {
    const auto members = groups.node->size(), nodes = groups.across->size();
    std::int64_t longest = 0;
    for (std::size_t r = 0; r + 1 < cuts.size(); ++r)
      longest = std::max(longest, cuts[r + 1] - cuts[r]);
    // [members, nodes, longest]: slices of the ranks that have a place, one behind the other.
    by_place_ = at::zeros({members * nodes * longest}, flat.options());
    for (int r = 0; r < members * nodes; ++r) {
      const auto slice = slice_of(flat, cuts, r);
      const auto place = (r % members) * nodes + r / members;
      by_place_.narrow(0, place * longest, slice.numel()).copy_(slice);
    }
    slice_ = slice_of(flat, cuts, rank);
    cuts_ = even_cuts(by_place_.numel(), members, nodes * longest);
    parts_ = at::empty({members, nodes * longest}, flat.options());
    pending_ = groups.node->exchange_async(by_place_, cuts_, parts_);
  }

  void wait() override {
    if (!pending_) return;
    std::exchange(pending_, {})->wait();
    const auto nodes = groups_.across->size();
    auto of_node = parts_.select(0, 0);
    add_in_order(parts_, of_node);
    const auto longest = of_node.numel() / nodes;
    auto over_nodes = at::empty({nodes, longest}, of_node.options());
    groups_.across->exchange_async(of_node, even_cuts(of_node.numel(), nodes, longest), over_nodes)
        ->wait();
    add_in_order(over_nodes.narrow(1, 0, slice_.numel()), slice_);
    by_place_.reset();
    parts_.reset();
  }

 private:
  const NodeGroups& groups_;
  at::Tensor by_place_, parts_, slice_;
  Cuts cuts_;
  std::unique_ptr<Pending> pending_;
};

using Start = std::function<std::unique_ptr<Pending>(const at::Tensor& flat, const Cuts& cuts)>;

class OrderedSumForAll final : public Pending {
 public:
  OrderedSumForAll(Group& group, at::Tensor tensor, const Start& start)
      : group_(group),
        target_(tensor.detach()),
        flat_(target_.contiguous().view(-1)),
        cuts_(even_cuts(flat_.numel(), group.size())),
        sum_(start(flat_, cuts_)) {}

  void wait() override {
    if (!sum_) return;
    std::exchange(sum_, {})->wait();
    group_.all_gather_async(flat_, cuts_)->wait();
    if (!flat_.is_alias_of(target_)) target_.copy_(flat_.view(target_.sizes()));
  }

 private:
  Group& group_;
  at::Tensor target_, flat_;
  Cuts cuts_;
  std::unique_ptr<Pending> sum_;
};

class OrderedGroup final : public Group {
 public:
  OrderedGroup(std::unique_ptr<Group> group, NodeGroups nodes)
      : group_(std::move(group)), nodes_(std::move(nodes)) {}

  int rank() const override { return group_->rank(); }
  int size() const override { return group_->size(); }
  std::string transport() const override { return group_->transport(); }
  std::vector<at::Tensor> all_gather(const at::Tensor& tensor) override {
    return group_->all_gather(tensor);
  }
  at::Tensor all_gather_stacked(const at::Tensor& tensor) override {
    return group_->all_gather_stacked(tensor);
  }
  void all_reduce(at::Tensor& tensor) override { all_reduce_async(tensor)->wait(); }
  std::unique_ptr<Pending> all_reduce_async(at::Tensor& tensor) override {
    return std::make_unique<OrderedSumForAll>(
        *group_, tensor,
        [this](const at::Tensor& flat, const Cuts& cuts) { return sum(flat, cuts); });
  }
  void broadcast(at::Tensor& tensor, int root) override { group_->broadcast(tensor, root); }
  std::unique_ptr<Pending> reduce_scatter_async(at::Tensor& flat, const Cuts& cuts) override {
    return sum(flat.detach(), cuts);
  }
  std::unique_ptr<Pending> all_gather_async(at::Tensor& flat, const Cuts& cuts) override {
    return group_->all_gather_async(flat, cuts);
  }
  std::unique_ptr<Pending> exchange_async(const at::Tensor& flat, const Cuts& cuts,
                                          at::Tensor& parts) override {
    return group_->exchange_async(flat, cuts, parts);
  }
  void send(const at::Tensor& tensor, int to) override { group_->send(tensor, to); }
  void receive(at::Tensor& tensor, int from) override { group_->receive(tensor, from); }
  void barrier() override { group_->barrier(); }
  void abort(const std::string& reason) override {
    for (auto* group : {&group_, &nodes_.node, &nodes_.across})
      if (*group) (*group)->abort(reason);
  }

 private:
  std::unique_ptr<Pending> sum(const at::Tensor& flat, const Cuts& cuts) {
    if (nodes_.across) return std::make_unique<OrderedSumOverNodes>(nodes_, flat, cuts, rank());
    return std::make_unique<OrderedSum>(*group_, flat, cuts);
  }

  std::unique_ptr<Group> group_;
  NodeGroups nodes_;
};

}  // namespace

std::unique_ptr<Group> make_ordered_group(std::unique_ptr<Group> group, NodeGroups nodes) {
  if (group->size() == 1) return group;
  return std::make_unique<OrderedGroup>(std::move(group), std::move(nodes));
}

}  // namespace ddptrain
