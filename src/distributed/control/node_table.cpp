#include "distributed/control/node_table.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <random>
#include <sstream>

#include "base/clock.h"
#include "base/error.h"
#include "base/files/files.h"
#include "base/text.h"
#include "launch/shared_text.h"

namespace ddptrain {
namespace {

constexpr double kFresh = 1.5;  // seconds; a rank writes four times a second

constexpr std::size_t kLongestRecord = 4096;
constexpr std::size_t kLongestMessage = 2000;

std::string text_in(c10d::Store& store, const std::string& key) {
  const auto bytes = store.get(key);
  return {bytes.begin(), bytes.end()};
}

std::uint64_t random_word() {
  std::random_device random;
  return (std::uint64_t{random()} << 32) | random();
}

}  // namespace

struct alignas(64) NodeTable::Slot {
  std::atomic<bool> taken{false};
  std::atomic<int> rank{-1};
  std::atomic<bool> waits{false}, lost_peer{false};
  std::atomic<std::int64_t> count{-1}, step{-1};
  std::atomic<double> progress{0}, written{0};  // on seconds_now()'s clock
  SharedText<32> phase;
  SharedText<64> host;
};

struct NodeTable::Table {
  std::atomic<std::uint64_t> name{0};  // random: another process's file has another one
  std::atomic<int> size{0};            // slots that are in use
  SharedText<512> server;
  SharedText<kLongestRecord> cause;
};

/// The file behind it stays open: the other ranks open it by the number of this process. Without
/// data if it is missing, or not one of these.
struct NodeTable::Mapping {
  int file = -1;
  void* data = nullptr;
  std::size_t bytes = 0;

  Mapping(int opened, std::size_t size) : file(opened), bytes(size) {
    if (file < 0 || !is_long_enough()) return;
    data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (data == MAP_FAILED) data = nullptr;
  }
  /// Mapped beyond its end it would be a SIGBUS.
  bool is_long_enough() const {
    struct stat status {};
    return ::fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
           status.st_size >= static_cast<off_t>(bytes);
  }
  ~Mapping() {
    if (data) ::munmap(data, bytes);
    if (file >= 0) ::close(file);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
};

namespace {

int made_file(std::size_t bytes) {
  const int file = ::memfd_create("ddptrain-node", MFD_CLOEXEC);
  if (file < 0 || ::ftruncate(file, static_cast<off_t>(bytes)) != 0)
    throw Error(Exit::memory, "no shared memory for the ranks of this node");
  return file;
}

/// "PROCESS FILE NAME NODE", as the first rank of a node leaves it in the store.
struct TableAddress {
  int process = 0, file = 0, node = 0;
  std::uint64_t name = 0;
};

TableAddress address_in(const std::string& text) {
  TableAddress address;
  std::istringstream(text) >> address.process >> address.file >> address.name >> address.node;
  return address;
}

int opened_file(const TableAddress& address) {
  return ::open(fmt::format("/proc/{}/fd/{}", address.process, address.file).c_str(),
                O_RDWR | O_CLOEXEC | O_NONBLOCK);
}

}  // namespace

std::string name_of_node() {
  const std::string file = "/proc/sys/kernel/random/boot_id";
  const auto boot = std::filesystem::exists(file) ? read_text(file) : std::string();
  const auto space = [](const char* kind) {
    std::error_code none;
    return std::filesystem::read_symlink(std::string("/proc/self/ns/") + kind, none).string();
  };
  return fmt::format("{} {} {} {}", trim(boot), space("pid"), space("net"), ::getuid());
}

NodeTable::NodeTable(c10d::Store& store, int rank, int world, const std::string& node) {
  open(store, world, node);
  take_slot(rank);
}

NodeTable::~NodeTable() { leave(); }

void NodeTable::open(c10d::Store& store, int world, const std::string& node) {
  const auto bytes = sizeof(Table) + 64 + sizeof(Slot) * static_cast<std::size_t>(world);
  const auto key = "node/" + node;
  const bool first = store.add(key, 1) == 1;
  if (!first) {
    const auto address = address_in(text_in(store, key + "/table"));
    mapping_ = std::make_unique<Mapping>(opened_file(address), bytes);
    table_ = static_cast<Table*>(mapping_->data);
    node_ = address.node;
    if (table_ && table_->name == address.name) return;
  }
  mapping_ = std::make_unique<Mapping>(made_file(bytes), bytes);
  if (!mapping_->data) throw Error(Exit::memory, "no shared memory for the ranks of this node");
  table_ = new (mapping_->data) Table;
  for (int i = 0; i < world; ++i) new (&slot(i)) Slot;
  table_->name = random_word();
  node_ = static_cast<int>(store.add("nodes", 1)) - 1;
  if (first)
    store.set(key + "/table",
              fmt::format("{} {} {} {}", ::getpid(), mapping_->file, table_->name.load(), node_));
}

NodeTable::Slot& NodeTable::slot(int index) const {
  const auto at = reinterpret_cast<std::uintptr_t>(table_) + sizeof(Table);
  return reinterpret_cast<Slot*>((at + 63) / 64 * 64)[index];
}

void NodeTable::take_slot(int rank) {
  index_ = table_->size++;
  own().rank = rank;
}

void NodeTable::write(RankStatus status) {
  auto& own = this->own();
  own.step = status.step;
  own.waits = status.waits;
  own.lost_peer = status.lost_peer;
  own.progress = seconds_now() - status.silent;
  own.phase.set(status.phase);
  own.host.set(status.host);
  own.written = seconds_now();
  ++own.count;
  own.taken = true;
}

std::vector<RankStatus> NodeTable::statuses() const {
  std::vector<RankStatus> all;
  for (int i = 0; i < table_->size; ++i) {
    const auto& from = slot(i);
    if (!from.taken) continue;
    RankStatus status;
    status.rank = from.rank;
    status.count = from.count;
    status.step = from.step;
    status.waits = from.waits;
    status.lost_peer = from.lost_peer;
    status.silent = seconds_now() - from.progress;
    status.host = from.host.get();
    status.phase = from.phase.get();
    all.push_back(std::move(status));
  }
  return all;
}

template <class Condition>
bool NodeTable::is_first(Condition condition) const {
  for (int i = 0; i < index_; ++i)
    if (seconds_now() - slot(i).written < kFresh && condition(slot(i))) return false;
  return true;
}

bool NodeTable::publishes() const {
  return is_first([](const Slot&) { return true; });
}

bool NodeTable::looks() const {
  return is_first([](const Slot& other) { return other.lost_peer.load(); });
}

void NodeTable::leave() { own().written = 0; }

void NodeTable::write_server(const RankStatus& status) { table_->server.set(to_text(status)); }

RankStatus NodeTable::server() const { return status_of(table_->server.get()); }

void NodeTable::write_cause(const Failure& failure) {
  auto shortened = failure;
  if (shortened.message.size() > kLongestMessage) shortened.message.resize(kLongestMessage);
  if (const auto record = to_record(shortened); record.size() <= kLongestRecord)
    table_->cause.set(record);
}

std::optional<Failure> NodeTable::cause() const { return from_record(table_->cause.get()); }

}  // namespace ddptrain
