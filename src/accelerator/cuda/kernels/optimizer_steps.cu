// Adam and SGD with momentum as torch's fused kernels have them (aten/src/ATen/native/cuda:
// fused_adam_utils.cuh, FusedSgdKernel.cu), but the momentum is a number of the device, which a
// schedule moves from step to step (src/optim/optimizers/momentum_there.h). A block takes one chunk
// of one tensor.
#include "numbers.cuh"
#include "optimizer_tensors.cuh"

struct Chunk {
  int tensor;
  long long begin, end;
};

__device__ inline Chunk chunk_of_block(const OptimizerTensors& all) {
  const int block = (int)blockIdx.x;
  int low = 0, high = all.count;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (all.first_chunks[middle] <= block)
      low = middle;
    else
      high = middle;
  }
  const long long begin = (long long)(block - all.first_chunks[low]) * kOptimizerChunk;
  const long long end = begin + kOptimizerChunk;
  return {low, begin, end < all.sizes[low] ? end : all.sizes[low]};
}

/// Calls `move` with the numbers of each place, of which it may change all; kLists are read, and of
/// these all but the gradients written.
template <class T, int kLists, class Move>
__device__ inline void each_number(const OptimizerTensors& all, const Move& move) {
  const Chunk chunk = chunk_of_block(all);
  T* of[kLists];
  for (int l = 0; l < kLists; ++l) of[l] = (T*)all.of[l][chunk.tensor];
  for (long long i = chunk.begin + 4 * (int)threadIdx.x; i < chunk.end; i += 4 * (int)blockDim.x) {
    Four<T> here[kLists];
    const bool whole = all.fours && i + 4 <= chunk.end;
    const int count = i + 4 <= chunk.end ? 4 : (int)(chunk.end - i);
    for (int l = 0; l < kLists; ++l) {
      if (whole)
        here[l] = *(const Four<T>*)(of[l] + i);
      else
        for (int j = 0; j < count; ++j) here[l].at[j] = of[l][i + j];
    }
    for (int j = 0; j < count; ++j) {
      typename WideOf<T>::type numbers[kLists];
      for (int l = 0; l < kLists; ++l) numbers[l] = widen(here[l].at[j]);
      move(numbers);
      for (int l = 0; l < kLists; ++l)
        if (l != 1) narrow(numbers[l], here[l].at[j]);
    }
    for (int l = 0; l < kLists; ++l) {
      if (l == 1) continue;
      if (whole)
        *(Four<T>*)(of[l] + i) = here[l];
      else
        for (int j = 0; j < count; ++j) of[l][i + j] = here[l].at[j];
    }
  }
}

template <class Wide>
struct AdamMove {
  AdamStepArguments a;
  double rate, momentum, correction1, root2;

  template <int kLists>
  __device__ inline void operator()(Wide (&numbers)[kLists]) const {
    Wide &parameter = numbers[0], &first = numbers[2], &second = numbers[3];
    Wide gradient = a.maximize ? -numbers[1] : numbers[1];
    if (a.weight_decay != 0) {
      if (a.decoupled)
        parameter = (Wide)(parameter - rate * a.weight_decay * parameter);
      else
        gradient = (Wide)(gradient + parameter * a.weight_decay);
    }
    first = (Wide)(momentum * first + (1 - momentum) * gradient);
    second = (Wide)(a.beta2 * second + (1 - a.beta2) * gradient * gradient);
    Wide square = second;
    if (kLists == 5) {
      Wide& largest = numbers[kLists - 1];
      if (largest < second) largest = second;
      square = largest;
    }
    const Wide step_size = (Wide)(rate / correction1);
    const Wide root = sizeof(Wide) == 4 ? (Wide)sqrtf((float)square) : (Wide)sqrt((double)square);
    const Wide denominator = (Wide)(root / root2 + a.eps);
    parameter -= step_size * first / denominator;
  }
};

template <class T>
__device__ inline void adam_step(const OptimizerTensors& all, const AdamStepArguments& a) {
  if (a.refused && *a.refused == 1) return;
  __shared__ double correction1, root2;
  const double momentum = *a.momentum;
  if (threadIdx.x == 0) {
    correction1 = 1 - pow(momentum, (double)*a.step);
    root2 = sqrt(1 - pow(a.beta2, (double)*a.step));
  }
  __syncthreads();
  typedef typename WideOf<T>::type Wide;
  const AdamMove<Wide> move{a, *a.rate, momentum, correction1, root2};
  if (a.amsgrad)
    each_number<T, 5>(all, move);
  else
    each_number<T, 4>(all, move);
}

template <class Wide>
struct SgdMove {
  SgdStepArguments a;
  double rate, momentum;

  __device__ inline void operator()(Wide (&numbers)[3]) const {
    Wide &parameter = numbers[0], &running = numbers[2];
    Wide gradient = a.maximize ? -numbers[1] : numbers[1];
    if (a.weight_decay != 0) gradient = (Wide)(gradient + a.weight_decay * parameter);
    running = a.is_first ? gradient : (Wide)(momentum * running + (1 - a.dampening) * gradient);
    gradient = a.nesterov ? (Wide)(gradient + momentum * running) : running;
    parameter = (Wide)(parameter - rate * gradient);
  }
};

template <class T>
__device__ inline void sgd_step(const OptimizerTensors& all, const SgdStepArguments& a) {
  if (a.refused && *a.refused == 1) return;
  typedef typename WideOf<T>::type Wide;
  each_number<T, 3>(all, SgdMove<Wide>{a, *a.rate, *a.momentum});
}

#define OPTIMIZER_STEPS(name, type)                                                                \
  extern "C" __global__ void adam_step_##name(OptimizerTensors all, AdamStepArguments arguments) { \
    adam_step<type>(all, arguments);                                                               \
  }                                                                                                \
  extern "C" __global__ void sgd_step_##name(OptimizerTensors all, SgdStepArguments arguments) {   \
    sgd_step<type>(all, arguments);                                                                \
  }

WITH_FLOAT(OPTIMIZER_STEPS(float, float))
WITH_BFLOAT16(OPTIMIZER_STEPS(bfloat16, BFloat16))
WITH_HALF(OPTIMIZER_STEPS(half, Half))
