// torchvision.models.mobilenet_v3_small.
#include "models/catalog.h"
#include "models/mobilenet_v3.h"

namespace ddptrain {

Entry<Model> mobilenet_v3_small_model() {
  constexpr auto relu = Activation::relu, swish = Activation::hard_swish;
  return mobilenet_v3_entry("mobilenet_v3_small", "Small MobileNet V3, as in torchvision.",
                            {.blocks = {{16, 3, 16, 16, true, relu, 2},
                                        {16, 3, 72, 24, false, relu, 2},
                                        {24, 3, 88, 24, false, relu, 1},
                                        {24, 5, 96, 40, true, swish, 2},
                                        {40, 5, 240, 40, true, swish, 1},
                                        {40, 5, 240, 40, true, swish, 1},
                                        {40, 5, 120, 48, true, swish, 1},
                                        {48, 5, 144, 48, true, swish, 1},
                                        {48, 5, 288, 96, true, swish, 2},
                                        {96, 5, 576, 96, true, swish, 1},
                                        {96, 5, 576, 96, true, swish, 1}},
                             .hidden = 1024});
}

}  // namespace ddptrain
