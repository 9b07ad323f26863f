// torchvision.models.mobilenet_v3_large.
#include "models/catalog.h"
#include "models/mobilenet_v3.h"

namespace ddptrain {

Entry<Model> mobilenet_v3_large_model() {
  constexpr auto relu = Activation::relu, swish = Activation::hard_swish;
  return mobilenet_v3_entry("mobilenet_v3_large", "Large MobileNet V3, as in torchvision.",
                            {.blocks = {{16, 3, 16, 16, false, relu, 1},
                                        {16, 3, 64, 24, false, relu, 2},
                                        {24, 3, 72, 24, false, relu, 1},
                                        {24, 5, 72, 40, true, relu, 2},
                                        {40, 5, 120, 40, true, relu, 1},
                                        {40, 5, 120, 40, true, relu, 1},
                                        {40, 3, 240, 80, false, swish, 2},
                                        {80, 3, 200, 80, false, swish, 1},
                                        {80, 3, 184, 80, false, swish, 1},
                                        {80, 3, 184, 80, false, swish, 1},
                                        {80, 3, 480, 112, true, swish, 1},
                                        {112, 3, 672, 112, true, swish, 1},
                                        {112, 5, 672, 160, true, swish, 2},
                                        {160, 5, 960, 160, true, swish, 1},
                                        {160, 5, 960, 160, true, swish, 1}},
                             .hidden = 1280});
}

}  // namespace ddptrain
