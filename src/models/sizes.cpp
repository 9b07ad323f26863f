#include "models/sizes.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace ddptrain {

std::int64_t classes_of(const Auto<std::int64_t>& written, const ModelContext& context) {
  if (!written.automatic()) return *written.value;
  const auto& data = context.data;
  if (data.mask) return data.mask->classes;
  if (data.class_count() > 0) return data.class_count();
  if (data.points > 0) return 2 * data.points;
  if (data.numbers > 0) return data.numbers;
  throw Error(Exit::recipe, Option{"model.num_classes"},
              "'auto' needs data that has classes; write how many outputs");
}

namespace {

bool is_text(const DataFacts& data) {
  return data.cardinalities.size() == 1 && data.sample.empty();
}

}  // namespace

void refuse_tables_and_texts(const ModelContext& context) {
  if (context.data.sample.size() == 1)
    throw Error(Exit::recipe, Option{"model"},
                "this model takes one input, and a table has two, names and numbers; write "
                "'model: tabular'");
  if (is_text(context.data))
    throw Error(Exit::recipe, Option{"model"},
                "this model takes numbers, and a text is a row of words; write 'model: awd_lstm', "
                "bag_of_embeddings or text_transformer");
}

std::int64_t channels_of(const Auto<std::int64_t>& written, const ModelContext& context,
                         std::int64_t otherwise) {
  refuse_tables_and_texts(context);
  if (!written.automatic()) return *written.value;
  return context.data.sample.size() == 3 ? context.data.sample[0] : otherwise;
}

void require_size(const ModelContext& context, const std::string& network, std::int64_t least) {
  if (context.data.sample.size() != 3) return;
  if (context.data.sample[1] >= least && context.data.sample[2] >= least) return;
  const auto size = std::to_string(least);
  throw Error(Exit::recipe, Option{"model"}, "{} needs images of {} x {} and more", network, size,
              size);
}

std::int64_t whole_channels(double channels, std::int64_t divisor) {
  const auto nearest =
      static_cast<std::int64_t>(channels + static_cast<double>(divisor) / 2) / divisor * divisor;
  const auto whole = std::max(divisor, nearest);
  return static_cast<double>(whole) < 0.9 * channels ? whole + divisor : whole;
}

TextFacts text_facts_of(const ModelContext& context, const std::string& model) {
  const auto& data = context.data;
  if (!is_text(data))
    throw Error(Exit::recipe, Option{"model"}, "{} wants texts (data: {{type: text_folder}})",
                model);
  return {data.cardinalities[0], data.padding};
}

at::Tensor with_a_place(const at::Tensor& tokens, const TextFacts& text) {
  return tokens.size(1) > 0 ? tokens : tokens.new_full({tokens.size(0), 1}, text.padding);
}

std::int64_t embedding_size(std::int64_t values) {
  const double width = 1.6 * std::pow(static_cast<double>(values), 0.56);
  return std::min<std::int64_t>(600, static_cast<std::int64_t>(std::nearbyint(width)));
}

}  // namespace ddptrain
