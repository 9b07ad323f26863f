#include "models/layers/transformer_mlp.h"

#include "models/layers/activation.h"
#include "models/layers/convolution.h"
#include "models/layers/dropout.h"
#include "models/layers/initialise.h"

namespace ddptrain {

std::unique_ptr<Sequence> transformer_mlp(const TransformerMlpShape& shape,
                                          const at::Generator& generator) {
  auto mlp = std::make_unique<Sequence>();
  const auto* first = mlp->add<Linear>(shape.features, shape.hidden, generator);
  mlp->add<Activate>(Activation::gelu);
  mlp->add<Dropout>(shape.dropout);
  const auto* second = mlp->add<Linear>(shape.hidden, shape.features, generator);
  mlp->add<Dropout>(shape.dropout);
  for (const auto* linear : {first, second}) {
    initialise::xavier_uniform(linear->weight(), generator);
    initialise::normal(linear->bias(), 1e-6, generator);
  }
  return mlp;
}

}  // namespace ddptrain
