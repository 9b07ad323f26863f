#include "data/preview.h"

#include "data/dataset.h"

namespace ddptrain {

Preview Dataset::preview(Split split, std::int64_t index, const Draw&) const {
  Preview shown{sample_name(split, index), {}, {}};
  const auto sample = label(split, index);
  if (sample >= 0 && sample < facts().class_count())
    shown.cells.emplace_back("label", facts().classes[static_cast<std::size_t>(sample)]);
  return shown;
}

}  // namespace ddptrain
