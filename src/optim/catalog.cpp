// The optimisers.
#include "optim/optimizer.h"

namespace ddptrain {

Entry<Optimizer> adam();
Entry<Optimizer> adamw();
Entry<Optimizer> lamb();
Entry<Optimizer> lars();
Entry<Optimizer> lookahead();
Entry<Optimizer> radam();
Entry<Optimizer> ranger();
Entry<Optimizer> rmsprop();
Entry<Optimizer> sgd();

template <>
const Catalog<Optimizer>& catalog<Optimizer>() {
  static const Catalog<Optimizer> optimizers(
      {adam(), adamw(), lamb(), lars(), lookahead(), radam(), ranger(), rmsprop(), sgd()});
  return optimizers;
}

}  // namespace ddptrain
