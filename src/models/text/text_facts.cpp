#include "models/text/text_facts.h"

#include "base/error.h"

namespace ddptrain {

TextFacts text_facts_of(const ModelContext& context, const std::string& model) {
  const auto& data = context.data;
  if (data.cardinalities.size() != 1 || data.padding < 0)
    throw Error(Exit::recipe, "model " + model + " wants texts (data: {type: text_folder})");
  return {data.cardinalities[0], data.padding};
}

at::Tensor with_a_place(const at::Tensor& tokens, const TextFacts& text) {
  return tokens.size(1) > 0 ? tokens : tokens.new_full({tokens.size(0), 1}, text.padding);
}

}  // namespace ddptrain
