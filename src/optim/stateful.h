// What all optimizers share: groups, state by name in a fixed order, and which parameters move.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "optim/device_numbers.h"
#include "optim/offloaded_state.h"
#include "optim/optimizer.h"
#include "optim/step_capture.h"
#include "optim/update.h"
#include "recipe/optimizer_options.h"

namespace ddptrain {

/// Names of the state tensors of each parameter, torch's, in torch's order. `step` adds the number
/// of steps made, a float scalar, before them.
struct StateNames {
  bool step = false;
  std::vector<std::string> slots;
};

/// A parameter's state is created when its first gradient comes. A step that the device refuses is
/// taken back there, unless the optimizer's update() heeds the refusal itself. The host's part, the
/// numbers of steps and the slots that it has, goes back in was_refused().
class Stateful : public Optimizer, private StepCapture {
 public:
  double lr() const final { return common_.lr.to; }
  void step(const Rates& rates) final;
  void was_refused() final;
  StepCapture* step_capture() final { return offloaded_ ? nullptr : this; }
  bool offload(StateStream& stream) final;
  std::vector<NamedTensor> state() const final;
  std::int64_t state_bytes() const final;
  void load(const std::vector<NamedTensor>& state) final;
  const std::vector<ParameterGroup>& groups() const final { return groups_; }

 protected:
  Stateful(OptimizerCommon common, std::vector<ParameterGroup> groups, StateNames names);

  /// Called once per step before the updates, for what depends on all gradients.
  virtual void prepare(std::span<const Update>) {}
  virtual void update(const Update& u) = 0;
  /// Whether update() changes nothing where u.refused is 1, as torch's fused optimizers. Then it
  /// reads u.rate_there and u.step_there where they are defined, too.
  virtual bool heeds_refusal() const { return false; }
  /// Whether update(), which heeds refusals, reads u.momentum_there where it is defined.
  virtual bool reads_momentum_there() const { return false; }
  /// A slot before the first step, zeros in the parameter's shape unless an optimizer says
  /// otherwise; undefined where this parameter has none. A function of the parameter's form alone.
  virtual at::Tensor first_state(std::size_t slot, const at::Tensor& parameter) const;

 private:
  struct Entry {
    std::string name;
    at::Tensor parameter;
    std::size_t group;
    std::vector<at::Tensor> slots;  // empty before the first gradient
  };

  std::optional<std::int64_t> version() const final;
  bool reads_momentum() const final { return reads_momentum_there(); }
  void capture(const at::Tensor& refused) final;
  void upload(const Rates& rates) final;

  bool find_gradients();
  void regroup();
  void add_to_update(std::size_t index);
  void move(const Update& u, const at::Tensor& made);
  void begin(Update& u, const Rates& rates);
  void count(Update& u);
  void set_gradients(Update& u);
  bool reads_rate_there(const Update& u) const;
  void upload_rates(const Rates& rates);
  void upload_counts();
  void keep_slots_of_the_host(const Update& u);
  at::Tensor slot_form(std::size_t slot, const at::Tensor& parameter) const;
  void create_slots(const std::vector<std::size_t>& indices);
  void create_offloaded_slots(const std::vector<std::size_t>& indices);
  bool is_given(const Entry& entry, const std::map<std::string, at::Tensor>& given) const;
  std::vector<NamedTensor> state_of(std::size_t index) const;
  void load_entry(std::size_t index, std::map<std::string, at::Tensor>& given);

  OptimizerCommon common_;
  std::vector<ParameterGroup> groups_;
  StateNames names_;
  std::vector<Entry> entries_;
  at::Tensor steps_;          // one float per entry; state hands out views
  float* counts_;             // the numbers of steps_
  std::vector<char> active_;  // which entries have a gradient in updates_
  std::vector<Update> updates_;
  std::int64_t regrouped_ = 0;                              // how often updates_ were built
  DeviceNumbers rates_there_;                               // of each group, then the momentum
  DeviceNumbers counts_there_;                              // steps made, of each update
  bool repeats_ = false;                                    // a graph has made the last step
  bool undecided_ = false;                                  // the last step may have been refused
  std::vector<at::Tensor> host_slots_, host_slots_before_;  // that step
  std::optional<OffloadedState> offloaded_;
};

}  // namespace ddptrain
