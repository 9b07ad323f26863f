#include "callbacks/catalog.h"

namespace ddptrain {

template <>
const Catalog<Callback>& catalog<Callback>() {
  static const Catalog<Callback> callbacks({
      early_stopping_callback(),
      reduce_lr_on_plateau_callback(),
  });
  return callbacks;
}

}  // namespace ddptrain
