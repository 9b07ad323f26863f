#include <ATen/ops/cat.h>
#include <gtest/gtest.h>

#include <barrier>
#include <thread>

#include "models/layers/norm.h"
#include "models/nets.h"

namespace ddptrain {
namespace {

using test::find;
using test::largest_difference;
using test::noise;

// Members in threads that meet twice for each collective; counts what was asked of each.
struct Meeting {
  explicit Meeting(int size) : slots(static_cast<std::size_t>(size)), barrier(size) {}
  std::vector<at::Tensor> slots;
  std::barrier<> barrier;
};

class Member final : public Statistics {
 public:
  Member(Meeting& meeting, std::size_t rank) : meeting_(meeting), rank_(rank) {}
  std::vector<at::Tensor> all_gather(const at::Tensor& tensor) override {
    ++gathers;
    return exchange(tensor);
  }
  void all_reduce(at::Tensor& tensor) override {
    ++reductions;
    at::Tensor sum;
    for (const auto& part : exchange(tensor.clone())) sum = sum.defined() ? sum.add(part) : part;
    tensor.copy_(sum);
  }
  int gathers = 0, reductions = 0;

 private:
  std::vector<at::Tensor> exchange(const at::Tensor& tensor) {
    meeting_.slots[rank_] = tensor;
    meeting_.barrier.arrive_and_wait();
    auto all = meeting_.slots;
    meeting_.barrier.arrive_and_wait();
    return all;
  }
  Meeting& meeting_;
  std::size_t rank_;
};

struct Outcome {
  at::Tensor output, input_grad, weight_grad, running_mean, running_var, batches;
  int gathers = 0, reductions = 0;
};

Outcome run(BatchNorm& norm, const at::Tensor& rows, const at::Tensor& gradient, const Pass& pass) {
  const auto input = rows.detach().clone().set_requires_grad(true);
  const auto output = norm.forward(input, pass);
  output.backward(gradient.to(output.scalar_type()));
  const auto buffers = norm.named_buffers();
  return {output.detach(),
          input.grad(),
          norm.weight().grad(),
          find(buffers, "running_mean"),
          find(buffers, "running_var"),
          find(buffers, "num_batches_tracked")};
}

std::vector<Outcome> run_together(const at::Tensor& rows, const at::Tensor& gradient,
                                  const std::vector<std::int64_t>& sizes) {
  Meeting meeting(static_cast<int>(sizes.size()));
  std::vector<Outcome> outcomes(sizes.size());
  std::vector<std::thread> threads;
  std::int64_t first = 0;
  for (std::size_t r = 0; r < sizes.size(); first += sizes[r++])
    threads.emplace_back([&, r, first] {
      BatchNorm norm(rows.size(1));
      norm.to(at::kCPU, rows.scalar_type() == at::kDouble ? at::kDouble : at::kFloat);
      Member member(meeting, r);
      outcomes[r] = run(norm, rows.narrow(0, first, sizes[r]), gradient.narrow(0, first, sizes[r]),
                        {.training = true, .statistics = &member});
      outcomes[r].gathers = member.gathers;
      outcomes[r].reductions = member.reductions;
    });
  for (auto& thread : threads) thread.join();
  return outcomes;
}

at::Tensor together(const std::vector<Outcome>& outcomes, at::Tensor Outcome::*part) {
  std::vector<at::Tensor> parts;
  for (const auto& outcome : outcomes) parts.push_back(outcome.*part);
  return at::cat(parts);
}

TEST(SyncBatchNorm, MembersWithoutRowsTakePartAndAgree) {
  const auto rows = noise({7, 3, 4, 4}).to(at::kDouble),
             gradient = noise({7, 3, 4, 4}).to(at::kDouble);
  BatchNorm alone(3);
  alone.to(at::kCPU, at::kDouble);
  const auto one = run(alone, rows, gradient, {.training = true});
  const auto many = run_together(rows, gradient, {0, 5, 0, 2});
  EXPECT_LT(largest_difference(together(many, &Outcome::output), one.output), 1e-12);
  EXPECT_LT(largest_difference(together(many, &Outcome::input_grad), one.input_grad), 1e-12);
  for (const auto& member : many) {
    EXPECT_LT(largest_difference(member.running_mean, one.running_mean), 1e-14);
    EXPECT_LT(largest_difference(member.running_var, one.running_var), 1e-14);
    EXPECT_EQ(member.batches.item<std::int64_t>(), 1);
    EXPECT_EQ(member.gathers, 1);
    EXPECT_EQ(member.reductions, 1);
  }
  EXPECT_EQ(many[0].weight_grad.abs().sum().item<double>(), 0);
}

TEST(SyncBatchNorm, KeepsChannelsLast) {
  const auto rows = noise({4, 8, 5, 5}).contiguous(at::MemoryFormat::ChannelsLast);
  const auto many = run_together(rows, noise({4, 8, 5, 5}), {3, 1});
  for (const auto& member : many) {
    EXPECT_TRUE(member.output.is_contiguous(at::MemoryFormat::ChannelsLast));
    EXPECT_TRUE(member.input_grad.is_contiguous(at::MemoryFormat::ChannelsLast));
  }
}

TEST(SyncBatchNorm, IsExactEnoughInSinglePrecisionFarFromZero) {
  const auto rows = noise({8, 4, 6, 6}).mul(0.1).add(30), gradient = noise({8, 4, 6, 6});
  BatchNorm alone(4);
  alone.to(at::kCPU, at::kDouble);
  const auto one = run(alone, rows.to(at::kDouble), gradient.to(at::kDouble), {.training = true});
  const auto many = run_together(rows, gradient, {5, 3});
  EXPECT_LT(largest_difference(together(many, &Outcome::output), one.output), 2e-3);
  EXPECT_LT(largest_difference(many[0].running_var, one.running_var), 1e-5);
}

TEST(SyncBatchNorm, AcceptsHalfPrecisionWithFullParameters) {
  const auto rows = noise({6, 4, 3, 3}), gradient = noise({6, 4, 3, 3});
  const auto half = run_together(rows.to(at::kBFloat16), gradient, {4, 2});
  const auto full = run_together(rows, gradient, {4, 2});
  EXPECT_EQ(half[0].output.scalar_type(), at::kBFloat16);
  EXPECT_LT(largest_difference(half[0].output.to(at::kFloat), full[0].output), 0.05);
  EXPECT_LT(largest_difference(half[1].input_grad.to(at::kFloat), full[1].input_grad), 0.1);
}

TEST(SyncBatchNorm, LeavesStatisticsAloneWhenNobodyHasRows) {
  const auto none = noise({0, 3, 4, 4});
  for (const auto& member : run_together(none, none, {0, 0})) {
    EXPECT_EQ(member.running_mean.abs().sum().item<double>(), 0);
    EXPECT_EQ(member.running_var.sum().item<double>(), 3);
    EXPECT_EQ(member.batches.item<std::int64_t>(), 0);
  }
}

TEST(BatchNorm, LeavesStatisticsAloneForABatchWithoutRows) {
  BatchNorm norm(3);
  const auto none = noise({0, 3, 4, 4});
  const auto outcome = run(norm, none, none, {.training = true});
  EXPECT_EQ(outcome.output.sizes(), none.sizes());
  EXPECT_EQ(outcome.running_var.sum().item<double>(), 3);
  EXPECT_EQ(outcome.batches.item<std::int64_t>(), 0);
}

}  // namespace
}  // namespace ddptrain
