#include "data/preview.h"

#include "data/dataset.h"

namespace ddptrain {

std::vector<std::int64_t> Dataset::labels(Split split, std::int64_t index) const {
  const auto known = label(split, index);
  return known < 0 ? std::vector<std::int64_t>{} : std::vector<std::int64_t>{known};
}

Preview Dataset::preview(Split split, std::int64_t index, const Draw&) const {
  Preview shown{sample_name(split, index), {}, {}};
  const auto sample = label(split, index);
  if (sample >= 0 && sample < facts().class_count())
    shown.cells.emplace_back("label", facts().classes[static_cast<std::size_t>(sample)]);
  return shown;
}

}  // namespace ddptrain
