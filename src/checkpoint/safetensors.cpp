#include "checkpoint/safetensors.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/files/atomic_file.h"
#include "base/files/files.h"
#include "base/files/mapping_guard.h"
#include "checkpoint/safetensors_header.h"

namespace ddptrain {
namespace {

constexpr std::uint64_t longest_header = 100'000'000;  // the format's own limit

std::string_view bytes_of(const at::Tensor& tensor) {
  return {static_cast<const char*>(tensor.const_data_ptr()), tensor.nbytes()};
}

TensorEntry describe(const NamedTensor& named, const std::string& file) {
  const auto& tensor = named.tensor;
  if (!safetensors_dtype(tensor.scalar_type()))
    throw Error(Exit::data, "'" + file + "' cannot hold tensor '" + named.name + "' of type " +
                                c10::toString(tensor.scalar_type()));
  return {named.name, tensor.scalar_type(), tensor.sizes().vec(), 0, 0};
}

// Widest elements first, so that each tensor is aligned for readers that map the file.
std::vector<std::size_t> layout(std::vector<TensorEntry>& entries,
                                const std::vector<NamedTensor>& tensors) {
  std::vector<std::size_t> order(entries.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return c10::elementSize(entries[a].dtype) > c10::elementSize(entries[b].dtype);
  });
  std::int64_t at = 0;
  for (const auto i : order) {
    entries[i].begin = at;
    entries[i].end = at += static_cast<std::int64_t>(tensors[i].tensor.nbytes());
  }
  return order;
}

std::uint64_t header_length(const InputFile& file) {
  const auto refuse = [&](const std::string& what) {
    throw Error(Exit::data, "'" + file.path() + "' is no sound safetensors file: " + what);
  };
  if (file.size() < 8) refuse(fmt::format("it has only {} bytes", file.size()));
  std::uint64_t length = 0;
  file.read(reinterpret_cast<char*>(&length), sizeof length, 0);
  if (length > longest_header) refuse(fmt::format("its header claims {} bytes", length));
  if (length > file.size() - 8) refuse("its header is cut short");
  return length;
}

SafetensorsHeader read_header(const InputFile& file, std::uint64_t length) {
  std::string json(length, '\0');
  file.read(json.data(), length, 8);
  return parse_safetensors_header(json, static_cast<std::int64_t>(file.size() - 8 - length),
                                  file.path());
}

char* map(const InputFile& file) {
  void* mapped =
      ::mmap(nullptr, file.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE, file.descriptor(), 0);
  if (mapped == MAP_FAILED)
    throw Error(Exit::data, "cannot map '" + file.path() + "': " + std::strerror(errno));
  return static_cast<char*>(mapped);
}

/// The bytes of a file; changes to them are those of this process.
class Mapping {
 public:
  explicit Mapping(const InputFile& file)
      : size_(file.size()), bytes_(map(file)), guard_(std::in_place, bytes_, size_, file.path()) {}
  ~Mapping() {
    guard_.reset();
    ::munmap(bytes_, size_);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  char* bytes() const { return bytes_; }

 private:
  std::size_t size_;
  char* bytes_;
  std::optional<MappingGuard> guard_;
};

bool is_aligned(const char* bytes, at::ScalarType type) {
  return reinterpret_cast<std::uintptr_t>(bytes) % c10::elementSize(type) == 0;
}

}  // namespace

WrittenFile write_safetensors(const std::string& path, const Safetensors& content) {
  SafetensorsHeader header;
  header.metadata = content.metadata;
  for (const auto& named : content.tensors) header.entries.push_back(describe(named, path));
  const auto order = layout(header.entries, content.tensors);
  const auto temporary = temporary_name(path);
  FileWriter writer(temporary);
  writer.write(to_text(header));
  for (const auto i : order)
    writer.write(bytes_of(content.tensors[i].tensor.detach().cpu().contiguous()));
  auto written = writer.finish();
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    const std::string reason = std::strerror(errno);
    ::unlink(temporary.c_str());
    throw Error(Exit::data, "cannot write '" + path + "': " + reason);
  }
  const auto slash = path.rfind('/');
  sync_folder(slash == std::string::npos ? "." : path.substr(0, slash + 1));
  return written;
}

Safetensors read_safetensors(const std::string& path) {
  const InputFile file(path);
  const auto length = header_length(file);
  auto header = read_header(file, length);
  Safetensors content;
  content.metadata = std::move(header.metadata);
  for (auto& entry : header.entries) {
    auto tensor = at::empty(entry.shape, at::TensorOptions(entry.dtype));
    file.read(static_cast<char*>(tensor.data_ptr()),
              static_cast<std::uint64_t>(entry.end - entry.begin),
              8 + length + static_cast<std::uint64_t>(entry.begin));
    content.tensors.push_back({std::move(entry.name), std::move(tensor)});
  }
  return content;
}

Safetensors map_safetensors(const std::string& path) {
  const InputFile file(path);
  const auto length = header_length(file);
  auto header = read_header(file, length);
  const auto mapping = std::make_shared<const Mapping>(file);
  Safetensors content;
  content.metadata = std::move(header.metadata);
  for (auto& entry : header.entries) {
    auto* first = mapping->bytes() + 8 + length + entry.begin;
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
