#include "config/shape.h"

#include <algorithm>

#include "base/error.h"
#include "config/choice.h"
#include "config/encode.h"

namespace ddptrain {
namespace {

/// Visits fresh options and notes what each may be and what it is at first. Every optional counts
/// as present, every list and table as one scratch item, so that item types are seen.
class ShapeVisitor final : public Fields {
 public:
  explicit ShapeVisitor(Shape& root) : at_{{.shape = &root}} {}

 protected:
  bool begin(std::string_view key, const Spec& spec) override {
    auto& child = shape().children.emplace_back();
    child.key = key;
    child.doc = spec.doc;
    child.required = spec.required;
    child.unit = spec.unit;
    child.example = spec.example;
    child.was = spec.was;
    child.min_items = spec.min_items;
    child.max_items = spec.max_items;
    child.lengths = spec.lengths;
    child.items = spec.items;
    range(child, spec);
    spec_ = &spec;
    at_.push_back({.shape = &child});
    return true;
  }
  void end() override {
    if (const auto word = at_.back().word)
      shape().initial = Node::scalar(shape().words[static_cast<std::size_t>(*word)]);
    if (at_.back().automatic) shape().initial = Node::scalar("auto");
    if (at_.back().absent) shape().initial = {};
    at_.pop_back();
  }
  void condition(const Constraint& constraint) override {
    shape().constraints.push_back(constraint);
  }
  void leaf(bool& v) override { kind(Shape::Kind::boolean, encode_value(v)); }
  void leaf(std::int64_t& v) override { kind(Shape::Kind::integer, encode_value(v)); }
  void leaf(double& v) override { kind(Shape::Kind::number, encode_value(v)); }
  void leaf(std::string& v) override { kind(Shape::Kind::text, encode_value(v)); }
  void leaf(Duration& v) override { kind(Shape::Kind::duration, encode_value(v)); }
  void leaf(Size& v) override { kind(Shape::Kind::size, encode_value(v)); }
  void leaf(Share& v) override { kind(Shape::Kind::share, encode_value(v)); }
  void leaf(Node& v) override { kind(Shape::Kind::any, v); }
  void word(int& index, std::span<const std::string_view> words) override {
    kind(Shape::Kind::word, Node::scalar(std::string(words[static_cast<std::size_t>(index)])));
    shape().words.assign(words.begin(), words.end());
  }
  bool present(bool now) override {
    at_.back().absent = !now;
    return shape().nullable = true;
  }
  bool given(bool now) override {
    at_.back().automatic = !now;
    return shape().automatic = true;
  }
  std::optional<int> worded(std::optional<int> now,
                            std::span<const std::string_view> words) override {
    shape().words.assign(words.begin(), words.end());
    if (now) at_.back().word = *now;
    return {};
  }
  std::size_t begin_list(std::size_t now) override {
    descend(Shape::Kind::list, Node::list(), now);
    return 1;
  }
  void item(std::size_t) override {}
  void end_list() override { at_.pop_back(); }
  std::vector<std::string> begin_table(const std::vector<std::string>& now) override {
    descend(Shape::Kind::table, Node::map(), now.size());
    return {"key"};
  }
  void row(std::size_t, const std::string&) override {}
  void end_table() override { at_.pop_back(); }
  bool begin_record(std::string_view shorthand, std::string_view list_shorthand) override {
    kind(Shape::Kind::record, Node::map());
    shape().shorthand = shorthand;
    shape().list_shorthand = list_shorthand;
    return true;
  }
  void end_record() override {
    for (const auto& child : shape().children) shape().initial.set(child.key, child.initial);
  }
  void component(ChoiceBase& choice) override {
    kind(Shape::Kind::component, choice.chosen() ? choice.node() : Node());
    shape().component = choice.kind();
  }

 private:
  struct Level {
    Shape* shape;  // a parent gets no child while one of its own is open
    bool absent = false;
    bool automatic = false;
    std::optional<int> word = {};  // in place of a value
    bool item = false;
  };

  Shape& shape() { return *at_.back().shape; }

  void kind(Shape::Kind kind, Node initial) {
    shape().kind = kind;
    shape().initial = std::move(initial);
  }

  static void range(Shape& shape, const Spec& spec) {
    shape.min = spec.min;
    shape.max = spec.max;
    shape.above_min = spec.above_min;
    shape.below_max = spec.below_max;
    shape.path = spec.path;
    shape.address = spec.address;
    shape.odd = spec.odd;
    shape.multiple_of = spec.multiple_of;
    shape.in_steps = spec.in_steps;
    shape.form = spec.form;
  }

  /// Into the item of a list or table of `now` items: the range is that of each item.
  void descend(Shape::Kind kind, Node empty, std::size_t now) {
    const bool hidden = std::any_of(at_.begin(), at_.end(),
                                    [](const Level& level) { return level.absent || level.item; });
    DDP_CHECK(now == 0 || !hidden,
              "'" + shape().key + "': a list that is not always there must be empty at first");
    this->kind(kind, std::move(empty));
    auto& inner = shape().children.emplace_back();
    range(inner, *spec_);
    at_.push_back({.shape = &inner, .item = true});
  }

  std::vector<Level> at_;  // innermost last
  const Spec* spec_ = nullptr;
};

/// Lists and tables with items at first, which the visit replaced by a scratch item.
void take_items(Shape& shape, const Node& encoded) {
  if (!encoded.is_null()) shape.initial = encoded;
  if (shape.kind != Shape::Kind::record) return;
  for (auto& child : shape.children)
    if (const auto* value = encoded.find(child.key)) take_items(child, *value);
}

}  // namespace

std::vector<std::string> words_in_place(const Shape& shape) {
  std::vector<std::string> words;
  if (shape.kind != Shape::Kind::word) words = shape.words;
  if (shape.automatic) words.emplace_back("auto");
  return words;
}

bool is_in_place(const Node& node, const Shape& shape) {
  if (!node.is_scalar()) return false;
  if (shape.automatic && node.text == "auto") return true;
  return shape.kind != Shape::Kind::word &&
         std::ranges::find(shape.words, node.text) != shape.words.end();
}

Shape shape_of(const std::function<void(Fields&)>& fields) {
  Shape root;
  ShapeVisitor visitor(root);
  fields(visitor);
  take_items(root, encode(fields));
  return root;
}

Shape joined(Shape options, const Shape& more) {
  for (const auto& child : more.children) {
    options.children.push_back(child);
    options.initial.set(child.key, child.initial);
  }
  options.constraints.insert(options.constraints.end(), more.constraints.begin(),
                             more.constraints.end());
  return options;
}

}  // namespace ddptrain
