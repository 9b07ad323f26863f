#include "models/layers/many_lengths.h"

#include <ATen/Context.h>

#include <atomic>

namespace ddptrain {
namespace {

std::atomic<int> living{0};

}  // namespace

ManyLengths::ManyLengths() {
  if (living++ == 0) at::globalContext().setSDPUseCuDNN(false);
}

ManyLengths::~ManyLengths() {
  if (--living == 0) at::globalContext().setSDPUseCuDNN(true);
}

}  // namespace ddptrain
