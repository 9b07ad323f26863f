#include "simulated/memory.h"

#include <c10/util/Exception.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "simulated/counting.h"
#include "simulated/graphs.h"
#include "simulated/simulated.h"
#include "simulated/streams.h"

namespace ddptrain::simulated {
namespace {

constexpr std::size_t kPage = 4096;

struct Block {
  std::size_t bytes = 0;
  int device = 0;
  int users = 0;  // Access objects
  int held = 0;   // by copies under way
  bool ended = false;
  std::uint32_t used_by = 0, known_to = 0;  // streams, a bit each; the allocator knows of some
  int graph = 0;                            // the capture in which it was allocated
};

using Blocks = std::map<const void*, Block>;

struct Memory {
  std::mutex mutex;
  Blocks blocks, pinned;
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

/// The block that an address is in; end() where it is in none.
Blocks::iterator block_at(Blocks& blocks, const void* address) {
  const auto after = blocks.upper_bound(address);
  if (after == blocks.begin()) return blocks.end();
  const auto before = std::prev(after);
  const auto* end = static_cast<const char*>(before->first) + before->second.bytes;
  return address < end ? before : blocks.end();
}

void protect(const void* start, const Block& block, int rights) {
  TORCH_CHECK(::mprotect(const_cast<void*>(start), block.bytes, rights) == 0, "mprotect failed");
}

void change_users(const void* address, int by, int stream) {
  auto& blocks = memory().blocks;
  const auto found = block_at(blocks, address);
  if (found == blocks.end()) return;
  auto& [start, block] = *found;
  if (capture_under_way(block.device) == 0) {  // else it is used at replays alone
    if (stream < 0) stream = static_cast<int>(current_stream(block.device).id());
    block.used_by |= std::uint32_t{1} << stream;
  }
  if (by > 0 && block.users == 0) protect(start, block, PROT_READ | PROT_WRITE);
  block.users += by;
  if (block.users == 0) protect(start, block, PROT_NONE);
}

void unmap(Blocks::iterator found) {
  ::munmap(const_cast<void*>(found->first), found->second.bytes);
  memory().blocks.erase(found);
}

void free_pinned(Blocks::iterator found) {
  std::free(const_cast<void*>(found->first));
  memory().pinned.erase(found);
}

void fill(const void* start, const Block& block) {
  protect(start, block, PROT_READ | PROT_WRITE);
  std::memset(const_cast<void*>(start), 255, block.bytes);
  protect(start, block, PROT_NONE);
}

/// Another stream may still work with it, and the next tensor may be there already.
void spoil(const void* start, const Block& block) {
  count_misuse();
  fill(start, block);
}

void release(void* data) {
  if (data == nullptr) return;
  auto& m = memory();
  const std::lock_guard lock(m.mutex);
  const auto found = m.blocks.find(data);
  auto& block = found->second;
  m.live[static_cast<std::size_t>(block.device)] -= static_cast<std::int64_t>(block.bytes);
  if ((block.used_by & ~block.known_to) != 0) spoil(data, block);
  block.ended = true;
  if (block.held == 0) unmap(found);
}

void change_held(const void* address, int by) {
  auto& m = memory();
  const auto device = block_at(m.blocks, address), host = block_at(m.pinned, address);
  if (device != m.blocks.end()) {
    device->second.held += by;
    if (device->second.ended && device->second.held == 0) unmap(device);
  } else if (host != m.pinned.end()) {
    host->second.held += by;
    if (host->second.ended && host->second.held == 0) free_pinned(host);
  }
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
    const auto stream = current_stream(current).id();
    const int graph = capture_under_way(current);  // which may be replayed on any stream
    m.blocks[data] = {.bytes = bytes,
                      .device = current,
                      .known_to = graph != 0 ? ~std::uint32_t{0} : std::uint32_t{1} << stream,
                      .graph = graph};
    return {data, data, &release, device};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void*, const void*, std::size_t) const override {
    TORCH_CHECK(false, "device memory is copied by operators only");
  }
};

void release_pinned(void* data) {
  auto& m = memory();
  const std::lock_guard lock(m.mutex);
  const auto found = m.pinned.find(data);
  found->second.ended = true;
  if (found->second.held == 0) free_pinned(found);
}

class PinnedAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    auto& m = memory();
    const std::lock_guard lock(m.mutex);
    const auto size = std::max<std::size_t>(bytes, 1);
    void* data = std::aligned_alloc(kPage, (size + kPage - 1) / kPage * kPage);
    m.pinned[data] = {.bytes = size};
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

Access::Access(std::vector<const void*> storages, int stream)
    : storages_(std::move(storages)), stream_(stream) {
  const std::lock_guard lock(memory().mutex);
  for (const auto* storage : storages_) change_users(storage, 1, stream_);
}

Access::~Access() {
  const std::lock_guard lock(memory().mutex);
  for (const auto* storage : storages_) change_users(storage, -1, stream_);
}

void hold(const std::vector<const void*>& addresses) {
  const std::lock_guard lock(memory().mutex);
  for (const auto* address : addresses) change_held(address, 1);
}

void let_go(const std::vector<const void*>& addresses) {
  const std::lock_guard lock(memory().mutex);
  for (const auto* address : addresses) change_held(address, -1);
}

bool is_held(const void* address) {
  auto& m = memory();
  const std::lock_guard lock(m.mutex);
  const auto found = block_at(m.blocks, address);
  return found != m.blocks.end() && found->second.held > 0;
}

void also_used_by(const void* address, int stream) {
  auto& m = memory();
  const std::lock_guard lock(m.mutex);
  const auto found = block_at(m.blocks, address);
  if (found != m.blocks.end()) found->second.known_to |= std::uint32_t{1} << stream;
}

int graph_of(const void* address) {
  auto& m = memory();
  const std::lock_guard lock(m.mutex);
  const auto found = block_at(m.blocks, address);
  return found == m.blocks.end() ? 0 : found->second.graph;
}

void fill_memory_of(int graph) {
  auto& m = memory();
  const std::lock_guard lock(m.mutex);
  for (auto& [start, block] : m.blocks)
    if (block.graph == graph) fill(start, block);
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
  return block_at(m.pinned, data) != m.pinned.end();
}

void set_devices(int count) {
  TORCH_CHECK(count > 0 && count <= kMostDevices, "1 to ", kMostDevices, " devices");
  memory().devices = count;
}

void set_memory(std::int64_t bytes) { memory().total = bytes; }

}  // namespace ddptrain::simulated
