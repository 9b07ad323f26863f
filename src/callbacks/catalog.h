// The callbacks that recipes can name, one exported function each.
#pragma once

#include "callbacks/callback.h"

namespace ddptrain {

Entry<Callback> early_stopping_callback();
Entry<Callback> reduce_lr_on_plateau_callback();

}  // namespace ddptrain
