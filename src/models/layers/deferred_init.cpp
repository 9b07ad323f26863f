#include "models/layers/deferred_init.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty_like.h>

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <unordered_map>
#include <utility>

namespace ddptrain {
namespace {

thread_local DeferredInit* noting = nullptr;

const void* memory_of(const at::Tensor& tensor) { return tensor.storage().unsafeGetStorageImpl(); }

bool has_all_memory(const at::Tensor& tensor) {
  return tensor.nbytes() == tensor.storage().nbytes();
}

/// Of memory that is about to go: an allocator may keep its pages for later, which would add up to
/// the whole model.
void give_pages_back(const at::Tensor& tensor) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto first = reinterpret_cast<std::uintptr_t>(tensor.storage().data());
  const auto begin = (first + page - 1) / page * page;
  const auto end = (first + tensor.storage().nbytes()) / page * page;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace

DeferredInit::DeferredInit() : outer_(std::exchange(noting, this)) {}

DeferredInit::~DeferredInit() {
  if (noting == this) noting = outer_;
}

void DeferredInit::fill(const at::Tensor& tensor, std::function<void(const at::Tensor&)> body) {
  write({tensor, std::move(body)});
}

void DeferredInit::change(const at::Tensor& tensor, std::function<void(const at::Tensor&)> body) {
  write({tensor, std::move(body), true});
}

void DeferredInit::write(Write write) {
  const at::NoGradGuard no_grad;
  // The parameter itself may get other memory before its values are made.
  write.tensor = write.tensor.detach();
  if (noting != nullptr)
    noting->writes_.push_back(std::move(write));
  else
    write.body(write.tensor);
}

/// What is lost is drawn, so that the generator goes on from there, and kept nowhere.
void DeferredInit::make(std::size_t number, bool is_lost) {
  auto [tensor, body, reads] = std::exchange(writes_[number], {});
  body(is_lost ? at::empty_like(tensor) : tensor);
}

void DeferredInit::materialize(std::vector<at::Tensor> tensors,
                               const std::function<void(std::size_t, const at::Tensor&)>& ready) {
  noting = outer_;
  const at::NoGradGuard no_grad;
  std::unordered_map<const void*, std::vector<std::size_t>> places;
  for (std::size_t place = 0; place < tensors.size(); ++place)
    places[memory_of(tensors[place])].push_back(place);
  const auto finish = [&](const void* memory) {
    const auto found = places.find(memory);
    if (found == places.end()) return;
    auto own = at::Tensor();
    for (const auto place : found->second) {
      ready(place, tensors[place]);
      own = std::exchange(tensors[place], {});
    }
    if (own.use_count() == 1 && own.storage().use_count() == 1) give_pages_back(own);
    places.erase(found);
  };
  // Of each write the next one to the same memory.
  std::vector<std::size_t> next(writes_.size(), writes_.size());
  std::unordered_map<const void*, std::size_t> later;
  for (auto number = writes_.size(); number-- > 0;) {
    const auto [found, is_last] = later.try_emplace(memory_of(writes_[number].tensor), number);
    if (!is_last) next[number] = std::exchange(found->second, number);
  }
  std::vector<const void*> complete;
  for (const auto& [memory, among] : places)
    if (!later.contains(memory)) complete.push_back(memory);
  for (const auto* memory : complete) finish(memory);
  for (std::size_t number = 0; number < writes_.size(); ++number) {
    const auto& own = writes_[number].tensor;
    const auto* memory = memory_of(own);
    const bool is_last = next[number] == writes_.size();
    const auto* follower = is_last ? nullptr : &writes_[next[number]];
    make(number, follower && !follower->reads && has_all_memory(follower->tensor) &&
                     has_all_memory(own) && own.is_contiguous());
    if (is_last) finish(memory);
  }
}

}  // namespace ddptrain
