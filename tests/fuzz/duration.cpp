// Scalars of a recipe: durations, sizes, shares and numbers. What one of them says is understood
// again as the same.
#include "config/scalar.h"
#include "config/units.h"
#include "input_file.h"

using namespace ddptrain;

namespace {

template <class T>
void claim_round_trip(const Node& node) {
  T value, again;
  std::string why;
  if (!parse(node, value, why)) return fuzz::claim(!why.empty(), "a refusal has a reason");
  const auto text = to_text(value);
  fuzz::claim(parse(Node::scalar(text), again, why), "'" + text + "' is refused: " + why);
  fuzz::claim(to_text(again) == text, "'" + text + "' becomes '" + to_text(again) + "'");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  for (const bool quoted : {false, true}) {
    Node node = Node::scalar(std::string(fuzz::text_of(data, size)));
    node.quoted = quoted;
    claim_round_trip<Duration>(node);
    claim_round_trip<Size>(node);
    std::string why;
    Share share;
    parse(node, share, why);
    read_boolean(node, why);
    read_integer(node, why);
    read_number(node, why);
    read_text(node, why);
  }
  return 0;
}
