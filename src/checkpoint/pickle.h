// What Python's pickle wrote, as plain data. Nothing is executed: a class or function is only a
// name, and what it would have made is kept as that name with its arguments.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ddptrain {

/// A graph of values; containers refer to others by their index, so that cycles and shared values
/// are harmless.
struct Pickle {
  using Ref = std::uint32_t;

  struct Value {
    enum class Kind {
      none,
      boolean,
      integer,
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
    std::int64_t integer = 0;  // boolean too
    double real = 0;
    std::string text;        // text, bytes; of a name "module attribute"
    std::vector<Ref> items;  // list, tuple; made: what made it, its arguments, its state if any;
                             // persistent: the identity
    std::vector<std::pair<Ref, Ref>> entries;  // dict; made: what was set on it as on a dict
  };

  std::vector<Value> values;
  Ref root = 0;

  const Value& at(Ref ref) const { return values.at(ref); }
  /// The value of a text key of a dict (or of what was made like one), or null.
  const Value* find(const Value& dict, std::string_view key) const;
};

/// Reads one pickle from the start of `bytes` and sets `used` to its length. Protocols 0 to 5
/// without out-of-band buffers. Throws an Error (Exit::data) that says at which byte it stopped;
/// `file` is named in it.
Pickle read_pickle(std::span<const std::uint8_t> bytes, const std::string& file, std::size_t& used);

}  // namespace ddptrain
