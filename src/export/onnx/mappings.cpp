#include "export/onnx/mappings.h"

#include <map>
#include <string>

namespace ddptrain {
namespace {

const std::map<std::string_view, OnnxMapping>& table() {
  static const std::map<std::string_view, OnnxMapping> all = [] {
    std::map<std::string_view, OnnxMapping> made;
    for (const auto& mappings :
         {arithmetic_mappings(), activation_mappings(), layer_mappings(), shape_mappings()})
      made.insert(mappings.begin(), mappings.end());
    return made;
  }();
  return all;
}

}  // namespace

OnnxMapping find_mapping(const std::string& kind) {
  const auto found = table().find(kind);
  return found == table().end() ? nullptr : found->second;
}

std::vector<std::string> mapped_operators() {
  std::vector<std::string> kinds;
  for (const auto& mapping : table()) kinds.emplace_back(mapping.first);
  return kinds;
}

}  // namespace ddptrain
