#include "config/encode.h"

#include "base/text.h"
#include "config/choice.h"
#include "config/complete.h"

namespace ddptrain {
namespace {

/// Writes values as they are now; visits without changing anything.
class Encode final : public Fields {
 public:
  Encode(Node& root, const Catalogs* catalogs) : at_{&root}, catalogs_(catalogs) {}

 protected:
  bool begin(std::string_view key, const Spec&) override {
    at_.back()->members.push_back({std::string(key), {}, {}});
    at_.push_back(&at_.back()->members.back().value);
    return true;
  }
  void end() override { at_.pop_back(); }
  void leaf(bool& v) override { put(encode_value(v)); }
  void leaf(std::int64_t& v) override { put(encode_value(v)); }
  void leaf(double& v) override { put(encode_value(v)); }
  void leaf(std::string& v) override { put(encode_value(v)); }
  void leaf(Duration& v) override { put(encode_value(v)); }
  void leaf(Size& v) override { put(encode_value(v)); }
  void leaf(Share& v) override { put(encode_value(v)); }
  void leaf(Node& v) override { put(v); }
  void word(int& index, std::span<const std::string_view> words) override {
    put(Node::scalar(std::string(words[static_cast<std::size_t>(index)])));
  }
  bool present(bool now) override { return now; }
  bool given(bool now) override {
    if (!now) put(Node::scalar("auto"));
    return now;
  }
  std::optional<int> worded(std::optional<int> now,
                            std::span<const std::string_view> words) override {
    if (now) put(Node::scalar(std::string(words[static_cast<std::size_t>(*now)])));
    return now;
  }
  std::size_t begin_list(std::size_t now) override {
    put(Node::list());
    at_.push_back(nullptr);
    return now;
  }
  void item(std::size_t) override {
    auto& list = *at_[at_.size() - 2];
    at_.back() = &list.items.emplace_back();
  }
  void end_list() override { at_.pop_back(); }
  std::vector<std::string> begin_table(const std::vector<std::string>& now) override {
    put(Node::map());
    at_.push_back(nullptr);
    return now;
  }
  void row(std::size_t, const std::string& key) override {
    auto& map = *at_[at_.size() - 2];
    map.members.push_back({key, {}, {}});
    at_.back() = &map.members.back().value;
  }
  void end_table() override { at_.pop_back(); }
  bool begin_record(std::string_view, std::string_view) override {
    put(Node::map());
    return true;
  }
  void end_record() override {}
  void component(ChoiceBase& choice) override {
    if (!choice.chosen()) return;
    put(catalogs_ ? complete_component(choice.node(), choice.kind(), *catalogs_) : choice.node());
  }

 private:
  void put(Node node) { *at_.back() = std::move(node); }

  std::vector<Node*> at_;  // innermost last
  const Catalogs* catalogs_;
};

}  // namespace

Node encode_value(bool v) { return Node::scalar(v ? "true" : "false"); }
Node encode_value(std::int64_t v) { return Node::scalar(std::to_string(v)); }
Node encode_value(double v) { return Node::scalar(format_number(v)); }
Node encode_value(const std::string& v) { return Node::quoted_text(v); }
Node encode_value(const Duration& v) { return Node::scalar(to_text(v)); }
Node encode_value(const Size& v) { return Node::scalar(to_text(v)); }
Node encode_value(const Share& v) { return Node::scalar(format_number(v.value)); }

Node encode(const std::function<void(Fields&)>& fields, const Catalogs* catalogs) {
  Node root = Node::map();
  Encode visitor(root, catalogs);
  fields(visitor);
  return root;
}

}  // namespace ddptrain
