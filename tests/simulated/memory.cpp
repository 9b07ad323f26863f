#include "simulated/memory.h"

#include <c10/util/Exception.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <mutex>

#include "simulated/simulated.h"

namespace ddptrain::simulated {
namespace {

constexpr int kMostDevices = 8;
constexpr std::size_t kPage = 4096;

struct Block {
  std::size_t bytes = 0;
  int device = 0;
  int users = 0;  // Access objects
};

struct Memory {
  std::mutex mutex;
  std::map<const void*, Block> blocks, pinned;
  std::array<std::int64_t, kMostDevices> live{}, reserved{}, peak{};
  std::int64_t total = 0;
  int devices = 2;
};

// Tensors of static storage are freed after it would be.
Memory& memory() {
  static auto* memory = new Memory;
  return *memory;
}

thread_local int current = 0;

/// The block that an address is in.
Block* block_at(const void* address) {
  auto& blocks = memory().blocks;
  auto after = blocks.upper_bound(address);
  if (after == blocks.begin()) return nullptr;
  const auto before = std::prev(after);
  const auto* end = static_cast<const char*>(before->first) + before->second.bytes;
  return address < end ? &before->second : nullptr;
}

void protect(const void* start, const Block& block, int rights) {
  TORCH_CHECK(::mprotect(const_cast<void*>(start), block.bytes, rights) == 0, "mprotect failed");
}

void change_users(const void* address, int by) {
  auto& m = memory();
  auto* block = block_at(address);
  if (block == nullptr) return;
  const auto* start = std::prev(m.blocks.upper_bound(address))->first;
  if (by > 0 && block->users == 0) protect(start, *block, PROT_READ | PROT_WRITE);
  block->users += by;
  if (block->users == 0) protect(start, *block, PROT_NONE);
}

void release(void* data) {
  if (data == nullptr) return;
  auto& m = memory();
  const std::lock_guard lock(m.mutex);
  const auto found = m.blocks.find(data);
  m.live[static_cast<std::size_t>(found->second.device)] -=
      static_cast<std::int64_t>(found->second.bytes);
  ::munmap(data, found->second.bytes);
  m.blocks.erase(found);
}

/// Takes it of what is reserved, and reserves more where that does not do.
void reserve(std::size_t bytes, std::size_t device) {
  auto& m = memory();
  const auto live = m.live[device] + static_cast<std::int64_t>(bytes);
  TORCH_CHECK_WITH(OutOfMemoryError, m.total == 0 || live <= m.total,
                   "simulated out of memory. Tried to allocate ", bytes / 1024,
                   " KiB. The device has ", m.total, " bytes.");
  m.live[device] = live;
  m.reserved[device] = std::max(m.reserved[device], live);
  m.peak[device] = std::max(m.peak[device], m.reserved[device]);
}

class DeviceAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t wanted) override {
    const c10::Device device(c10::kHPU, static_cast<c10::DeviceIndex>(current));
    if (wanted == 0) return {nullptr, nullptr, &release, device};
    const auto bytes = (wanted + kPage - 1) / kPage * kPage;
    auto& m = memory();
    const std::lock_guard lock(m.mutex);
    reserve(bytes, static_cast<std::size_t>(current));
    void* data = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    TORCH_CHECK(data != MAP_FAILED, "mmap failed");
    m.blocks[data] = {bytes, current, 0};
    return {data, data, &release, device};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void*, const void*, std::size_t) const override {
    TORCH_CHECK(false, "nobody copies device memory behind the operators' back");
  }
};

void release_pinned(void* data) {
  auto& m = memory();
  const std::lock_guard lock(m.mutex);
  m.pinned.erase(data);
  std::free(data);
}

class PinnedAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    auto& m = memory();
    const std::lock_guard lock(m.mutex);
    const auto size = std::max<std::size_t>(bytes, 1);
    void* data = std::aligned_alloc(kPage, (size + kPage - 1) / kPage * kPage);
    m.pinned[data] = {size, 0, 0};
    return {data, data, &release_pinned, c10::Device(c10::kCPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release_pinned; }
  void copy_data(void* to, const void* from, std::size_t count) const override {
    default_copy_data(to, from, count);
  }
};

}  // namespace

int device_count() { return memory().devices; }
int current_device() { return current; }
int exchange_device(int device) {
  TORCH_CHECK(device >= 0 && device < device_count(), "there is no simulated device ", device);
  return std::exchange(current, device);
}

Access::Access(std::vector<const void*> storages) : storages_(std::move(storages)) {
  const std::lock_guard lock(memory().mutex);
  for (const auto* storage : storages_) change_users(storage, 1);
}

Access::~Access() {
  const std::lock_guard lock(memory().mutex);
  for (const auto* storage : storages_) change_users(storage, -1);
}

DeviceMemory memory_of(int device) {
  auto& m = memory();
  const std::lock_guard lock(m.mutex);
  const auto i = static_cast<std::size_t>(device);
  return {m.reserved.at(i), m.peak.at(i), m.total};
}

void reset_peak(int device) {
  auto& m = memory();
  const std::lock_guard lock(m.mutex);
  const auto i = static_cast<std::size_t>(device);
  m.peak.at(i) = m.reserved.at(i);
}

void return_unused() {
  auto& m = memory();
  const std::lock_guard lock(m.mutex);
  m.reserved = m.live;
}

c10::Allocator& allocator() {
  static DeviceAllocator made;
  return made;
}

c10::Allocator& pinned_allocator() {
  static PinnedAllocator made;
  return made;
}

bool is_pinned(const void* data) {
  auto& m = memory();
  const std::lock_guard lock(m.mutex);
  const auto after = m.pinned.upper_bound(data);
  if (after == m.pinned.begin()) return false;
  const auto before = std::prev(after);
  return data < static_cast<const char*>(before->first) + before->second.bytes;
}

void set_devices(int count) {
  TORCH_CHECK(count > 0 && count <= kMostDevices, "1 to ", kMostDevices, " devices");
  memory().devices = count;
}

void set_memory(std::int64_t bytes) { memory().total = bytes; }

}  // namespace ddptrain::simulated
