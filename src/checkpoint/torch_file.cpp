#include "checkpoint/torch_file.h"

#include <ATen/ops/empty.h>
#include <archive.h>
#include <archive_entry.h>

#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <span>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "checkpoint/pickle.h"

namespace ddptrain {
namespace {

using Kind = Pickle::Value::Kind;
using Bytes = std::span<const std::uint8_t>;

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
  throw Error(Exit::data, "'" + path + "' cannot be read as a torch file: " + what);
}

Bytes as_bytes(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

/// What a class of storage or a dtype is called: "torch FloatStorage", "torch float32".
std::optional<at::ScalarType> dtype_of(const std::string& name) {
  static const std::map<std::string, at::ScalarType> types{
      {"torch DoubleStorage", at::kDouble},       {"torch FloatStorage", at::kFloat},
      {"torch HalfStorage", at::kHalf},           {"torch BFloat16Storage", at::kBFloat16},
      {"torch LongStorage", at::kLong},           {"torch IntStorage", at::kInt},
      {"torch ShortStorage", at::kShort},         {"torch CharStorage", at::kChar},
      {"torch ByteStorage", at::kByte},           {"torch BoolStorage", at::kBool},
      {"torch.storage UntypedStorage", at::kByte}};
  const auto found = types.find(name);
  return found == types.end() ? std::nullopt : std::optional(found->second);
}

/// A storage that a tensor looks into.
struct StorageName {
  at::ScalarType dtype = at::kFloat;
  std::string key;
  std::int64_t elements = 0;
};

/// A state dict whose tensors are still descriptions.
class StateDict {
 public:
  StateDict(const std::string& path, Pickle pickle) : path_(path), pickle_(std::move(pickle)) {
    const auto& dict = find_dict();
    for (const auto& [name, value] : dict.entries) {
      const auto& inner = unwrapped(pickle_.at(value));
      if (pickle_.at(name).kind != Kind::text) continue;
      if (is_tensor(inner))
        tensors_.emplace_back(pickle_.at(name).text, &inner);
      else if (inner.kind == Kind::made && maker(inner).starts_with("torch._"))
        refuse(path_, "'" + pickle_.at(name).text + "' was made by '" + maker(inner) +
                          "', which is not read");
    }
  }
  StateDict(const StateDict&) = delete;
  StateDict& operator=(const StateDict&) = delete;

  /// Which storages the tensors look into.
  std::map<std::string, StorageName> storages() const {
    std::map<std::string, StorageName> all;
    for (const auto& [name, tensor] : tensors_) {
      auto storage = storage_of(argument(*tensor, 0), name);
      all.emplace(storage.key, std::move(storage));
    }
    return all;
  }

  /// Every storage of the file, also those of tensors that are not read.
  std::map<std::string, StorageName> all_storages() const {
    std::map<std::string, StorageName> all;
    for (const auto& value : pickle_.values)
      if (value.kind == Kind::persistent) {
        auto storage = storage_of(value, "a tensor");
        all.emplace(storage.key, std::move(storage));
      }
    return all;
  }

  std::vector<NamedTensor> look_into(const std::map<std::string, at::Tensor>& storages) const {
    std::vector<NamedTensor> all;
    for (const auto& [name, tensor] : tensors_)
      all.push_back(
          {name, view(storages.at(storage_of(argument(*tensor, 0), name).key), *tensor, name)});
    return all;
  }

 private:
  const Pickle::Value& item(const Pickle::Value& value, std::size_t index) const {
    if (index >= value.items.size()) refuse(path_, "a tensor's description is too short");
    return pickle_.at(value.items[index]);
  }
  const std::string& maker(const Pickle::Value& made) const { return item(made, 0).text; }
  const Pickle::Value& argument(const Pickle::Value& made, std::size_t index) const {
    return item(item(made, 1), index);
  }

  /// torch._utils._rebuild_parameter(data, requires_grad, hooks) is its data.
  const Pickle::Value& unwrapped(const Pickle::Value& value) const {
    const auto* at = &value;
    for (int depth = 0; depth < 4 && at->kind == Kind::made &&
                        maker(*at).starts_with("torch._utils _rebuild_parameter");
         ++depth)
      at = &argument(*at, 0);
    return *at;
  }
  bool is_tensor(const Pickle::Value& value) const {
    const auto& inner = unwrapped(value);
    return inner.kind == Kind::made && maker(inner) == "torch._utils _rebuild_tensor_v2";
  }
  bool holds_tensors(const Pickle::Value& dict) const {
    for (const auto& [name, value] : dict.entries)
      if (is_tensor(pickle_.at(value))) return true;
    return false;
  }

  const Pickle::Value& find_dict() const {
    const auto& root = pickle_.at(pickle_.root);
    if (holds_tensors(root)) return root;
    for (const auto* key : {"state_dict", "model", "model_state_dict", "net", "weights"})
      if (const auto* dict = pickle_.find(root, key); dict && holds_tensors(*dict)) return *dict;
    refuse(path_,
           "there is no dict of tensors in it, neither itself nor under 'state_dict' or 'model'");
  }

  /// ("storage", class, key, location, elements)
  StorageName storage_of(const Pickle::Value& persistent, const std::string& name) const {
    if (persistent.kind != Kind::persistent) refuse(path_, "'" + name + "' has no storage");
    const auto& identity = item(persistent, 0);
    const auto& type = item(identity, 1).text;
    const auto dtype = dtype_of(type);
    if (!dtype) refuse(path_, "'" + name + "' is stored as '" + type + "', which is not read");
    if (identity.items.size() > 5 && item(identity, 5).kind != Kind::none)
      refuse(path_,
             "'" + name + "' looks into a part of another storage (a form before torch 0.4)");
    return {*dtype, item(identity, 2).text, item(identity, 4).integer};
  }

  std::vector<std::int64_t> numbers(const Pickle::Value& list, const std::string& name) const {
    std::vector<std::int64_t> numbers;
    for (const auto ref : list.items) {
      if (pickle_.at(ref).kind != Kind::integer || pickle_.at(ref).integer < 0)
        refuse(path_, "'" + name + "' has a size or stride that is no whole number from 0");
      numbers.push_back(pickle_.at(ref).integer);
    }
    return numbers;
  }

  at::Tensor view(const at::Tensor& storage, const Pickle::Value& tensor,
                  const std::string& name) const {
    const auto offset = argument(tensor, 1).integer;
    const auto sizes = numbers(argument(tensor, 2), name),
               strides = numbers(argument(tensor, 3), name);
    if (sizes.size() != strides.size() || offset < 0)
      refuse(path_, "'" + name + "' has a shape that makes no sense");
    __int128 last = offset;
    bool empty = false;
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      empty = empty || sizes[d] == 0;
      last += static_cast<__int128>(sizes[d] - 1) * strides[d];
    }
    if (!empty && last >= storage.numel())
      refuse(path_, "'" + name + "' reaches beyond its storage");
    if (empty) return at::empty(sizes, storage.options());
    return storage.as_strided(sizes, strides, offset).contiguous();
  }

  const std::string& path_;
  Pickle pickle_;
  std::vector<std::pair<std::string, const Pickle::Value*>> tensors_;
};

at::Tensor filled(const StorageName& storage, Bytes bytes, const std::string& path) {
  const auto size = static_cast<std::int64_t>(c10::elementSize(storage.dtype));
  if (storage.elements < 0 || static_cast<std::uint64_t>(storage.elements) >
                                  bytes.size() / static_cast<std::uint64_t>(size))
    refuse(path, "storage '" + storage.key + "' is cut short");
  auto tensor = at::empty({storage.elements}, at::TensorOptions(storage.dtype));
  std::memcpy(tensor.mutable_data_ptr(), bytes.data(), tensor.nbytes());
  return tensor;
}

// ---- the zip form: FOLDER/data.pkl, FOLDER/byteorder, FOLDER/data/KEY

std::map<std::string, std::string> read_zip(const std::string& text, const std::string& path) {
  std::unique_ptr<archive, int (*)(archive*)> reader(archive_read_new(), archive_read_free);
  archive_read_support_format_zip(reader.get());
  const auto check = [&](int result) {
    if (result < ARCHIVE_WARN) {
      const char* why = archive_error_string(reader.get());
      refuse(path, why ? why : "the zip file is damaged");
    }
  };
  check(archive_read_open_memory(reader.get(), text.data(), text.size()));
  std::map<std::string, std::string> files;
  archive_entry* entry = nullptr;
  for (int result; (result = archive_read_next_header(reader.get(), &entry)) != ARCHIVE_EOF;) {
    check(result);
    const std::string name = archive_entry_pathname(entry);
    // torch stores without compression, so no entry is larger than the file.
    const auto size = static_cast<std::uint64_t>(archive_entry_size(entry));
    if (size > text.size())
      refuse(path, "'" + name + "' in it claims more bytes than the file has");
    std::string content(size, '\0');
    if (archive_read_data(reader.get(), content.data(), size) != static_cast<la_ssize_t>(size))
      refuse(path, "'" + name + "' in it is cut short or damaged");
    files[name.substr(name.find('/') + 1)] = std::move(content);
  }
  return files;
}

std::vector<NamedTensor> tensors_of_zip(const std::string& text, const std::string& path) {
  auto files = read_zip(text, path);
  if (const auto order = files.find("byteorder"); order != files.end() && order->second != "little")
    refuse(path, "its numbers are not little-endian");
  const auto data = files.find("data.pkl");
  if (data == files.end())
    refuse(path, files.contains("constants.pkl") ? "a TorchScript program, not weights"
                                                 : "the zip file has no data.pkl");
  std::size_t used = 0;
  const StateDict state(path, read_pickle(as_bytes(data->second), path, used));
  std::map<std::string, at::Tensor> storages;
  for (const auto& [key, storage] : state.storages()) {
    const auto file = files.find("data/" + key);
    if (file == files.end()) refuse(path, "storage '" + key + "' is missing");
    storages.emplace(key, filled(storage, as_bytes(file->second), path));
  }
  return state.look_into(storages);
}

// ---- the form before torch 1.6: pickles of magic number, protocol, machine, object, keys; then
// the storages

constexpr std::string_view old_magic{"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.",
                                     15};

std::vector<NamedTensor> tensors_of_old(const std::string& text, const std::string& path) {
  auto rest = as_bytes(text);
  const auto next = [&] {
    std::size_t used = 0;
    auto pickle = read_pickle(rest, path, used);
    rest = rest.subspan(used);
    return pickle;
  };
  for (int head = 0; head < 3; ++head) next();
  const StateDict state(path, next());
  const auto known = state.all_storages();
  const auto keys = next();
  std::map<std::string, at::Tensor> storages;
  for (const auto ref : keys.at(keys.root).items) {
    const auto& key = keys.at(ref).text;
    std::int64_t elements = 0;
    if (rest.size() < sizeof elements) refuse(path, "it is cut short");
    std::memcpy(&elements, rest.data(), sizeof elements);
    rest = rest.subspan(sizeof elements);
    const auto found = known.find(key);
    if (found == known.end()) refuse(path, "storage '" + key + "' belongs to no tensor");
    auto storage = found->second;
    storage.elements = elements;
    storages.emplace(key, filled(storage, rest, path));
    rest = rest.subspan(storages.at(key).nbytes());
  }
  for (const auto& [key, storage] : state.storages())
    if (!storages.contains(key)) refuse(path, "storage '" + key + "' is missing");
  return state.look_into(storages);
}

void drop_shared_prefix(std::vector<NamedTensor>& tensors, const std::string& prefix) {
  for (const auto& named : tensors)
    if (!named.name.starts_with(prefix)) return;
  for (auto& named : tensors) named.name.erase(0, prefix.size());
}

}  // namespace

std::vector<NamedTensor> read_torch_file(const std::string& path) {
  const auto text = read_text(path);
  std::vector<NamedTensor> tensors;
  if (text.starts_with("PK\x03\x04"))
    tensors = tensors_of_zip(text, path);
  else if (text.starts_with(old_magic))
    tensors = tensors_of_old(text, path);
  else
    refuse(path, "it begins neither like a zip file nor like one of torch before 1.6");
  drop_shared_prefix(tensors, "module.");
  return tensors;
}

}  // namespace ddptrain
