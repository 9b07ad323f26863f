#include "train/run/torch_warnings.h"

#include "base/output/log.h"

namespace ddptrain {

void TorchWarnings::process(const c10::Warning& warning) {
  const auto text = warning.msg().substr(0, warning.msg().find('\n'));
  if (said_.insert(text).second) log::warning("LibTorch: {}", text);
}

}  // namespace ddptrain
