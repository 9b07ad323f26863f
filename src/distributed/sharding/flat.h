// Parameters one after another in one buffer, and which rank has which slice of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "distributed/group.h"
#include "models/module.h"

namespace ddptrain {

/// Where parameters begin on the CPU: right behind each other, or at multiples of 64 bytes, as
/// weights should, whose place decides how kernels divide their loops. On an accelerator they begin
/// at multiples of 256 bytes.
enum class Room { dense, aligned };

/// A parameter's elements lie in its own order of memory, so a channels_last weight keeps its
/// strides. What lies between parameters is 0.
struct Flat {
  std::vector<std::size_t> members;   // places in a list of parameters, in order of the buffer
  std::vector<std::int64_t> first;    // element of the buffer at which each begins
  std::vector<std::int64_t> lengths;  // elements of each
  std::int64_t elements = 0;          // of the buffer
  Cuts cuts;                          // slices of ranks; empty: it is not shared
};

/// The parameters `members` of the list. `element_bytes`: of the smallest type that the buffer is
/// kept in; 0: the parameters' own.
Flat flat_of(const std::vector<NamedTensor>& parameters, std::vector<std::size_t> members,
             Room room = Room::dense, std::int64_t element_bytes = 0);

/// Where a buffer may be cut.
enum class CutAt {
  any_element,  // slices of the same size
  parameters,   // where a parameter begins, for optimizers that look at whole ones
};

/// Shares an aligned buffer among ranks. Between two elements only multiples of 64 bytes are cut,
/// so that a kernel does to the elements of a slice what it does to them in a whole tensor. On an
/// accelerator slices are equal multiples of 256 bytes, for which the buffer is made longer.
void cut(Flat& flat, const std::vector<NamedTensor>& parameters, int ranks, CutAt at,
         std::int64_t element_bytes = 0);

/// A buffer of the members that are `kept`; ranks have the same elements of them.
Flat with_those(const Flat& flat, const std::vector<NamedTensor>& parameters,
                const std::vector<bool>& kept, Room room = Room::dense);

/// Member `i` of the buffer, with the sizes and strides of its parameter.
at::Tensor view_of(const at::Tensor& buffer, const Flat& flat, std::size_t i,
                   const at::Tensor& parameter);

/// What a rank has of a parameter.
struct ShardPiece {
  std::int64_t in_buffer = 0;     // the element at which it begins
  std::int64_t in_slice = 0;      // the same in the rank's slice
  std::int64_t in_parameter = 0;  // the same in the parameter, in order of memory
  std::int64_t elements = 0;
};
ShardPiece piece_of(const Flat& flat, std::size_t i, int rank);

/// The elements of a dense tensor in order of memory, a view [elements].
at::Tensor in_memory_order(const at::Tensor& tensor);

}  // namespace ddptrain
