#include "models/layers/deferred_init.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "models/layers/initialize.h"
#include "models/nets.h"

namespace ddptrain {
namespace {

using namespace test;
using testing::ElementsAre;

/// Of the pages that lie in some bytes as a whole, those that take memory (mincore(2)).
std::int64_t pages_in_memory(const void* data, std::size_t size) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto first = reinterpret_cast<std::uintptr_t>(data);
  const auto begin = (first + page - 1) / page * page;
  const auto bytes = (first + size - begin) / page * page;
  std::vector<unsigned char> there(bytes / page);
  if (mincore(reinterpret_cast<void*>(begin), bytes, there.data()) != 0) return 0;  // not mapped
  return std::ranges::count_if(there, [](unsigned char each) { return (each & 1) != 0; });
}

std::int64_t pages_in_memory(const at::Tensor& tensor) {
  return pages_in_memory(tensor.data_ptr(), tensor.nbytes());
}

TEST(DeferredInit, DrawsWhatIsDrawnAtOnce) {
  const auto draw = [](const at::Generator& generator) {
    std::vector<at::Tensor> all{at::empty({40, 5}), at::empty({30, 4}), at::empty({9})};
    initialize::layer_default(all[0], all[2], generator);
    initialize::truncated_normal(all[1], 0.5, generator);
    initialize::normal(all[0], 2, generator);
    initialize::constant(all[0].select(0, 3), 7);
    initialize::fold(all[1], 0.3, 0.1);
    initialize::unit_vector(all[2], generator);
    return all;
  };
  const auto expected = draw(seeded(3));
  DeferredInit deferred;
  const auto found = draw(seeded(3));
  std::vector<std::size_t> order;
  deferred.materialize(found, [&](std::size_t place, const at::Tensor& tensor) {
    order.push_back(place);
    EXPECT_TRUE(at::equal(tensor, expected[place])) << place;
  });
  EXPECT_THAT(order, ElementsAre(0, 1, 2));
}

/// Numbers in memory that nothing had before.
at::Tensor untouched(std::int64_t count) {
  const auto bytes = static_cast<std::size_t>(count) * sizeof(float);
  auto* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT_NE(data, MAP_FAILED);
  return at::from_blob(data, {count}, [bytes](void* own) { munmap(own, bytes); });
}

TEST(DeferredInit, LeavesTensorsOutOfMemoryUntilTheirTurn) {
  const auto generator = seeded(1);
  DeferredInit deferred;
  std::vector<at::Tensor> tensors{untouched(1 << 23), untouched(1 << 23), untouched(1 << 23)};
  for (const auto& tensor : tensors) initialize::normal(tensor, 1, generator);
  for (const auto& tensor : tensors) initialize::uniform(tensor, 1, generator);
  const auto watched = tensors;
  const auto all = static_cast<std::int64_t>(watched[0].nbytes()) / sysconf(_SC_PAGESIZE);
  for (const auto& tensor : watched) EXPECT_EQ(pages_in_memory(tensor), 0);
  deferred.materialize(std::move(tensors), [&](std::size_t place, const at::Tensor&) {
    for (std::size_t i = 0; i < watched.size(); ++i)
      if (i <= place)
        EXPECT_GE(pages_in_memory(watched[i]), all - 1);
      else
        EXPECT_EQ(pages_in_memory(watched[i]), 0) << "the first draw is drawn again, and lost";
  });
}

// Whatever the allocator does with what is freed.
TEST(DeferredInit, GivesMemoryBackThatNoOtherHas) {
  const auto generator = seeded(1);
  DeferredInit deferred;
  std::vector<at::Tensor> tensors{at::empty({1 << 22}), at::empty({1 << 22}), at::empty({1 << 22})};
  for (const auto& tensor : tensors) initialize::normal(tensor, 1, generator);
  std::vector<const void*> data;
  for (const auto& tensor : tensors) data.push_back(tensor.data_ptr());
  const auto size = tensors.front().nbytes();
  const auto kept = tensors[1];
  deferred.materialize(std::exchange(tensors, {}), [&](std::size_t place, const at::Tensor&) {
    EXPECT_GT(pages_in_memory(data[place], size), 0);
    if (place == 2) {
      EXPECT_EQ(pages_in_memory(data[0], size), 0);
      EXPECT_GT(pages_in_memory(data[1], size), 0);
    }
  });
}

TEST(DeferredInit, CallsOnceForWhatNoneWritesAndForWhatSharesMemory) {
  DeferredInit deferred;
  const auto written = at::empty({4});
  initialize::constant(written, 2);
  const auto view = written.view({2, 2});
  std::vector<std::size_t> order;
  deferred.materialize({written, at::ones({3}), view},
                       [&](std::size_t place, const at::Tensor&) { order.push_back(place); });
  EXPECT_THAT(order, ElementsAre(1, 0, 2));
}

TEST(DeferredInit, OfAnotherIsInside) {
  const auto outer_tensor = at::empty({4}), inner_tensor = at::empty({4});
  DeferredInit outer;
  {
    DeferredInit inner;
    initialize::constant(inner_tensor, 1);
    inner.materialize({inner_tensor}, [](std::size_t, const at::Tensor& tensor) {
      EXPECT_TRUE(at::equal(tensor, at::ones({4})));
    });
  }
  initialize::constant(outer_tensor, 3);
  int calls = 0;
  outer.materialize({outer_tensor}, [&](std::size_t, const at::Tensor& tensor) {
    ++calls;
    EXPECT_TRUE(at::equal(tensor, at::full({4}, 3.0F)));
  });
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace ddptrain
