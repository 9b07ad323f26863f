// Small networks on the CPU: what calling operators costs is more than what they compute, so a
// chain of layers is one node of the graph.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "models/layers/convolution.h"
#include "models/layers/dropout.h"
#include "models/layers/norm.h"

namespace ddptrain {

/// One layer of a dense chain; one of the pointers is set, or it is a ReLU.
struct DenseStep {
  const Linear* linear = nullptr;
  BatchNorm* norm = nullptr;
  const Dropout* dropout = nullptr;
};

/// The layers of a chain that one node computes.
struct DenseChain {
  std::vector<DenseStep> steps;
  std::size_t modules = 0;  // of the chain that they were taken from; 0: there is no such node
};

/// Whether nodes of our own may compute a pass of so many rows in the type and on the device of
/// `like`: training with gradients on the CPU, in float or double, without autocast or
/// recomputation, of two rows or more.
bool is_dense_pass(const at::Tensor& like, std::int64_t rows, const Pass& pass);

/// The first of `steps` that compute such a pass as one node: linear layers, batch norms of this
/// replica's batch, ReLUs, dropouts, and chains of these, two layers or more of which one is
/// linear. `input` is [rows, features].
DenseChain dense_chain(std::span<Module* const> steps, const at::Tensor& input, const Pass& pass);

/// The node gives parameters their gradients itself (leaf_gradient.h). The same numbers as the
/// layers one after another, but for rounding: sums of columns are made in double. Keeps the input,
/// and outputs of linear layers and batch norms, until the backward pass.
at::Tensor run_dense(const DenseChain& chain, const at::Tensor& input, const Pass& pass);

}  // namespace ddptrain
