// AdamW as torch.optim.AdamW has it: Adam with decoupled weight decay.
#include "optim/optimizers/adam.h"

namespace ddptrain {

struct AdamwOptions : AdamOptions {
  AdamwOptions() {
    common.weight_decay = 1e-2;
    decoupled_weight_decay = true;
  }
  void fields(Fields& f) { adam_fields(f, *this); }
};

Entry<Optimizer> adamw() {
  return entry<Optimizer, AdamwOptions>("adamw",
                                        "Adam with decoupled weight decay; defaults are PyTorch's.",
                                        make_adam, {"momentum"});
}

}  // namespace ddptrain
