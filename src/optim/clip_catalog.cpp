#include "optim/clip_catalog.h"

namespace ddptrain {

template <>
const Catalog<Clip>& catalog<Clip>() {
  static const Catalog<Clip> clips({
      norm_clip(),
      value_clip(),
  });
  return clips;
}

}  // namespace ddptrain
