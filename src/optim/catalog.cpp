// The optimizers, and the ways to clip.
#include "optim/clip.h"
#include "optim/optimizer.h"

namespace ddptrain {

Entry<Optimizer> adadelta();
Entry<Optimizer> adafactor();
Entry<Optimizer> adagrad();
Entry<Optimizer> adam();
Entry<Optimizer> adamax();
Entry<Optimizer> adamw();
Entry<Optimizer> lamb();
Entry<Optimizer> larc();
Entry<Optimizer> lars();
Entry<Optimizer> lion();
Entry<Optimizer> lookahead();
Entry<Optimizer> muon();
Entry<Optimizer> nadam();
Entry<Optimizer> qhadam();
Entry<Optimizer> radam();
Entry<Optimizer> ranger();
Entry<Optimizer> rmsprop();
Entry<Optimizer> sgd();

template <>
const Catalog<Optimizer>& catalog<Optimizer>() {
  static const Catalog<Optimizer> optimizers({
      adadelta(),
      adafactor(),
      adagrad(),
      adam(),
      adamax(),
      adamw(),
      lamb(),
      larc(),
      lars(),
      lion(),
      lookahead(),
      muon(),
      nadam(),
      qhadam(),
      radam(),
      ranger(),
      rmsprop(),
      sgd(),
  });
  return optimizers;
}

Entry<Clip> norm_clip();
Entry<Clip> value_clip();

template <>
const Catalog<Clip>& catalog<Clip>() {
  static const Catalog<Clip> clips({
      norm_clip(),
      value_clip(),
  });
  return clips;
}

}  // namespace ddptrain
