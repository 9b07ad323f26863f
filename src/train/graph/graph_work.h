// Steps that are alike, captured once and replayed by the device itself.
//
//            pass            decide               update
//   eager    operators       operators            operators
//   split    [ one graph ]   [ one of two graphs ]  operators
//   whole    [                 one graph                    ]
//
// The bits are the same in all three. A step is eager until three like it were made; it is whole
// where the optimizer's step can be captured too, else split. Graphs of several shapes of batches
// are kept.
#pragma once

#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "train/graph/captured_step.h"
#include "train/graph/graph_ranks.h"
#include "train/graph/graph_shapes.h"
#include "train/graph/step_work.h"

namespace ddptrain {

class Accelerator;

/// Decorates EagerWork: what that gives the device is captured, and replayed from then on. Batches
/// of other shapes, several passes a step and whatever else the graph is not of are left to it.
class GraphWork final : public StepWork {
 public:
  /// Both outlive it. An Error (Exit::recipe) where `train.graph: true` cannot be.
  GraphWork(Training& training, Decision& decision);
  ~GraphWork() override;

  void begin(const StepInputs& inputs, std::int64_t micro_steps) override;
  /// An Error (Exit::recipe) under `train.graph: true` where the step cannot be captured; under
  /// `auto` that is logged once, and steps are eager.
  void pass(const Batch& batch, const MicroStep& at) override;
  StepOutcome decide(const StepInputs& inputs, bool asked) override;
  void update(const StepInputs& inputs, const StepOutcome& outcome) override;
  bool runs_ahead() const override { return how_ == How::whole && !waiting_; }

 private:
  enum class How { eager, split, whole };
  /// A whole step whose turn comes in decide().
  struct Waiting {
    Batch batch;
    MicroStep at;
  };

  void pass_eagerly(const Batch& batch, const MicroStep& at);
  void pass_split(const Batch& batch, const MicroStep& at);
  void run_whole(const Batch& batch, const MicroStep& at);
  StepOutcome decide_split(const StepInputs& inputs, bool asked);

  MicroStep on_device(MicroStep at);
  StepSignature signature_of(const Batch& batch, const MicroStep& at) const;
  std::optional<std::int64_t> optimizer_version() const;
  bool is_rehearsal() const;
  StepOutcome rehearse(const StepInputs& inputs, bool asked);
  bool is_ready(const Batch& batch, const MicroStep& at);
  bool is_captured() const { return captured_ && captured_->signature == signature_; }
  void find_captured();
  bool capture_passes(const Batch& batch, const MicroStep& at);
  bool capture_whole(const Batch& batch, const MicroStep& at);
  std::string capture(const Batch& batch, const DeviceWork& work);
  std::string together(std::string why) const;
  void make_room();
  std::int64_t reserved() const;
  void capture_ending(CapturedEnding& ending, const StepInputs& inputs, bool asked);
  void upload(const Batch& batch);

  std::string too_little_memory() const;
  void refuse(const std::string& why);
  void note_eager_step();
  void note_capture(const char* as);
  void log_once(const std::string& text) const;

  Training& t_;
  EagerWork eager_;
  PassCapture& passes_;
  const Accelerator& accelerator_;
  at::Device device_;
  std::vector<at::Tensor> weights_;  // and buffers

  GraphRanks ranks_;
  bool required_;                  // `train.graph: true`
  std::string obstacle_;           // that stands before the first step; empty: none
  bool refused_ = false;           // no step is captured
  bool whole_is_refused_ = false;  // none as a whole
  bool ends_are_eager_ = false;    // decide() of split steps is not captured
  GraphShapes shapes_;
  int alike_ = 0;        // steps of the shape of the last one, without a graph
  int eager_steps_ = 0;  // in a row
  int captures_ = 0;     // of a step's passes, or of all of it

  // Inputs of a graph other than the batch.
  at::Tensor step_number_, loss_gradient_;
  std::int64_t step_uploaded_ = -1;  // the value of step_number_; -1: unknown

  // Of the step under way.
  How how_ = How::eager;
  StepInputs inputs_;
  std::int64_t micro_steps_ = 1;
  StepSignature signature_;
  std::optional<Waiting> waiting_;

  std::list<CapturedStep> kept_;      // the last that was used first
  CapturedStep* captured_ = nullptr;  // that of the step under way; null: none yet
};

/// Eager on devices for which `train.graph` is false.
std::unique_ptr<StepWork> make_step_work(Training& training, Decision& decision);

}  // namespace ddptrain
