#include "config/shape.h"

#include "config/choice.h"
#include "config/encode.h"

namespace ddptrain {
namespace {

/// Visits fresh options and notes what each may be. Every optional counts as present, every list
/// and table as one scratch item, so that item types are seen.
class ShapeVisitor final : public Fields {
 public:
  explicit ShapeVisitor(Shape& root) : at_{&root} {}

 protected:
  bool begin(std::string_view key, const Spec& spec) override {
    auto& child = at_.back()->children.emplace_back();
    child.key = key;
    child.doc = spec.doc;
    child.required = spec.required;
    child.min_items = spec.min_items;
    child.max_items = spec.max_items;
    range(child, spec);
    spec_ = &spec;
    at_.push_back(&child);
    return true;
  }
  void end() override { at_.pop_back(); }
  void leaf(bool&) override { kind(Shape::Kind::boolean); }
  void leaf(std::int64_t&) override { kind(Shape::Kind::integer); }
  void leaf(double&) override { kind(Shape::Kind::number); }
  void leaf(std::string&) override { kind(Shape::Kind::text); }
  void leaf(Duration&) override { kind(Shape::Kind::duration); }
  void leaf(Size&) override { kind(Shape::Kind::size); }
  void leaf(Share&) override { kind(Shape::Kind::share); }
  void word(int&, std::span<const std::string_view> words) override {
    kind(Shape::Kind::word);
    at_.back()->words.assign(words.begin(), words.end());
  }
  bool present(bool) override { return at_.back()->nullable = true; }
  bool given(bool) override { return at_.back()->automatic = true; }
  std::size_t begin_list(std::size_t) override {
    descend(Shape::Kind::list);
    return 1;
  }
  void item(std::size_t) override {}
  void end_list() override { at_.pop_back(); }
  std::vector<std::string> begin_table(const std::vector<std::string>&) override {
    descend(Shape::Kind::table);
    return {"key"};
  }
  void row(const std::string&) override {}
  void end_table() override { at_.pop_back(); }
  bool begin_record(std::string_view shorthand, std::string_view list_shorthand) override {
    kind(Shape::Kind::record);
    at_.back()->shorthand = shorthand;
    at_.back()->list_shorthand = list_shorthand;
    return true;
  }
  void end_record() override {}
  void component(ChoiceBase& choice) override {
    kind(Shape::Kind::component);
    at_.back()->component = choice.kind();
  }

 private:
  void kind(Shape::Kind kind) { at_.back()->kind = kind; }

  static void range(Shape& shape, const Spec& spec) {
    shape.min = spec.min;
    shape.max = spec.max;
    shape.above_min = spec.above_min;
    shape.below_max = spec.below_max;
    shape.path = spec.path;
  }

  /// Into the item of a list or table: the range is that of each item.
  void descend(Shape::Kind kind) {
    auto& outer = *at_.back();
    outer.kind = kind;
    auto& inner = outer.children.emplace_back();
    range(inner, *spec_);
    at_.push_back(&inner);
  }

  std::vector<Shape*> at_;  // innermost last; a parent gets no child while one of its own is open
  const Spec* spec_ = nullptr;
};

void take_initial(Shape& shape, const Node& encoded) {
  shape.initial = encoded;
  if (shape.kind != Shape::Kind::record) return;
  for (auto& child : shape.children)
    if (const auto* value = encoded.find(child.key)) take_initial(child, *value);
}

}  // namespace

Shape shape_of(const std::function<void(Fields&)>& fields) {
  Shape root;
  ShapeVisitor visitor(root);
  fields(visitor);
  take_initial(root, encode(fields));
  return root;
}

}  // namespace ddptrain
