#include "checkpoint/pytorch/torch_file.h"

#include <ATen/ops/empty.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>

#include "base/error.h"
#include "base/files/files.h"
#include "base/output/log.h"
#include "base/text.h"
#include "checkpoint/pytorch/pickle.h"
#include "checkpoint/pytorch/state_dict.h"
#include "checkpoint/pytorch/zip_file.h"

namespace ddptrain {
namespace {

std::string some_of(std::vector<std::string> names) {
  constexpr std::size_t kShown = 3;
  const auto more = names.size() - std::min(names.size(), kShown);
  names.resize(names.size() - more);
  for (auto& name : names) name = fmt::format("'{}'", shown(name, 100));
  return join(names, ", ") + (more > 0 ? fmt::format(" and {} more", more) : "");
}

/// Tensors that depend on a call, and the call itself, are no part of what is read then.
StateDict state_of(const Pickle& pickle, const std::string& path, Calls calls) {
  const auto dangerous = dangerous_calls(pickle);
  if (dangerous.empty()) return read_state_dict(pickle, path);
  const auto named = fmt::format("'{}' asks Python to call '{}'", path, join(dangerous, "', '"));
  if (calls == Calls::refused)
    throw Error(Exit::data,
                "{}: weights need no such call, and torch.load with weights_only=False would make "
                "it. Nothing was called. Do not trust the file; '--allow-calls' (in a recipe "
                "model.weights: {{allow_calls: true}}) reads the tensors that do not depend on it",
                named);
  auto state = read_state_dict(pickle, path, Dependent::left_out);
  log::warning("{}, which is not executed{}", named,
               state.left_out.empty()
                   ? std::string()
                   : "; left out, since they depend on it: " + some_of(state.left_out));
  return state;
}

at::Tensor empty_storage(const SavedStorage& storage) {
  return at::empty({storage.elements}, at::TensorOptions(storage.dtype));
}

char* bytes_of_storage(const at::Tensor& storage) {
  return static_cast<char*>(storage.mutable_data_ptr());
}

/// Views, not copies: what repeats elements needs no more memory than the file.
std::vector<NamedTensor> look_into(const StateDict& state,
                                   const std::vector<at::Tensor>& storages) {
  std::vector<at::Tensor> tensors;
  for (const auto& [storage, offset, sizes, strides] : state.tensors)
    tensors.push_back(storages[storage].as_strided(sizes, strides, offset));
  std::vector<NamedTensor> named;
  for (const auto& [name, index] : state.names) named.push_back({name, tensors[index]});
  return named;
}

// ---- the zip form: FOLDER/data.pkl, FOLDER/byteorder, FOLDER/data/KEY

at::Tensor storage_of_zip(const ZipFile& zip, const SavedStorage& storage,
                          const std::string& path) {
  const auto entry = "data/" + storage.key;
  if (!zip.contains(entry))
    refuse_torch_file(path, fmt::format("storage '{}' is missing", shown(storage.key)));
  if (zip.size(entry) != storage.bytes())
    refuse_torch_file(path, fmt::format("storage '{}' has {} bytes and needs {}",
                                        shown(storage.key), zip.size(entry), storage.bytes()));
  auto tensor = empty_storage(storage);
  zip.read(entry, bytes_of_storage(tensor));
  return tensor;
}

std::vector<NamedTensor> tensors_of_zip(const InputFile& file, Calls calls) {
  const auto& path = file.path();
  const ZipFile zip(file);
  if (zip.contains("byteorder") && zip.read("byteorder") != "little")
    refuse_torch_file(path, "its numbers are not little-endian");
  if (!zip.contains("data.pkl"))
    refuse_torch_file(path, zip.contains("constants.pkl") ? "a TorchScript program, not weights"
                                                          : "the zip file has no data.pkl");
  if (zip.size("data.pkl") > kLongestText) refuse_torch_file(path, "its data.pkl is too large");
  if (zip.unchecked())
    log::warning("'{}' was written without checksums: damage to it cannot be seen", path);
  const auto text = zip.read("data.pkl");
  std::size_t used = 0;
  const auto pickle =
      read_pickle({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, path, used);
  const auto state = state_of(pickle, path, calls);
  std::vector<at::Tensor> storages;
  for (const auto& storage : state.storages) storages.push_back(storage_of_zip(zip, storage, path));
  return look_into(state, storages);
}

// ---- the form before torch 1.6: pickles of magic number, protocol, machine, object, keys; then
// the storages

constexpr std::string_view old_magic{"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.",
                                     15};

/// The pickles at the beginning of a file, which does not say how long they are.
struct OldHead {
  std::string text;  // the pickles look into it
  Pickle object, keys;
  std::uint64_t size = 0;
};

OldHead read_old_head(const InputFile& file, std::uint64_t most) {
  OldHead head;
  head.text.resize(most);
  file.read(head.text.data(), most, 0);
  const std::span bytes(reinterpret_cast<const std::uint8_t*>(head.text.data()), most);
  const auto next = [&] {
    std::size_t used = 0;
    auto pickle = read_pickle(bytes.subspan(head.size), file.path(), used);
    head.size += used;
    return pickle;
  };
  for (int start = 0; start < 3; ++start) next();
  head.object = next();
  head.keys = next();
  return head;
}

/// Four times as many bytes as long as they do not do.
OldHead read_old_head(const InputFile& file) {
  const auto all = std::min<std::uint64_t>(file.size(), kLongestText);
  for (std::uint64_t most = 1 << 20; most < all; most *= 4) try {
      return read_old_head(file, most);
    } catch (const Error&) {  // reported by the last attempt, if it is not that they were cut
    }
  return read_old_head(file, all);
}

/// The storages that `wanted` names, where they lie behind the pickles; others are passed over.
class OldStorages {
 public:
  OldStorages(const InputFile& file, const OldHead& head)
      : file_(file), at_(head.size), known_(all_storages(head.object, file.path())) {
    for (const auto& storage : known_) by_key_.emplace(storage.key, &storage);
  }

  std::map<std::string, at::Tensor> read(const OldHead& head, const StateDict& wanted) {
    std::map<std::string, at::Tensor> all;
    for (const auto& storage : wanted.storages) all.emplace(storage.key, at::Tensor());
    for (const auto ref : head.keys.items(head.keys.root())) {
      const auto found = by_key_.find(head.keys.at(ref).text);
      if (found == by_key_.end())
        refuse("storage '" + shown(head.keys.at(ref).text, 100) + "' belongs to no tensor");
      const auto place = place_of(*found->second);
      const auto tensor = all.find(found->second->key);
      if (tensor == all.end()) continue;
      tensor->second = empty_storage(*found->second);
      file_.read(bytes_of_storage(tensor->second), found->second->bytes(), place);
    }
    for (const auto& [key, tensor] : all)
      if (!tensor.defined()) refuse(fmt::format("storage '{}' is missing", shown(key)));
    return all;
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const { refuse_torch_file(file_.path(), what); }

  /// Where its elements begin, behind their number; the next storage follows them.
  std::uint64_t place_of(const SavedStorage& storage) {
    std::int64_t elements = 0;
    if (file_.size() - at_ < sizeof elements) refuse("it is cut short");
    file_.read(reinterpret_cast<char*>(&elements), sizeof elements, at_);
    const auto place = at_ + sizeof elements;
    if (elements != storage.elements)
      refuse(fmt::format("storage '{}' has {} elements and needs {}", shown(storage.key), elements,
                         storage.elements));
    if (storage.bytes() > file_.size() - place)
      refuse(fmt::format("storage '{}' is cut short", shown(storage.key)));
    at_ = place + storage.bytes();
    return place;
  }

  const InputFile& file_;
  std::uint64_t at_;
  std::vector<SavedStorage> known_;
  std::map<std::string, const SavedStorage*, std::less<>> by_key_;
};

std::vector<NamedTensor> tensors_of_old(const InputFile& file, Calls calls) {
  const auto head = read_old_head(file);
  const auto state = state_of(head.object, file.path(), calls);
  const auto found = OldStorages(file, head).read(head, state);
  std::vector<at::Tensor> storages;
  for (const auto& storage : state.storages) storages.push_back(found.at(storage.key));
  return look_into(state, storages);
}

void drop_shared_prefix(std::vector<NamedTensor>& tensors, const std::string& shared) {
  for (const auto& named : tensors)
    if (!named.name.starts_with(shared)) return;
  for (auto& named : tensors) named.name.erase(0, shared.size());
}

}  // namespace

std::vector<NamedTensor> read_torch_file(const std::string& path, Calls calls) {
  const InputFile file(path);
  std::string start(std::min<std::uint64_t>(file.size(), old_magic.size()), '\0');
  file.read(start.data(), start.size(), 0);
  std::vector<NamedTensor> tensors;
  if (start.starts_with("PK\x03\x04"))
    tensors = tensors_of_zip(file, calls);
  else if (start == old_magic)
    tensors = tensors_of_old(file, calls);
  else
    refuse_torch_file(path, "it begins neither like a zip file nor like one of torch before 1.6");
  drop_shared_prefix(tensors, "module.");
  return tensors;
}

}  // namespace ddptrain
