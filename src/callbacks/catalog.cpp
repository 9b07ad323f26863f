// The callbacks that recipes can name.
#include "callbacks/callback.h"

namespace ddptrain {

Entry<Callback> early_stopping_callback();
Entry<Callback> reduce_lr_on_plateau_callback();

template <>
const Catalog<Callback>& catalog<Callback>() {
  static const Catalog<Callback> callbacks({
      early_stopping_callback(),
      reduce_lr_on_plateau_callback(),
  });
  return callbacks;
}

}  // namespace ddptrain
