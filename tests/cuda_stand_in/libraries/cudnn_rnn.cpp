// Recurrent networks of libcudnn: the descriptors that LibTorch makes, where weights lie, and three
// kernels for the passes.
#include "cuda_stand_in/libraries/cudnn_tensors.h"

namespace {

using ddptrain::stand_in::bytes_of;
using ddptrain::stand_in::cudnn_kernel;
using ddptrain::stand_in::reads;
using ddptrain::stand_in::tensor_of;
using ddptrain::stand_in::writes;

struct RnnShape {
  int gates = 4, input = 0, hidden = 0, layers = 1, directions = 1;
  cudnnDataType_t type = CUDNN_DATA_FLOAT;

  int input_of(int layer) const { return layer / directions == 0 ? input : hidden * directions; }
  int pseudo_layers() const { return layers * directions; }
  std::size_t weights_of(int layer) const {
    const auto columns = static_cast<std::size_t>(input_of(layer) + hidden);
    return columns * static_cast<std::size_t>(hidden) * static_cast<std::size_t>(gates);
  }
  std::size_t weights_before(int layer) const {
    std::size_t sum = 0;
    for (int i = 0; i < layer; ++i) sum += weights_of(i);
    return sum;
  }
  std::size_t biases_of_a_layer() const { return 2 * static_cast<std::size_t>(gates * hidden); }
  std::size_t all() const {
    return weights_before(pseudo_layers()) +
           static_cast<std::size_t>(pseudo_layers()) * biases_of_a_layer();
  }
};
RnnShape& of(cudnnRNNDescriptor_t handle) { return *reinterpret_cast<RnnShape*>(handle); }

/// Time, rows and width of a sequence.
struct RnnData {
  std::size_t bytes = 0;
};
RnnData& of(cudnnRNNDataDescriptor_t handle) { return *reinterpret_cast<RnnData*>(handle); }

int gates_of(cudnnRNNMode_t mode) { return mode == CUDNN_LSTM ? 4 : mode == CUDNN_GRU ? 3 : 1; }

template <class Made, class Handle>
cudnnStatus_t make(Handle* to) {
  *to = reinterpret_cast<Handle>(new Made);
  return CUDNN_STATUS_SUCCESS;
}

constexpr std::size_t kRnnWork = 1 << 16, kReserve = 1 << 16, kDropoutStates = 1 << 12;

}  // namespace

extern "C" {

cudnnStatus_t cudnnCreateDropoutDescriptor(cudnnDropoutDescriptor_t* to) { return make<char>(to); }
cudnnStatus_t cudnnDestroyDropoutDescriptor(cudnnDropoutDescriptor_t dropout) {
  delete reinterpret_cast<char*>(dropout);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDropoutGetStatesSize(cudnnHandle_t, size_t* bytes) {
  *bytes = kDropoutStates;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetDropoutDescriptor(cudnnDropoutDescriptor_t, cudnnHandle_t handle, float,
                                        void* states, size_t bytes, unsigned long long) {
  return states == nullptr ? CUDNN_STATUS_SUCCESS
                           : cudnn_kernel("cudnn dropout states", handle, {writes(states, bytes)});
}
cudnnStatus_t cudnnRestoreDropoutDescriptor(cudnnDropoutDescriptor_t, cudnnHandle_t, float, void*,
                                            size_t, unsigned long long) {
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnCreateRNNDescriptor(cudnnRNNDescriptor_t* to) { return make<RnnShape>(to); }
cudnnStatus_t cudnnDestroyRNNDescriptor(cudnnRNNDescriptor_t shape) {
  delete &of(shape);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetRNNDescriptor_v8(cudnnRNNDescriptor_t shape, cudnnRNNAlgo_t,
                                       cudnnRNNMode_t mode, cudnnRNNBiasMode_t,
                                       cudnnDirectionMode_t direction, cudnnRNNInputMode_t,
                                       cudnnDataType_t type, cudnnDataType_t, cudnnMathType_t,
                                       int32_t input, int32_t hidden, int32_t, int32_t layers,
                                       cudnnDropoutDescriptor_t, uint32_t) {
  of(shape) = {
      gates_of(mode), input, hidden, layers, direction == CUDNN_BIDIRECTIONAL ? 2 : 1, type};
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnCreateRNNDataDescriptor(cudnnRNNDataDescriptor_t* to) {
  return make<RnnData>(to);
}
cudnnStatus_t cudnnDestroyRNNDataDescriptor(cudnnRNNDataDescriptor_t data) {
  delete &of(data);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetRNNDataDescriptor(cudnnRNNDataDescriptor_t data, cudnnDataType_t type,
                                        cudnnRNNDataLayout_t, int time, int rows, int width,
                                        const int[], void*) {
  of(data).bytes = static_cast<std::size_t>(time) * static_cast<std::size_t>(rows) *
                   static_cast<std::size_t>(width) * bytes_of(type);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnGetRNNTempSpaceSizes(cudnnHandle_t, cudnnRNNDescriptor_t, cudnnForwardMode_t,
                                        cudnnRNNDataDescriptor_t, size_t* work, size_t* reserve) {
  if (work != nullptr) *work = kRnnWork;
  if (reserve != nullptr) *reserve = kReserve;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnGetRNNWeightSpaceSize(cudnnHandle_t, cudnnRNNDescriptor_t shape, size_t* bytes) {
  *bytes = of(shape).all() * bytes_of(of(shape).type);
  return CUDNN_STATUS_SUCCESS;
}
// Matrices of all layers, then biases of all layers; the input's before the hidden state's.
cudnnStatus_t cudnnGetRNNWeightParams(cudnnHandle_t, cudnnRNNDescriptor_t handle, int32_t layer,
                                      size_t, const void* space, int32_t part,
                                      cudnnTensorDescriptor_t matrix, void** matrix_at,
                                      cudnnTensorDescriptor_t bias, void** bias_at) {
  const auto& shape = of(handle);
  const bool is_hidden = part >= shape.gates;
  const int gate = part % shape.gates, columns = is_hidden ? shape.hidden : shape.input_of(layer);
  const auto hidden = static_cast<std::size_t>(shape.hidden);
  auto before = shape.weights_before(layer) + static_cast<std::size_t>(gate * columns) * hidden;
  if (is_hidden) before += static_cast<std::size_t>(shape.gates * shape.input_of(layer)) * hidden;
  const auto biases_before = shape.weights_before(shape.pseudo_layers()) +
                             static_cast<std::size_t>(layer) * shape.biases_of_a_layer() +
                             static_cast<std::size_t>(part) * hidden;
  auto* start = static_cast<char*>(const_cast<void*>(space));
  if (matrix != nullptr) {
    tensor_of(matrix) = {
        shape.type, {1, shape.hidden, columns}, {shape.hidden * columns, columns, 1}};
    *matrix_at = start + before * bytes_of(shape.type);
  }
  if (bias != nullptr) {
    tensor_of(bias) = {shape.type, {1, shape.hidden, 1}, {shape.hidden, 1, 1}};
    *bias_at = start + biases_before * bytes_of(shape.type);
  }
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnRNNForward(cudnnHandle_t handle, cudnnRNNDescriptor_t, cudnnForwardMode_t,
                              const int32_t[], cudnnRNNDataDescriptor_t x_data, const void* x,
                              cudnnRNNDataDescriptor_t y_data, void* y, cudnnTensorDescriptor_t h,
                              const void* hx, void* hy, cudnnTensorDescriptor_t c, const void* cx,
                              void* cy, size_t weight_bytes, const void* weights, size_t work_bytes,
                              void* work, size_t reserve_bytes, void* reserve) {
  return cudnn_kernel(
      "cudnn rnn forward", handle,
      {reads(x, of(x_data).bytes), reads(hx, bytes_of(h)), reads(cx, cx ? bytes_of(c) : 0),
       reads(weights, weight_bytes), writes(y, of(y_data).bytes), writes(hy, bytes_of(h)),
       writes(cy, cy ? bytes_of(c) : 0), writes(work, work_bytes), writes(reserve, reserve_bytes)});
}
cudnnStatus_t cudnnRNNBackwardData_v8(cudnnHandle_t handle, cudnnRNNDescriptor_t, const int32_t[],
                                      cudnnRNNDataDescriptor_t y_data, const void* y,
                                      const void* dy, cudnnRNNDataDescriptor_t x_data, void* dx,
                                      cudnnTensorDescriptor_t h, const void* hx, const void* dhy,
                                      void* dhx, cudnnTensorDescriptor_t c, const void* cx,
                                      const void* dcy, void* dcx, size_t weight_bytes,
                                      const void* weights, size_t work_bytes, void* work,
                                      size_t reserve_bytes, void* reserve) {
  return cudnn_kernel(
      "cudnn rnn backward data", handle,
      {reads(y, of(y_data).bytes), reads(dy, of(y_data).bytes), reads(hx, bytes_of(h)),
       reads(dhy, bytes_of(h)), reads(cx, cx ? bytes_of(c) : 0), reads(dcy, dcy ? bytes_of(c) : 0),
       reads(weights, weight_bytes), writes(dx, of(x_data).bytes), writes(dhx, bytes_of(h)),
       writes(dcx, dcx ? bytes_of(c) : 0), writes(work, work_bytes),
       writes(reserve, reserve_bytes)});
}
cudnnStatus_t cudnnRNNBackwardWeights_v8(cudnnHandle_t handle, cudnnRNNDescriptor_t,
                                         cudnnWgradMode_t, const int32_t[],
                                         cudnnRNNDataDescriptor_t x_data, const void* x,
                                         cudnnTensorDescriptor_t h, const void* hx,
                                         cudnnRNNDataDescriptor_t y_data, const void* y,
                                         size_t weight_bytes, void* dweights, size_t work_bytes,
                                         void* work, size_t reserve_bytes, void* reserve) {
  return cudnn_kernel(
      "cudnn rnn backward weights", handle,
      {reads(x, of(x_data).bytes), reads(hx, bytes_of(h)), reads(y, of(y_data).bytes),
       writes(dweights, weight_bytes), writes(work, work_bytes), writes(reserve, reserve_bytes)});
}
}
