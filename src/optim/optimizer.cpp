#include "optim/optimizer.h"

namespace ddptrain {

bool is_refused(const Rates& rates) {
  return rates.refused.defined() && rates.refused.item<float>() != 0;
}

}  // namespace ddptrain
