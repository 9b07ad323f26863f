// A tree that passed check() fills an options struct.
#pragma once

#include <deque>

#include "base/error.h"
#include "config/fields.h"
#include "config/node.h"

namespace ddptrain {

/// Fills members from a map; keys that are absent keep their defaults; `type` is skipped. The node
/// must have passed check(): anything that does not fit here is a bug and aborts.
class Decode final : public Fields {
 public:
  explicit Decode(const Node& map);
  ~Decode() override;

 protected:
  bool begin(std::string_view key, const Spec& spec) override;
  void end() override;
  void leaf(bool& v) override;
  void leaf(std::int64_t& v) override;
  void leaf(double& v) override;
  void leaf(std::string& v) override;
  void leaf(Duration& v) override;
  void leaf(Size& v) override;
  void leaf(Share& v) override;
  void leaf(Node& v) override;
  void word(int& index, std::span<const std::string_view> words) override;
  bool present(bool now) override;
  bool given(bool now) override;
  std::optional<int> worded(std::optional<int> now,
                            std::span<const std::string_view> words) override;
  std::size_t begin_list(std::size_t now) override;
  void item(std::size_t index) override;
  void end_list() override;
  std::vector<std::string> begin_table(const std::vector<std::string>& now) override;
  void row(std::size_t index, const std::string& key) override;
  void end_table() override;
  bool begin_record(std::string_view shorthand, std::string_view list_shorthand) override;
  void end_record() override;
  void component(ChoiceBase& choice) override;

 private:
  std::vector<const Node*> at_;  // the value being read, innermost last
  std::string_view unit_;        // Spec::unit of the key that began last
  std::deque<Node> made_;        // maps that a shorthand stands for; addresses stay
};

template <class Options>
Options decode(const Node& node) {
  Options options;
  Decode reader(node);
  options.fields(reader);
  return options;
}

}  // namespace ddptrain
