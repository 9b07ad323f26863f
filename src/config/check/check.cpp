// The check of a tree: containers, and how problems are reported.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "config/check/check_words.h"
#include "config/check/checker.h"
#include "config/scalar.h"
#include "config/shape.h"
#include "config/suggest.h"

namespace ddptrain {
namespace {

constexpr std::size_t kMostRows = 10'000;

/// "0 or 2", of how many items a list may have.
std::string lengths_text(const std::vector<std::size_t>& lengths) {
  std::vector<std::string> numbers;
  for (const auto length : lengths) numbers.push_back(std::to_string(length));
  return join(numbers, " or ");
}

std::string out_of_order(const Node& before, const Node& item, ItemOrder order) {
  std::string unused;
  const auto low = read_number(before, unused), high = read_number(item, unused);
  if (!low || !high) return "";
  if (*high < *low) return item.text + " is below the number before it, " + before.text;
  const bool equal = order == ItemOrder::increasing && *high == *low;
  return equal ? item.text + " is not above the number before it" : "";
}

bool all_zero(const Node& list) {
  const auto is_zero = [](const Node& item) {
    std::string unused;
    return read_number(item, unused) == 0.0;
  };
  return !list.items.empty() && std::all_of(list.items.begin(), list.items.end(), is_zero);
}

}  // namespace

std::string path_below(const std::string& path, const std::string& key) {
  return path.empty() ? key : path + "." + key;
}

void Checker::value(const Node& node, const Shape& shape, const std::string& path) {
  if (node.is_null() && shape.nullable) return;
  if (is_in_place(node, shape)) return;
  switch (shape.kind) {
    case Shape::Kind::record:
      return record(node, shape, path);
    case Shape::Kind::component:
      return component(node, shape, path);
    case Shape::Kind::list:
      return list(node, shape, path);
    case Shape::Kind::table:
      return table(node, shape, path);
    case Shape::Kind::word:
      return word(node, shape, path);
    case Shape::Kind::any:
      return;
    default:
      return scalar(node, shape, path);
  }
}

/// `suggestion` replaces what stands at `place`.
void Checker::report(const std::string& rule, const Place& place, const std::string& path,
                     const std::string& message, const std::string& suggestion) {
  if (!advisor_ && rule == "missing-key") return;  // another layer may have it
  problems_.push_back({Severity::error, rule, place, path, message, suggestion});
  if (!advisor_) throw Enough{};
  if (problems_.size() < kMostProblems) return;
  problems_.push_back({Severity::error, "too-many-problems", place, "",
                       fmt::format("{} problems so far; the rest is not shown", kMostProblems)});
  throw Enough{};
}

void Checker::bad(const Node& node, const Shape& shape, const std::string& path,
                  const std::string& message, const std::string& suggestion) {
  const auto words = words_in_place(shape);
  std::string other = words.empty() ? "" : "; or write " + join(words, " or ");
  const bool none = shape.nullable && means_null(node);
  if (none) other = "; write null for none";
  auto instead = none ? "null" : suggestion;
  if (instead.empty() && node.is_scalar()) instead = only_name(nearest_names(node.text, words));
  report("bad-value", node.place, path, message + other, instead);
}

/// A list or map where something else belongs.
void Checker::mismatch(const Node& node, const Shape& shape, const std::string& path) {
  bad(node, shape, path, "this is " + describe(node) + "; " + expected(shape) + " was expected");
}

void Checker::list(const Node& node, const Shape& shape, const std::string& path) {
  if (node.is_map()) return mismatch(node, shape, path);
  if (!node.is_list()) {
    const auto written = node.is_null() ? "[]" : fmt::format("[{}]", node.text);
    const auto message = describe(node) + " is not a list; write " + written;
    return shape.nullable ? bad(node, shape, path, message)
                          : report("bad-value", node.place, path, message);
  }
  const auto count = node.items.size();
  const auto holds = plural(static_cast<std::int64_t>(count), "item");
  if (count < shape.min_items)
    bad(node, shape, path, fmt::format("{}, at least {} needed", holds, shape.min_items));
  if (count > shape.max_items)
    bad(node, shape, path, fmt::format("{}, at most {} allowed", holds, shape.max_items));
  const auto& lengths = shape.lengths;
  if (!lengths.empty() && std::find(lengths.begin(), lengths.end(), count) == lengths.end())
    bad(node, shape, path, fmt::format("{}, {} needed", holds, lengths_text(lengths)));
  const auto before = problems_.size();
  for (std::size_t i = 0; i < count; ++i)
    value(node.items[i], shape.children[0], fmt::format("{}[{}]", path, i));
  if (problems_.size() == before) items(node, shape, path);
}

/// The items together: each against the one before, against all before, or all against 0.
void Checker::items(const Node& node, const Shape& shape, const std::string& path) {
  if (shape.items == ItemOrder::any) return;
  if (shape.items == ItemOrder::not_all_zero) {
    if (all_zero(node)) bad(node, shape, path, "all items are 0; one at least must be above 0");
    return;
  }
  std::set<std::string> seen;
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    const auto& item = node.items[i];
    std::string why;
    if (shape.items != ItemOrder::distinct)
      why = i > 0 ? out_of_order(node.items[i - 1], item, shape.items) : "";
    else if (!seen.insert(item.text).second)
      why = fmt::format("'{}' is listed twice", item.text);
    if (!why.empty()) bad(item, shape, fmt::format("{}[{}]", path, i), why);
  }
}

void Checker::table(const Node& node, const Shape& shape, const std::string& path) {
  if (node.is_list()) return mismatch(node, shape, path);
  if (!node.is_map()) return bad(node, shape, path, describe(node) + " is not a map");
  if (node.members.size() > kMostRows)
    return bad(node, shape, path,
               fmt::format("{} rows, at most {} allowed", node.members.size(), kMostRows));
  for (const auto& member : node.members)
    value(member.value, shape.children[0], path_below(path, member.key));
}

Problems check(const Node& tree, const Shape& shape, const Catalogs& catalogs) {
  Problems problems;
  KeyAdvisor advisor(tree, shape, catalogs);
  try {
    Checker(catalogs, problems, &advisor).value(tree, shape, "");
  } catch (const Enough&) {  // the problems say so
  }
  return problems;
}

bool fits(const Node& value, const Shape& shape, const Catalogs& catalogs) {
  Problems problems;
  try {
    Checker(catalogs, problems, nullptr).value(value, shape, "");
  } catch (const Enough&) {  // the problems say so
  }
  return problems.empty();
}

}  // namespace ddptrain
