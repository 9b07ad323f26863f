#include "checkpoint/pytorch/pickle.h"

#include <fmt/format.h>

#include <charconv>

#include "base/error.h"
#include "base/text.h"
#include "checkpoint/pytorch/pickle_bytes.h"
#include "checkpoint/pytorch/pickle_op.h"

namespace ddptrain {

using Kind = Pickle::Value::Kind;
using Ref = Pickle::Ref;
using pickle::Op;

/// The machine of Lib/pickle.py. Every step costs what it reads, and leaves a few dozen bytes.
class PickleReader : PickleBytes {
 public:
  using PickleBytes::PickleBytes;

  Pickle run(std::size_t& used) {
    while (true) {
      const auto op = byte();
      if (op == Op::stop) break;
      step(op);
    }
    pickle_.root_ = pop();
    used = position();
    return std::move(pickle_);
  }

 private:
  static constexpr std::size_t most_values = 20'000'000;
  static constexpr Ref nothing = UINT32_MAX;

  /// Little-endian two's complement of any length.
  void push_long(std::uint64_t count) {
    auto part = take_bytes(count);
    const bool negative = !part.empty() && part.back() >= 0x80;
    // Bytes that only carry the sign on.
    while (part.size() > 8 && part.back() == (negative ? 0xff : 0) &&
           (part[part.size() - 2] >= 0x80) == negative)
      part = part.first(part.size() - 1);
    if (part.size() > 8) return push(Kind::large_integer);
    std::uint64_t value = negative ? ~std::uint64_t{0} : 0;
    for (std::size_t i = 0; i < part.size(); ++i) {
      value &= ~(std::uint64_t{0xff} << (8 * i));
      value |= std::uint64_t{part[i]} << (8 * i);
    }
    push_integer(static_cast<std::int64_t>(value));
  }

  // ---- stack

  void push(Kind kind) { push(Pickle::Value{.kind = kind, .text = {}}); }
  void push(const Pickle::Value& value) {
    if (pickle_.values_.size() >= most_values) fail("there are too many values");
    pickle_.values_.push_back(value);
    stack_.push_back(static_cast<Ref>(pickle_.values_.size() - 1));
  }
  void push_integer(std::int64_t integer, Kind kind = Kind::integer) {
    push({.kind = kind, .integer = integer, .text = {}});
  }
  void push_text(std::string_view text, Kind kind = Kind::text) {
    push({.kind = kind, .text = text});
  }
  void push_name(std::string_view module, std::string_view attribute) {
    pickle_.names_.push_back({module, attribute});
    push_integer(static_cast<std::int64_t>(pickle_.names_.size() - 1), Kind::name);
  }
  void push_items(Kind kind, std::vector<Ref> items) {
    Ref own = 0;
    add(own, items);
    push({.kind = kind, .items = own, .text = {}});
  }
  /// Puts items into a container, which is made for the first of them.
  void add(Ref& container, std::span<const Ref> items) {
    if (items.empty()) return;
    if (container == 0) {
      container = static_cast<Ref>(pickle_.containers_.size());
      pickle_.containers_.emplace_back(items.begin(), items.end());
      return;
    }
    auto& all = pickle_.containers_[container];
    all.insert(all.end(), items.begin(), items.end());
  }
  Ref pop() {
    if (stack_.size() <= (marks_.empty() ? 0 : marks_.back())) fail("a value is missing");
    const auto ref = stack_.back();
    stack_.pop_back();
    return ref;
  }
  Ref top() {
    const auto ref = pop();
    stack_.push_back(ref);
    return ref;
  }
  std::vector<Ref> take_some(std::size_t count) {
    std::vector<Ref> items(count);
    for (std::size_t i = count; i-- > 0;) items[i] = pop();
    return items;
  }
  std::vector<Ref> take_to_mark() {
    if (marks_.empty()) fail("a mark is missing");
    const auto first = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    std::vector<Ref> items(first, stack_.end());
    stack_.erase(first, stack_.end());
    marks_.pop_back();
    return items;
  }
  Pickle::Value& value(Ref ref) { return pickle_.values_[ref]; }

  // ---- values

  void set_items_of(Ref target, const std::vector<Ref>& items) {
    if (items.size() % 2 != 0) fail("a key has no value");
    add(value(target).entries, items);
  }
  void append_to(Ref target, const std::vector<Ref>& items) {
    if (value(target).kind == Kind::list) add(value(target).items, items);
  }
  void make_object(const std::vector<Ref>& parts) {
    // An OrderedDict is a dict, whatever it was given first.
    const bool ordered =
        pickle_.name(value(parts[0])) == Pickle::Name{"collections", "OrderedDict"};
    if (ordered) return push(Kind::dict);
    push_items(Kind::made, parts);
  }
  void build_object() {
    const auto state = pop(), target = top();
    if (value(target).kind == Kind::made) add(value(target).items, {&state, 1});
  }

  void remember(std::uint64_t index) {
    if (index > size()) fail("a memo number is too large");
    if (index >= memo_.size()) memo_.resize(index + 1, nothing);
    if (memo_[index] == nothing) ++memoized_;
    memo_[index] = top();
  }
  void recall(std::uint64_t index) {
    if (index >= memo_.size() || memo_[index] == nothing)
      fail(fmt::format("memo {} is not there", index));
    stack_.push_back(memo_[index]);
  }
  std::uint64_t line_number() {
    const auto text = line();
    const auto parsed = parse_integer(text);
    if (!parsed || *parsed < 0) fail(fmt::format("'{}' is no memo number", shown(text, 40)));
    return static_cast<std::uint64_t>(*parsed);
  }

  void step(std::uint8_t op) {
    if (scalar(op) || string_or_bytes(op) || list(op) || tuple(op) || dict(op) || object(op) ||
        memory(op) || memo(op))
      return;
    char code[8];
    std::snprintf(code, sizeof code, "0x%02x", op);
    fail(fmt::format("opcode {} is not read", code));
  }

  bool scalar(std::uint8_t op) {
    switch (op) {
      case Op::none:
        return push(Kind::none), true;
      case Op::new_true:
        return push_integer(1, Kind::boolean), true;
      case Op::new_false:
        return push_integer(0, Kind::boolean), true;
      case Op::bin_int:
        return push_integer(static_cast<std::int32_t>(number(4))), true;
      case Op::bin_int1:
        return push_integer(static_cast<std::int64_t>(number(1))), true;
      case Op::bin_int2:
        return push_integer(static_cast<std::int64_t>(number(2))), true;
      case Op::int_line:
        return integer_line(), true;
      case Op::long_line:
        return integer_line(), true;
      case Op::long1:
        return push_long(number(1)), true;
      case Op::long4:
        return push_long(number(4)), true;
      case Op::bin_float:
        return number(8), push(Kind::real), true;
      case Op::float_line:
        return line(), push(Kind::real), true;
      default:
        return false;
    }
  }

  bool string_or_bytes(std::uint8_t op) {
    switch (op) {
      case Op::bin_unicode:
        return push_text(string(number(4))), true;
      case Op::short_bin_unicode:
        return push_text(string(number(1))), true;
      case Op::bin_unicode8:
        return push_text(string(number(8))), true;
      case Op::unicode_line:
        return push_text(line()), true;
      case Op::bin_string:
        return push_text(string(number(4))), true;
      case Op::short_bin_string:
        return push_text(string(number(1))), true;
      case Op::bin_bytes:
        return push_text(string(number(4)), Kind::bytes), true;
      case Op::short_bin_bytes:
        return push_text(string(number(1)), Kind::bytes), true;
      case Op::bin_bytes8:
        return push_text(string(number(8)), Kind::bytes), true;
      default:
        return false;
    }
  }

  // "I01" and "I00" are true and false.
  void integer_line() {
    auto text = line();
    if (text == "01" || text == "00") return push_integer(text == "01", Kind::boolean);
    if (text.ends_with('L')) text.remove_suffix(1);
    std::int64_t integer = 0;
    const auto end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, integer);
    if (stopped != end || error == std::errc::invalid_argument)
      fail(fmt::format("'{}' is no integer", shown(text, 40)));
    if (error == std::errc::result_out_of_range) return push(Kind::large_integer);
    push_integer(integer);
  }

  bool list(std::uint8_t op) {
    switch (op) {
      case Op::empty_list:
        return push(Kind::list), true;
      case Op::empty_set:
        return push(Kind::list), true;
      case Op::list:
        return push_items(Kind::list, take_to_mark()), true;
      case Op::frozen_set:
        return push_items(Kind::list, take_to_mark()), true;
      case Op::append: {
        const auto item = pop();
        return append_to(top(), {item}), true;
      }
      case Op::appends:
      case Op::add_items: {
        const auto items = take_to_mark();
        return append_to(top(), items), true;
      }
      default:
        return false;
    }
  }

  bool tuple(std::uint8_t op) {
    switch (op) {
      case Op::empty_tuple:
        return push(Kind::tuple), true;
      case Op::tuple:
        return push_items(Kind::tuple, take_to_mark()), true;
      case Op::tuple1:
        return push_items(Kind::tuple, take_some(1)), true;
      case Op::tuple2:
        return push_items(Kind::tuple, take_some(2)), true;
      case Op::tuple3:
        return push_items(Kind::tuple, take_some(3)), true;
      default:
        return false;
    }
  }

  bool dict(std::uint8_t op) {
    switch (op) {
      case Op::empty_dict:
        return push(Kind::dict), true;
      case Op::dict: {
        const auto items = take_to_mark();
        push(Kind::dict);
        return set_items_of(top(), items), true;
      }
      case Op::set_item: {
        const auto items = take_some(2);
        return set_items_of(top(), items), true;
      }
      case Op::set_items: {
        const auto items = take_to_mark();
        return set_items_of(top(), items), true;
      }
      default:
        return false;
    }
  }

  bool object(std::uint8_t op) {
    switch (op) {
      case Op::global_lines: {
        const auto module = line();
        return push_name(module, line()), true;
      }
      case Op::stack_global: {
        const auto parts = take_some(2);
        for (const auto part : parts)
          if (value(part).kind != Kind::text) fail("a name is no text");
        return push_name(value(parts[0]).text, value(parts[1]).text), true;
      }
      case Op::reduce:
      case Op::new_object:
        return make_object(take_some(2)), true;
      case Op::new_object_ex:
        return make_object(take_some(3)), true;
      case Op::build:
        return build_object(), true;
      case Op::persistent_id:
        return push_items(Kind::persistent, take_some(1)), true;
      default:
        return false;
    }
  }

  bool memory(std::uint8_t op) {
    switch (op) {
      case Op::mark:
        return marks_.push_back(stack_.size()), true;
      case Op::pop:
        return discard(), true;
      case Op::pop_mark:
        return take_to_mark(), true;
      case Op::dup:
        return stack_.push_back(top()), true;
      case Op::protocol:
        return read_protocol(), true;
      case Op::frame:
        return number(8), true;
      default:
        return false;
    }
  }

  bool memo(std::uint8_t op) {
    switch (op) {
      case Op::put:
        return remember(line_number()), true;
      case Op::bin_put:
        return remember(number(1)), true;
      case Op::long_bin_put:
        return remember(number(4)), true;
      case Op::memoize:
        return remember(memoized_), true;
      case Op::get:
        return recall(line_number()), true;
      case Op::bin_get:
        return recall(number(1)), true;
      case Op::long_bin_get:
        return recall(number(4)), true;
      default:
        return false;
    }
  }

  // pickle.py: on an empty stack above a mark, the mark goes.
  void discard() {
    if (!marks_.empty() && marks_.back() == stack_.size()) return marks_.pop_back();
    pop();
  }

  void read_protocol() {
    if (const auto version = number(1); version > 5)
      fail(fmt::format("protocol {} is not known", version));
  }

  Pickle pickle_;
  std::vector<Ref> stack_;
  std::vector<std::size_t> marks_;
  std::vector<Ref> memo_;  // `nothing` where none was put
  std::uint64_t memoized_ = 0;
};

Pickle::Name Pickle::name(const Value& value) const {
  return value.kind == Kind::name ? names_[static_cast<std::size_t>(value.integer)] : Name{};
}

Pickle read_pickle(std::span<const std::uint8_t> bytes, const std::string& file,
                   std::size_t& used) {
  return PickleReader(bytes, file).run(used);
}

}  // namespace ddptrain
