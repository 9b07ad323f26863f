// What Python's pickle wrote, as plain data. Nothing is executed: a class or function is only a
// name, and what it would have made is kept as that name with its arguments.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ddptrain {

/// A graph of values; containers refer to others by their index, so that cycles and shared values
/// are harmless. Texts are views of the bytes that were read, which must outlive it: so time and
/// memory grow with the bytes of the file, never with what they would unfold to.
class Pickle {
 public:
  using Ref = std::uint32_t;

  struct Value {
    enum class Kind : std::uint8_t {
      none,
      boolean,
      integer,
      large_integer,  // of more than 64 bits; such numbers are never read, nor are reals
      real,
      text,
      bytes,
      list,
      tuple,
      dict,
      name,
      made,
      persistent
    };
    Kind kind = Kind::none;
    Ref items = 0, entries = 0;  // which containers are its, 0: none
    std::int64_t integer = 0;    // boolean too; of a name its number
    std::string_view text;       // text, bytes
  };

  /// A class or function.
  struct Name {
    std::string_view module, attribute;
    bool operator==(const Name&) const = default;
  };

  const Value& at(Ref ref) const { return values_.at(ref); }
  const Value& root() const { return at(root_); }
  Ref root_ref() const { return root_; }
  const std::vector<Value>& values() const { return values_; }
  /// Of list and tuple the items; of what was made: what made it, its arguments, its state if any;
  /// of a persistent value its identity; otherwise nothing.
  std::span<const Ref> items(const Value& value) const { return containers_[value.items]; }
  /// Keys and values by turns, of a dict and of what was filled like one.
  std::span<const Ref> entries(const Value& value) const { return containers_[value.entries]; }
  /// Empty where the value is no name.
  Name name(const Value& value) const;

 private:
  friend class PickleReader;
  std::vector<Value> values_;
  std::vector<std::vector<Ref>> containers_{1};
  std::vector<Name> names_;
  Ref root_ = 0;
};

/// Reads one pickle from the start of `bytes` and sets `used` to its length. Protocols 0 to 5
/// without out-of-band buffers. Throws an Error (Exit::data) that says at which byte it stopped;
/// `file` is named in it.
Pickle read_pickle(std::span<const std::uint8_t> bytes, const std::string& file, std::size_t& used);

/// "os.system", "builtins.eval": whether a name is of a function that starts programs, runs code or
/// reaches for files and the network. None is ever called here; Python's pickle.load would.
bool is_dangerous(const Pickle::Name& name);

/// Those that a pickle names, called or handed to another, each once, in the order of the file, at
/// most ten.
std::vector<std::string> dangerous_calls(const Pickle& pickle);

}  // namespace ddptrain
