#include "checkpoint/pytorch/state_dict.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "base/error.h"
#include "base/text.h"

namespace ddptrain {
namespace {

using Kind = Pickle::Value::Kind;
using Ref = Pickle::Ref;
using c10::ScalarType;

constexpr std::size_t most_dimensions = 64, longest_key = 255;

struct StorageClass {
  Pickle::Name name;
  ScalarType dtype;
};

constexpr StorageClass storage_classes[] = {
    {{"torch", "DoubleStorage"}, ScalarType::Double},
    {{"torch", "FloatStorage"}, ScalarType::Float},
    {{"torch", "HalfStorage"}, ScalarType::Half},
    {{"torch", "BFloat16Storage"}, ScalarType::BFloat16},
    {{"torch", "LongStorage"}, ScalarType::Long},
    {{"torch", "IntStorage"}, ScalarType::Int},
    {{"torch", "ShortStorage"}, ScalarType::Short},
    {{"torch", "CharStorage"}, ScalarType::Char},
    {{"torch", "ByteStorage"}, ScalarType::Byte},
    {{"torch", "BoolStorage"}, ScalarType::Bool},
    {{"torch.storage", "UntypedStorage"}, ScalarType::Byte}};

/// Reads what torch._utils._rebuild_tensor_v2 was to be called with. A value that many names share
/// is looked at once, so that time grows with the pickle alone.
class StateDictReader {
 public:
  StateDictReader(const Pickle& pickle, const std::string& path) : pickle_(pickle), path_(path) {}

  StateDict run(Dependent dependent) {
    const auto depends = dependent == Dependent::left_out
                             ? dependents()
                             : std::vector<bool>(pickle_.values().size());
    for (const auto& [name, ref] : find_dict()) {
      const auto inner = unwrapped(ref);
      if (depends[ref]) {
        result_.left_out.emplace_back(name);
        continue;
      }
      const auto& value = pickle_.at(inner);
      if (is_tensor(inner))
        result_.names.emplace_back(std::string(name), tensor(inner, name));
      else if (value.kind == Kind::made && maker(value).module.starts_with("torch._"))
        refuse(fmt::format("{} was made by '{}', which is not read", quoted(name),
                           shown(maker(value).attribute, 100)));
    }
    check_sizes();
    return std::move(result_);
  }

  std::vector<SavedStorage> storages() {
    for (std::size_t i = 0; i < pickle_.values().size(); ++i) {
      const auto& value = pickle_.values()[i];
      if (value.kind == Kind::persistent && is_storage(value))
        storage(static_cast<Ref>(i), "a tensor");
    }
    return std::move(result_.storages);
  }

 private:
  using Members = std::vector<std::pair<std::string_view, Ref>>;

  [[noreturn]] void refuse(const std::string& what) const { refuse_torch_file(path_, what); }
  static std::string quoted(std::string_view name) { return fmt::format("'{}'", shown(name, 200)); }

  Ref item(Ref of, std::size_t index) const {
    const auto items = pickle_.items(pickle_.at(of));
    if (index >= items.size()) refuse("a tensor's description is too short");
    return items[index];
  }
  Pickle::Name maker(const Pickle::Value& made) const {
    return pickle_.name(pickle_.at(pickle_.items(made)[0]));
  }
  Ref argument(Ref made, std::size_t index) const { return item(item(made, 1), index); }

  bool is_made_by(Ref ref, std::string_view attribute) const {
    const auto& value = pickle_.at(ref);
    return value.kind == Kind::made && maker(value) == Pickle::Name{"torch._utils", attribute};
  }
  /// torch._utils._rebuild_parameter(data, requires_grad, hooks) is its data.
  Ref unwrapped(Ref ref) const {
    for (int depth = 0; depth < 4 && (is_made_by(ref, "_rebuild_parameter") ||
                                      is_made_by(ref, "_rebuild_parameter_with_state"));
         ++depth)
      ref = argument(ref, 0);
    return ref;
  }
  bool is_tensor(Ref ref) const { return is_made_by(ref, "_rebuild_tensor_v2"); }

  /// By value: whether it holds a dangerous name, or something that does. Backwards from the names,
  /// so that each reference is followed once.
  std::vector<bool> dependents() const {
    const auto& values = pickle_.values();
    std::vector<std::vector<Ref>> holders(values.size());
    std::vector<bool> found(values.size());
    std::vector<Ref> open;
    for (Ref ref = 0; ref < values.size(); ++ref) {
      const auto& value = values[ref];
      for (const auto part : {pickle_.items(value), pickle_.entries(value)})
        for (const auto held : part) holders[held].push_back(ref);
      if (value.kind != Kind::name || !is_dangerous(pickle_.name(value))) continue;
      found[ref] = true;
      open.push_back(ref);
    }
    while (!open.empty()) {
      const auto ref = open.back();
      open.pop_back();
      for (const auto holder : holders[ref]) {
        if (found[holder]) continue;
        found[holder] = true;
        open.push_back(holder);
      }
    }
    return found;
  }

  /// The text keys of a dict with their values, each once: the last counts, as in Python.
  Members members(const Pickle::Value& dict) const {
    Members all;
    std::unordered_map<Ref, std::size_t> by_ref;  // one text may be the key a million times
    std::unordered_map<std::string_view, std::size_t> by_text;
    const auto entries = pickle_.entries(dict);
    for (std::size_t i = 0; i + 1 < entries.size(); i += 2) {
      const auto& key = pickle_.at(entries[i]);
      if (key.kind != Kind::text) continue;
      const auto [same, fresh] = by_ref.try_emplace(entries[i], all.size());
      if (fresh) same->second = by_text.try_emplace(key.text, all.size()).first->second;
      if (same->second == all.size()) all.emplace_back(key.text, 0);
      all[same->second].second = entries[i + 1];
    }
    return all;
  }

  bool holds_tensors(const Members& members) const {
    return std::any_of(members.begin(), members.end(),
                       [&](const auto& member) { return is_tensor(unwrapped(member.second)); });
  }

  Members find_dict() const {
    auto root = members(pickle_.root());
    if (holds_tensors(root)) return root;
    for (const std::string_view key : {"state_dict", "model", "model_state_dict", "net", "weights"})
      for (const auto& [name, ref] : root)
        if (name == key)
          if (auto inner = members(pickle_.at(ref)); holds_tensors(inner)) return inner;
    refuse("there is no dict of tensors in it, neither itself nor under 'state_dict' or 'model'");
  }

  std::int64_t integer(Ref ref, std::string_view name, const char* what) const {
    const auto& value = pickle_.at(ref);
    if (value.kind != Kind::integer || value.integer < 0)
      refuse(quoted(name) + " has " + what + " that is no whole number from 0, of 64 bits");
    return value.integer;
  }

  std::vector<std::int64_t> numbers(Ref list, std::string_view name) const {
    const auto items = pickle_.items(pickle_.at(list));
    if (items.size() > most_dimensions)
      refuse(fmt::format("{} has {} dimensions", quoted(name), items.size()));
    std::vector<std::int64_t> numbers;
    for (const auto ref : items) numbers.push_back(integer(ref, name, "a size or stride"));
    return numbers;
  }

  bool is_storage(const Pickle::Value& persistent) const {
    const auto& identity = pickle_.at(pickle_.items(persistent)[0]);
    const auto items = pickle_.items(identity);
    return !items.empty() && pickle_.at(items[0]).text == "storage";
  }

  /// ("storage", class, key, location, elements)
  std::size_t storage(Ref ref, std::string_view name) {
    const auto [known, fresh] = by_ref_.try_emplace(ref, 0);
    if (fresh) known->second = add_storage(ref, name);
    return known->second;
  }

  std::size_t add_storage(Ref ref, std::string_view name) {
    const auto& value = pickle_.at(ref);
    if (value.kind != Kind::persistent || !is_storage(value))
      refuse(quoted(name) + " has no storage");
    const auto identity = item(ref, 0);
    const auto& key = pickle_.at(item(identity, 2));
    if (key.kind != Kind::text || key.text.size() > longest_key)
      refuse(quoted(name) + " has a storage without a name");
    const SavedStorage storage{std::string(key.text), dtype(item(identity, 1), name),
                               integer(item(identity, 4), name, "a storage of a length")};
    if (pickle_.items(pickle_.at(identity)).size() > 5 &&
        pickle_.at(item(identity, 5)).kind != Kind::none)
      refuse(quoted(name) + " looks into a part of another storage (a form before torch 0.4)");
    const auto [same, fresh] = by_key_.try_emplace(key.text, result_.storages.size());
    if (fresh) {
      result_.storages.push_back(storage);
    } else if (const auto& before = result_.storages[same->second];
               before.dtype != storage.dtype || before.elements != storage.elements) {
      refuse(fmt::format("storage {} is {} and {} at once", quoted(key.text), text(before),
                         text(storage)));
    }
    return same->second;
  }
  static std::string text(const SavedStorage& storage) {
    return fmt::format("{} of {}", storage.elements, c10::toString(storage.dtype));
  }

  ScalarType dtype(Ref ref, std::string_view name) const {
    const auto type = pickle_.name(pickle_.at(ref));
    for (const auto& known : storage_classes)
      if (known.name == type) return known.dtype;
    refuse(fmt::format("{} is stored as '{}.{}', which is not read", quoted(name),
                       shown(type.module, 100), shown(type.attribute, 100)));
  }

  std::size_t tensor(Ref ref, std::string_view name) {
    const auto [known, fresh] = tensors_.try_emplace(ref, result_.tensors.size());
    if (!fresh) return known->second;
    SavedTensor tensor{storage(argument(ref, 0), name),
                       integer(argument(ref, 1), name, "an offset"),
                       numbers(argument(ref, 2), name), numbers(argument(ref, 3), name)};
    check_view(tensor, name);
    result_.tensors.push_back(std::move(tensor));
    return known->second;
  }

  void check_view(const SavedTensor& tensor, std::string_view name) const {
    const auto& storage = result_.storages[tensor.storage];
    if (tensor.sizes.size() != tensor.strides.size())
      refuse(quoted(name) + " has a shape that makes no sense");
    std::int64_t last = tensor.offset, all = 1;
    bool overflow = false;
    for (std::size_t d = 0; d < tensor.sizes.size(); ++d) {
      std::int64_t reach = 0;
      const auto size = std::max<std::int64_t>(tensor.sizes[d], 1);
      overflow = overflow || __builtin_mul_overflow(size - 1, tensor.strides[d], &reach) ||
                 __builtin_add_overflow(last, reach, &last) ||
                 __builtin_mul_overflow(all, size, &all);
    }
    if (overflow || all > INT64_MAX / 8) refuse(quoted(name) + " has a shape whose size overflows");
    if (elements(tensor) > 0 && last >= storage.elements)
      refuse(quoted(name) + " reaches beyond its storage");
  }

  /// Views may share and repeat elements (tied and expanded weights), but writing them out
  /// must not need much more than the file has.
  void check_sizes() const {
    constexpr double most_repeated = 16, always_allowed = 64 << 20;
    double held = 0, needed = 0;
    for (const auto& storage : result_.storages) held += static_cast<double>(storage.bytes());
    for (const auto& [name, index] : result_.names) {
      const auto& tensor = result_.tensors[index];
      const auto size = c10::elementSize(result_.storages[tensor.storage].dtype);
      needed += static_cast<double>(elements(tensor)) * static_cast<double>(size);
    }
    if (needed > held * most_repeated + always_allowed)
      refuse(
          fmt::format("its tensors repeat elements: they have {:.0f} bytes, the file stores {:.0f}",
                      needed, held));
  }
  static std::int64_t elements(const SavedTensor& tensor) {
    std::int64_t all = 1;
    for (const auto size : tensor.sizes) all *= size;
    return all;
  }

  const Pickle& pickle_;
  const std::string& path_;
  StateDict result_;
  std::unordered_map<Ref, std::size_t> by_ref_, tensors_;
  std::unordered_map<std::string_view, std::size_t> by_key_;
};

}  // namespace

void refuse_torch_file(const std::string& path, const std::string& what) {
  throw Error(Exit::data, "'{}' cannot be read as a torch file: {}", path, what);
}

std::uint64_t SavedStorage::bytes() const {
  std::uint64_t bytes = 0;
  const bool overflow =
      __builtin_mul_overflow(static_cast<std::uint64_t>(elements), c10::elementSize(dtype), &bytes);
  return overflow ? UINT64_MAX : bytes;
}

StateDict read_state_dict(const Pickle& pickle, const std::string& path, Dependent dependent) {
  return StateDictReader(pickle, path).run(dependent);
}

std::vector<SavedStorage> all_storages(const Pickle& pickle, const std::string& path) {
  return StateDictReader(pickle, path).storages();
}

}  // namespace ddptrain
