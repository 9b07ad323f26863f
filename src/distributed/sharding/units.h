// The units of a model: each block that it lists, and all other parameters together, the root.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "distributed/sharding/shards.h"
#include "distributed/sharding/unit_gradients.h"
#include "models/blocks.h"

namespace ddptrain {

class Model;

/// When the weights of a block are released.
enum class Reshard {
  block,  // once the block is computed: two are there at a time
  step,   // never: those of other ranks come after each step
};

struct UnitOptions {
  CutAt cut = CutAt::any_element;
  Reshard reshard = Reshard::block;
  /// What autocast casts weights to; those of blocks that it casts wherever they are read travel in
  /// that type.
  std::optional<at::ScalarType> cast = {};
  /// Gradients of a window's passes are added up on each rank, in whole buffers of all units, and
  /// summed over ranks after the last one.
  bool reduces_last = false;
};

/// Runs the blocks of a model. Block by block: the weights of the next one are on their way while
/// one computes, forward in the order of the first pass, and backward in the reverse of it. A
/// block's gradients are summed over ranks while the one before it is in its backward pass. All
/// ranks run the same blocks in the same order, some of them with batches of no rows.
class Units final : public Blocks {
 public:
  /// `world` and the model outlive it. The model's parameters have no values until assign() and
  /// weights_changed(); what those have now is not looked at.
  Units(Model& model, const std::vector<NamedTensor>& parameters, const UnitOptions& options,
        World& world);
  ~Units() override;

  const Shards& shards() const { return *shards_; }
  /// Gives the rank's piece of a parameter, at a place of the list, its part of a whole value.
  void assign(std::size_t parameter, const at::Tensor& value);
  /// Names of the parameters that train from now on.
  void set_trained(const std::vector<std::string>& names);

  at::Tensor run(const Module& block, const at::Tensor& input, const Pass& pass,
                 const Forward& forward) override;
  /// Around each forward pass outside of a window. One that an error ends has no end.
  void begin_forward();
  void end_forward() { order_is_known_ = true; }
  /// A forward pass of the others, in which this rank computes nothing. Before its first pass it
  /// expects the blocks in the model's order.
  void follow();

  /// What an error or a trial left of the window before is forgotten.
  void begin_window();
  /// Around each forward and backward pass of a window; `last`: of its last one.
  void begin_pass(bool last);
  void end_pass();
  /// Waits for all sums of the window.
  void finish_window();
  /// Of the parameters of set_trained(), in their order: received a gradient on this rank.
  std::vector<bool> used() const;
  /// Gives the pieces of this rank the window's gradients; `used` on any rank.
  void assign_gradients(const std::vector<bool>& used) const;

  /// Of weights and gradients, the slots included.
  std::int64_t held_bytes() const;
  /// This rank's pieces were changed.
  void weights_changed();
  /// Where groups of ranks have a model each, all get the first group's pieces.
  void copy_to_groups();
  /// Blocks that have parameters; their places are in the model's order.
  std::size_t blocks() const { return units_.size() - 1; }
  /// Empty for one without.
  std::optional<std::size_t> place_of(const Module& block) const;
  /// Brings the weights of a block to every rank, in the parameters' own type, for reading; outside
  /// of a step, and all ranks call it together.
  void hold(std::size_t block);
  void let_go(std::size_t block);

 private:
  struct Unit {
    std::vector<std::unique_ptr<UnitWeights>> weights;      // by the type in which they travel
    std::vector<std::unique_ptr<UnitGradients>> gradients;  // of those that have some that train
    at::Tensor whole_gradients;  // a buffer of its own: of the root, and where sums are made last
    std::size_t slot = 0, gradient_slot = 0;
    bool in_backward = false;
    bool had_backward = false;  // in this pass

    bool stays() const { return weights.empty() || weights.front()->stays(); }
    bool is_there() const { return !weights.empty() && weights.front()->is_there(); }
    bool is_coming() const { return !weights.empty() && weights.front()->is_coming(); }
    bool is_taking() const { return !gradients.empty() && gradients.front()->is_taking(); }
    bool is_reducing() const { return !gradients.empty() && gradients.front()->is_reducing(); }
  };
  struct Member {
    UnitWeights* weights = nullptr;
    std::size_t place = 0;  // among its members
  };
  struct BackwardHook;

  Unit& root() { return units_.back(); }
  /// The block at a place of the order, once that is known.
  std::optional<std::size_t> expected(std::size_t place) const;
  void add_units(Model& model);
  /// Slots for the units whose weights do not stay, and the shards of all.
  void share_memory();
  void add_weights(Unit& unit, std::vector<std::size_t> members, const Travel& travel);
  void let_come(std::size_t unit);
  void bring(std::size_t unit);
  void release(Unit& unit);
  void enter(std::size_t unit);
  void leave(std::size_t unit);
  void begin_backward(std::size_t unit);
  void end_backward(std::size_t unit);
  void take_gradients(Unit& unit);
  void finish_reduction(Unit& unit);
  void forget_pass(Unit& unit);

  World& world_;
  UnitOptions options_;
  std::vector<NamedTensor> parameters_;
  std::vector<Member> members_;  // where each of them is
  std::vector<Unit> units_;      // blocks in order of registration, then the root
  std::unordered_map<const Module*, std::size_t> of_block_;
  std::vector<std::size_t> order_;  // of blocks in a forward pass: that of the first one
  bool order_is_known_ = false;
  std::size_t place_ = 0;  // in it: forward, and back
  bool learns_ = false;    // a pass with a backward pass is under way
  bool reduces_ = false;   // gradients are summed at its end
  std::unique_ptr<Slots> weight_slots_, gradient_slots_;
  std::vector<std::size_t> reducing_;  // whose sums are on their way, the oldest first
  std::unique_ptr<Shards> shards_;
  std::vector<std::string> trained_;
};

}  // namespace ddptrain
