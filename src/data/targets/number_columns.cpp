#include "data/targets/number_columns.h"

#include <ATen/ops/empty.h>

#include <cmath>
#include <cstdio>

#include "base/text.h"
#include "data/preview.h"

namespace ddptrain {
namespace {

/// Without the last bits of float32.
std::string for_people(float value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.5g", double{value});
  return text;
}

}  // namespace

at::Tensor NumberColumns::allocate(std::int64_t rows) const {
  if (count() == 1) return at::empty({rows}, at::kFloat);
  return at::empty({rows, count()}, at::kFloat);
}

void NumberColumns::show(const float* values, Preview& shown) const {
  for (const auto& name : names_) {
    shown.cells.emplace_back(name, std::isnan(*values) ? "missing" : for_people(*values));
    ++values;
  }
}

std::vector<std::string> NumberColumns::cells(const at::Tensor& output,
                                              const PredictedSample&) const {
  const auto values = output.reshape({-1}).contiguous();
  std::vector<std::string> texts;
  for (std::int64_t i = 0; i < values.numel(); ++i)
    texts.push_back(format_number(values.const_data_ptr<double>()[i]));
  return texts;
}

}  // namespace ddptrain
