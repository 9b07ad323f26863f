#include "config/yaml/reader.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <sstream>

#include "base/text.h"
#include "config/yaml/characters.h"
#include "config/yaml/scan.h"

namespace ddptrain {
namespace {

/// Ends parsing: the one problem to report.
struct Refused {
  Problem problem;
};

std::size_t count_nodes(const Node& node) {
  std::size_t total = 1;
  for (const auto& item : node.items) total += count_nodes(item);
  for (const auto& member : node.members) total += count_nodes(member.value);
  return total;
}

int depth_of(const Node& node) {
  int deepest = 0;
  for (const auto& item : node.items) deepest = std::max(deepest, depth_of(item));
  for (const auto& member : node.members) deepest = std::max(deepest, depth_of(member.value));
  return deepest + 1;
}

/// What yaml-cpp writes for a surrogate pair, which it does not know: "\\U0001F600".
constexpr std::size_t kCodeSize = 10;

/// The text with each surrogate pair as one escape, two characters shorter.
std::string without_pairs(std::string_view text, const std::vector<std::size_t>& pairs) {
  std::string result;
  std::size_t done = 0;
  for (const auto at : pairs) {
    result += text.substr(done, at - done);
    std::array<char, kCodeSize + 1> code{};
    std::snprintf(code.data(), code.size(), "\\U%08X", pair_code(text, at));
    result += code.data();
    done = at + kPairSize;
  }
  return result.append(text.substr(done));
}

/// Byte offsets of yaml-cpp's lines to places in characters.
class Lines {
 public:
  /// `pairs` is where the text that yaml-cpp sees is shorter.
  Lines(std::string_view text, std::string file, std::vector<std::size_t> pairs)
      : text_(text), file_(std::move(file)), pairs_(std::move(pairs)) {
    starts_.push_back(0);
    for (std::size_t i = 0; i < text.size(); ++i)
      if (text[i] == '\n') starts_.push_back(i + 1);
  }
  std::size_t byte(const YAML::Mark& mark) const {
    const auto line = static_cast<std::size_t>(std::max(mark.line, 0));
    if (line >= starts_.size()) return text_.size();
    auto at = starts_[line] + static_cast<std::size_t>(std::max(mark.column, 0));
    for (auto pair = std::lower_bound(pairs_.begin(), pairs_.end(), starts_[line]);
         pair != pairs_.end() && *pair < at; ++pair)
      at += kPairSize - kCodeSize;
    return std::min(at, text_.size());
  }
  Place place(const YAML::Mark& mark) const {
    const auto line =
        std::min<std::size_t>(static_cast<std::size_t>(std::max(mark.line, 0)), starts_.size() - 1);
    const auto at = byte(mark);
    if (counted_.line != line || counted_.byte > at) counted_ = {line, starts_[line], 0};
    counted_.characters += count_characters(text_.substr(counted_.byte, at - counted_.byte));
    counted_.byte = at;
    return {file_, static_cast<int>(line) + 1, static_cast<int>(counted_.characters) + 1, 1};
  }
  Place place(const YAML::Mark& mark, const std::string& value) const {
    auto place = this->place(mark);
    place.width = width_at(text_, byte(mark), value);
    return place;
  }

 private:
  std::string_view text_;
  std::string file_;
  std::vector<std::size_t> pairs_;
  std::vector<std::size_t> starts_;
  struct Counted {
    std::size_t line = 0, byte = 0, characters = 0;
  };
  mutable Counted counted_;  // marks mostly advance: a long line is counted once
};

/// Events to a tree.
class Builder final : public YAML::EventHandler {
 public:
  Builder(const Lines& lines, const ReadLimits& limits) : lines_(lines), limits_(limits) {}

  Node take() { return std::move(root_); }
  bool finished() const { return documents_ > 0; }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1)
      refuse(mark, "second-document", "a second document starts here; a recipe is one document");
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    // The mark of an empty value is the next token's: its key is where it belongs.
    const bool in_map = !open_.empty() && open_.back().node.is_map();
    if (in_map && !open_.back().has_key) refuse(mark, "key", "a key is missing before the ':'");
    Node null;
    null.place = in_map ? open_.back().key_place : lines_.place(mark);
    finish(std::move(null), mark, anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (expects_key()) refuse(mark, "key", "an alias cannot be a key");
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) refuse(mark, "alias", "an alias inside its own anchor");
    Node copy = found->second;
    nodes_ += count_nodes(copy);
    if (static_cast<int>(open_.size()) + depth_of(copy) > limits_.depth) too_deep(mark);
    copy.place = lines_.place(mark);
    finish(std::move(copy), mark, 0);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    const bool quoted = tag == "!";
    const auto place = lines_.place(mark, value);
    if (expects_key()) return key(mark, value, quoted, place);
    Node node = Node::scalar(value, place);
    node.quoted = quoted;
    finish(std::move(node), mark, anchor);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    start(Node::list({}, lines_.place(mark)), mark, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    start(Node::map({}, lines_.place(mark)), mark, anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    Node node;
    YAML::Mark mark;
    YAML::anchor_t anchor = 0;
    bool has_key = false;
    std::string key;
    Place key_place;
    std::map<std::string, Place> seen;
  };

  [[noreturn]] void refuse(const YAML::Mark& mark, const std::string& rule,
                           const std::string& message) const {
    refuse(lines_.place(mark), rule, message);
  }
  [[noreturn]] static void refuse(const Place& place, const std::string& rule,
                                  const std::string& message) {
    throw Refused{{Severity::error, rule, place, "", message}};
  }
  [[noreturn]] void too_deep(const YAML::Mark& mark) const {
    refuse(mark, "too-deep", fmt::format("nested deeper than {} maps and lists", limits_.depth));
  }

  bool expects_key() const {
    return !open_.empty() && open_.back().node.is_map() && !open_.back().has_key;
  }

  void key(const YAML::Mark& mark, const std::string& text, bool quoted, const Place& place) {
    auto& map = open_.back();
    if (text == "<<" && !quoted)
      refuse(place, "merge-key",
             "merge keys are not read; 'extends' and '${other.key}' share parts");
    if (text.empty()) refuse(mark, "key", "a key is empty");
    const auto [first, fresh] = map.seen.emplace(text, place);
    if (!fresh)
      refuse(place, "duplicate-key",
             fmt::format("'{}' is given twice; first at {}:{}:{}", text, first->second.file,
                         first->second.line, first->second.column));
    map.has_key = true;
    map.key = text;
    map.key_place = place;
  }

  void start(Node node, const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (expects_key()) refuse(mark, "key", "only text can be a key");
    if (static_cast<int>(open_.size()) >= limits_.depth) too_deep(mark);
    open_.push_back({std::move(node), mark, anchor, false, {}, {}, {}});
  }

  void close() {
    auto done = std::move(open_.back());
    open_.pop_back();
    finish(std::move(done.node), done.mark, done.anchor);
  }

  void finish(Node node, const YAML::Mark& mark, YAML::anchor_t anchor) {
    ++nodes_;
    if (anchor != 0) nodes_ += count_nodes(node);  // an anchor keeps a copy
    if (nodes_ > limits_.nodes)
      refuse(
          mark, "too-many-nodes",
          fmt::format("more than {} values, those of anchors and aliases included", limits_.nodes));
    if (anchor != 0) anchors_[anchor] = node;
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    auto& parent = open_.back();
    if (parent.node.is_list()) return parent.node.items.push_back(std::move(node));
    parent.node.members.push_back({parent.key, parent.key_place, std::move(node)});
    parent.has_key = false;
  }

  const Lines& lines_;
  const ReadLimits& limits_;
  Node root_;
  int documents_ = 0;
  std::size_t nodes_ = 0;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, Node> anchors_;
};

/// yaml-cpp's messages in the words of a person who writes recipes.
std::string in_our_words(const std::string& message) {
  static const std::map<std::string, std::string> words{
      {YAML::ErrorMsg::END_OF_MAP,
       "this line fits no map above; is a ':' or an indentation wrong?"},
      {YAML::ErrorMsg::END_OF_SEQ,
       "this line fits no list above; is a '-' or an indentation wrong?"},
      {YAML::ErrorMsg::END_OF_MAP_FLOW, "a '{' is not closed, or a ',' is missing in it"},
      {YAML::ErrorMsg::END_OF_SEQ_FLOW, "a '[' is not closed, or a ',' is missing in it"},
      {YAML::ErrorMsg::MAP_VALUE,
       "a ':' where no value can stand; text that holds ': ' needs quotes"},
      {YAML::ErrorMsg::BLOCK_ENTRY, "a '-' where no list item can stand"},
      {YAML::ErrorMsg::UNKNOWN_TOKEN, "text that starts with this character needs quotes"},
      {YAML::ErrorMsg::ALIAS_NOT_FOUND, "text that starts with '*' needs quotes"},
      {YAML::ErrorMsg::ANCHOR_NOT_FOUND, "text that starts with '&' needs quotes"},
      {YAML::ErrorMsg::UNKNOWN_ANCHOR,
       "no anchor of this name stands before it; text that starts with '*' needs quotes"},
  };
  const auto found = words.find(message);
  return found == words.end() ? "not YAML: " + lower(message) : found->second;
}

Node parse_document(std::string_view text, const std::string& file, const ReadLimits& limits,
                    const std::vector<std::size_t>& pairs) {
  const Lines lines(text, file, pairs);
  Builder builder(lines, limits);
  try {
    std::istringstream in{without_pairs(text, pairs)};
    YAML::Parser parser(in);
    // The second call meets the second document, if there is one, and the builder refuses it.
    if (parser.HandleNextDocument(builder)) parser.HandleNextDocument(builder);
  } catch (const YAML::ParserException& failure) {
    throw Refused{
        {Severity::error, "syntax", lines.place(failure.mark), "", in_our_words(failure.msg)}};
  }
  return builder.take();
}

ReadResult read(std::string_view text, const std::string& file, const ReadLimits& limits) {
  ReadResult result;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  if (text.size() > limits.bytes) {
    result.problems.push_back(
        {Severity::error,
         "too-large",
         {file, 1, 1, 1},
         "",
         "larger than " + format_bytes(static_cast<std::int64_t>(limits.bytes))});
    return result;
  }
  std::vector<std::size_t> pairs;
  if (auto problem = scan_yaml(text, file, pairs)) {
    result.problems.push_back(std::move(*problem));
    return result;
  }
  try {
    result.tree = parse_document(text, file, limits, pairs);
  } catch (Refused& refused) {
    result.problems.push_back(std::move(refused.problem));
  }
  return result;
}

void move_to(Node& node, const Place& place) {
  node.place = place;
  for (auto& item : node.items) move_to(item, place);
  for (auto& member : node.members) {
    member.place = place;
    move_to(member.value, place);
  }
}

}  // namespace

ReadResult read_yaml(std::string_view text, const std::string& file, const ReadLimits& limits) {
  auto result = read(text, file, limits);
  if (!result.problems.empty()) {
    result.tree = {};
    return result;
  }
  if (result.tree.is_null()) result.tree = Node::map({}, {file, 1, 1, 1});
  if (!result.tree.is_map())
    result.problems.push_back({Severity::error, "syntax", result.tree.place, "",
                               "a recipe is a map of keys, 'key: value' on each line"});
  return result;
}

ReadResult read_value(std::string_view text, const Place& place) {
  auto result = read(text, place.file, {});
  move_to(result.tree, place);
  for (auto& problem : result.problems) problem.place = place;
  return result;
}

}  // namespace ddptrain
