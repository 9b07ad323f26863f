// What each rank has of the parameters and of all that belongs to them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "distributed/sharding/flat.h"
#include "distributed/world.h"
#include "models/tensor_part.h"

namespace ddptrain {

/// A function of the model, the number of ranks that share and the cuts alone, the same on every
/// rank; of several groups that have a model each, rank by rank the same. A piece is [elements], in
/// its parameter's order of memory; cut at parameters, or without dimensions, it is the parameter
/// itself on one rank, and elsewhere has no elements in as many dimensions.
class Shards {
 public:
  /// `parameters`: those that are ever trained. `flats` have cuts; `slices` is this rank's slice of
  /// each, [elements]. `world` outlives it.
  Shards(std::vector<NamedTensor> parameters, std::vector<Flat> flats, CutAt at,
         const std::vector<at::Tensor>& slices, World& world);

  /// What optimizers, clipping and averages take for the parameters, in their order. After the sum
  /// of a window its gradients are those of the step. Every rank has all names.
  const std::vector<NamedTensor>& pieces() const { return pieces_; }
  const at::Tensor& piece(const std::string& parameter) const;
  bool has(const std::string& parameter) const { return index_.contains(parameter); }
  /// A parameter of which all ranks bring their pieces to all; they call it together.
  at::Tensor whole(const std::string& parameter) const;
  /// The gradient of the elements of a piece.
  void set_gradient(const std::string& parameter, const at::Tensor& elements) const;

  /// What this rank writes of what belongs to pieces, named "<parameter>" or "<parameter>.<what>".
  /// What has no dimensions, or belongs to no parameter, is the same on all ranks, and one writes
  /// it; of several groups the first writes all. Parameters whose memory is not in row-major order
  /// are brought to rank 0. Places are those of `order`, which has all parameters, and the same
  /// however many ranks share. All ranks call it together.
  std::vector<TensorPart> parts(const std::vector<NamedTensor>& state,
                                const std::vector<NamedTensor>& order) const;
  /// The same of whole parameters, on rank 0; elsewhere it is empty. All ranks call it together.
  std::vector<NamedTensor> gather(const std::vector<NamedTensor>& state) const;
  /// Of what belongs to whole parameters, as much as is for pieces of this rank.
  std::vector<NamedTensor> cut(const std::vector<NamedTensor>& state) const;

  /// For sums over the pieces of all ranks, where pieces are.
  Statistics& ranks() const { return world_.sharing(); }
  /// Type and device of the pieces.
  at::TensorOptions options() const;

 private:
  struct Place {
    std::size_t flat = 0, member = 0;
  };
  /// The parameter that a name of state belongs to.
  std::optional<std::size_t> owner_of(const std::string& name) const;
  ShardPiece piece_on(std::size_t parameter, int rank) const;
  bool has(std::size_t parameter, int rank) const;
  bool is_cut(std::size_t parameter) const;
  bool has_first_element(std::size_t parameter) const;
  std::optional<TensorPart> part(const NamedTensor& state) const;
  at::Tensor place_for(std::size_t parameter, const at::Tensor& piece) const;
  at::Tensor parameter_piece(std::size_t parameter, const at::Tensor& slice) const;
  std::vector<NamedTensor> own_parts(const std::vector<NamedTensor>& state) const;
  void place(const NamedTensor& state, int rank, std::map<std::string, at::Tensor>& whole) const;

  std::vector<NamedTensor> parameters_;
  std::unordered_map<std::string, std::size_t> index_;
  std::vector<Flat> flats_;
  std::vector<Place> places_;  // of each parameter
  CutAt at_;
  World& world_;
  int ranks_;  // that share
  int rank_;   // this one's place among them
  std::vector<NamedTensor> pieces_;
};

}  // namespace ddptrain
