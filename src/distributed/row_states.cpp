#include "distributed/row_states.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "distributed/group.h"

namespace ddptrain {
namespace {

/// Rows of one state, and their places in the global batch.
struct PlacedRows {
  at::Tensor places;  // int64 [n]
  at::Tensor values;  // [n, ...]
};

/// The rows of all ranks in the order of their places.
at::Tensor in_order(Group& group, const PlacedRows& own) {
  const auto values = at::cat(gather_rows(group, own.values));
  const auto places = at::cat(gather_rows(group, own.places));
  return at::empty_like(values).index_copy_(0, places, values);
}

/// Name, type and shape of a row of each state, for ranks that have none.
Json forms_of(const std::map<std::string, at::Tensor>& states) {
  auto forms = Json::array();
  for (const auto& [name, tensor] : states)
    forms.push_back({{"name", name},
                     {"type", static_cast<int>(tensor.scalar_type())},
                     {"row", tensor.sizes().slice(1).vec()}});
  return forms;
}

PlacedRows no_rows(const Json& form) {
  auto sizes = form.at("row").get<std::vector<std::int64_t>>();
  sizes.insert(sizes.begin(), 0);
  return {at::empty({0}, at::kLong),
          at::empty(sizes, static_cast<at::ScalarType>(form.at("type").get<int>()))};
}

}  // namespace

class RowStates::View final : public Carried {
 public:
  View(RowStates& states, const Rows& rows) : states_(states), rows_(rows) {}
  at::Tensor get(const std::string& name) const override { return states_.get(name, rows_); }
  void set(const std::string& name, at::Tensor rows) override {
    DDP_CHECK(rows.size(0) == rows_.count, "a state has a row for each row of the pass");
    states_.set(name, rows_, rows.detach());
  }

 private:
  RowStates& states_;
  Rows rows_;
};

void RowStates::clear() {
  const std::lock_guard lock(mutex_);
  pieces_.clear();
  loaded_.clear();
}

std::unique_ptr<Carried> RowStates::of(const Rows& rows) {
  return std::make_unique<View>(*this, rows);
}

void RowStates::keep() { kept_ = pieces_; }
void RowStates::put_back() { pieces_ = kept_; }

at::Tensor RowStates::get(const std::string& name, const Rows& rows) const {
  const std::lock_guard lock(mutex_);
  if (const auto piece = pieces_.find(rows.first); piece != pieces_.end()) {
    const auto& found = piece->second.at(name);
    DDP_CHECK(found.size(0) == rows.count, "streams are cut in the same way at every step");
    return found;
  }
  const auto whole = loaded_.find(name);
  if (whole == loaded_.end()) return {};
  return whole->second.narrow(0, rows.first, rows.count).to(rows.device);
}

void RowStates::set(const std::string& name, const Rows& rows, at::Tensor values) {
  const std::lock_guard lock(mutex_);
  pieces_[rows.first][name] = std::move(values);
}

// Rank 0 has rows in any cut.
std::vector<NamedTensor> RowStates::gather(Group& group) const {
  std::vector<NamedTensor> all;
  if (pieces_.empty() && !loaded_.empty()) {
    for (const auto& [name, tensor] : loaded_) all.push_back({name, tensor});
    return all;
  }
  const auto own = pieces_.empty() ? Json::array() : forms_of(pieces_.begin()->second);
  for (const auto& form : parse_json(broadcast_text(group, json_text(own), 0))) {
    const auto name = form.at("name").get<std::string>();
    auto rows = no_rows(form);
    for (const auto& [first, states] : pieces_) {
      const auto values = states.at(name).cpu();
      rows.places = at::cat({rows.places, at::arange(first, first + values.size(0), at::kLong)});
      rows.values = at::cat({rows.values, values});
    }
    all.push_back({name, in_order(group, rows)});
  }
  return all;
}

void RowStates::load(const std::vector<NamedTensor>& states) {
  clear();
  for (const auto& [name, tensor] : states) loaded_[name] = tensor;
}

}  // namespace ddptrain
