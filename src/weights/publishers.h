// The tables of publishers, a file for each.
#pragma once

#include "weights/weights.h"

namespace ddptrain {

std::vector<PublishedWeights> torchvision_weights();
std::vector<PublishedWeights> timm_weights();
std::vector<PublishedWeights> fastai_weights();

}  // namespace ddptrain
