#include "checkpoint/safetensors.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/files/atomic_file.h"
#include "base/files/files.h"
#include "base/files/mapping_guard.h"
#include "checkpoint/safetensors_header.h"
#include "checkpoint/tensor_image.h"

namespace ddptrain {
namespace {

std::string_view bytes_of(const at::Tensor& tensor) {
  return {static_cast<const char*>(tensor.const_data_ptr()), tensor.nbytes()};
}

TensorEntry describe(const NamedTensor& named, const std::string& file) {
  const auto& tensor = named.tensor;
  if (!safetensors_dtype(tensor.scalar_type()))
    throw Error(Exit::data, "'{}' cannot hold tensor '{}' of type {}", file, named.name,
                c10::toString(tensor.scalar_type()));
  return {named.name, tensor.scalar_type(), tensor.sizes().vec(), 0, 0};
}

/// Room for the bytes of a file.
char* reserve(const TensorImage& file) {
  void* room = ::mmap(nullptr, file.size(), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED)
    throw Error(Exit::data, "cannot map '{}': {}", file.path(), std::strerror(errno));
  return static_cast<char*>(room);
}

/// The bytes of a file; changes to them are those of this process.
class Mapping {
 public:
  explicit Mapping(const TensorImage& file) : room_(file), bytes_(room_.bytes) {
    file.map(bytes_);
    guard_.emplace(bytes_, room_.size, file.path());
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  char* bytes() const { return bytes_; }

 private:
  struct Room {
    explicit Room(const TensorImage& file) : size(file.size()), bytes(reserve(file)) {}
    ~Room() { ::munmap(bytes, size); }
    Room(const Room&) = delete;
    Room& operator=(const Room&) = delete;
    std::size_t size;
    char* bytes;
  };

  Room room_;
  char* bytes_;
  std::optional<MappingGuard> guard_;  // ends before the room does
};

bool is_aligned(const char* bytes, at::ScalarType type) {
  return reinterpret_cast<std::uintptr_t>(bytes) % c10::elementSize(type) == 0;
}

}  // namespace

WrittenFile write_safetensors(const std::string& path, const Safetensors& content) {
  SafetensorsHeader header;
  header.metadata = content.metadata;
  for (const auto& named : content.tensors) header.entries.push_back(describe(named, path));
  lay_out(header.entries);
  std::vector<std::size_t> order(header.entries.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](auto i) { return header.entries[i].end; });
  const auto temporary = temporary_name(path);
  FileWriter writer(temporary);
  writer.write(to_text(header));
  for (const auto i : order)
    writer.write(bytes_of(content.tensors[i].tensor.detach().cpu().contiguous()));
  auto written = writer.finish();
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    const std::string reason = std::strerror(errno);
    ::unlink(temporary.c_str());
    throw Error(Exit::data, "cannot write '{}': {}", path, reason);
  }
  const auto slash = path.rfind('/');
  sync_folder(slash == std::string::npos ? "." : path.substr(0, slash + 1));
  return written;
}

Safetensors read_safetensors(const std::string& path) {
  return read_safetensors(TensorImage(path));
}

Safetensors read_safetensors(const TensorImage& file) {
  auto header = read_safetensors_header(file);
  Safetensors content;
  content.metadata = std::move(header.metadata);
  for (auto& entry : header.entries) {
    auto tensor = at::empty(entry.shape, at::TensorOptions(entry.dtype));
    file.read(static_cast<char*>(tensor.data_ptr()),
              static_cast<std::uint64_t>(entry.end - entry.begin),
              header.size + static_cast<std::uint64_t>(entry.begin));
    content.tensors.push_back({std::move(entry.name), std::move(tensor)});
  }
  return content;
}

Safetensors map_safetensors(const std::string& path) { return map_safetensors(TensorImage(path)); }

Safetensors map_safetensors(const TensorImage& file) {
  auto header = read_safetensors_header(file);
  const auto mapping = std::make_shared<const Mapping>(file);
  Safetensors content;
  content.metadata = std::move(header.metadata);
  for (auto& entry : header.entries) {
    auto* first = mapping->bytes() + header.size + entry.begin;
    const at::TensorOptions options(entry.dtype);
    if (is_aligned(first, entry.dtype)) {
      auto view = at::from_blob(
          first, entry.shape, [mapping](void*) {}, options);
      content.tensors.push_back({std::move(entry.name), std::move(view)});
      continue;
    }
    auto tensor = at::empty(entry.shape, options);
    std::memcpy(tensor.data_ptr(), first, tensor.nbytes());
    content.tensors.push_back({std::move(entry.name), std::move(tensor)});
  }
  check_mapped_files();
  return content;
}

}  // namespace ddptrain
