#include "distributed/sharding/shards.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_strided.h>

#include <algorithm>
#include <numeric>
#include <sstream>

#include "base/error.h"

namespace ddptrain {
namespace {

/// A tensor of state as a line of text, and the empty tensor that such a line says.
std::string header_of(const NamedTensor& state) {
  std::ostringstream line;
  line << state.name << '\t' << static_cast<int>(state.tensor.scalar_type());
  for (const auto size : state.tensor.sizes()) line << '\t' << size;
  return line.str();
}

std::vector<NamedTensor> headers_in(const std::string& text) {
  std::vector<NamedTensor> all;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string name, field;
    std::getline(fields, name, '\t');
    std::getline(fields, field, '\t');
    const auto type = static_cast<at::ScalarType>(std::stoi(field));
    std::vector<std::int64_t> sizes;
    while (std::getline(fields, field, '\t')) sizes.push_back(std::stoll(field));
    all.push_back({name, at::empty(sizes, type)});
  }
  return all;
}

}  // namespace

Shards::Shards(std::vector<NamedTensor> parameters, std::vector<Flat> flats, CutAt at,
               const std::vector<at::Tensor>& slices, World& world)
    : parameters_(std::move(parameters)),
      flats_(std::move(flats)),
      at_(at),
      world_(world),
      ranks_(world.sharing().size()),
      rank_(world.sharing().rank()) {
  places_.resize(parameters_.size());
  for (std::size_t f = 0; f < flats_.size(); ++f)
    for (std::size_t i = 0; i < flats_[f].members.size(); ++i)
      places_[flats_[f].members[i]] = {f, i};
  for (std::size_t p = 0; p < parameters_.size(); ++p) {
    const auto& [name, parameter] = parameters_[p];
    index_.emplace(name, p);
    pieces_.push_back({name, parameter_piece(p, slices[places_[p].flat])});
  }
}

/// This rank's, in its slice.
at::Tensor Shards::parameter_piece(std::size_t p, const at::Tensor& slice) const {
  const auto& parameter = parameters_[p].tensor;
  if (!has(p, rank_))
    return at::empty(std::vector<std::int64_t>(std::max<std::size_t>(parameter.sizes().size(), 1)),
                     slice.options());
  const auto piece = piece_on(p, rank_);
  const auto own = slice.narrow(0, piece.in_slice, piece.elements);
  return is_cut(p) ? own
                   : own.as_strided(parameter.sizes(), parameter.strides(), own.storage_offset());
}

const at::Tensor& Shards::piece(const std::string& parameter) const {
  return pieces_[index_.at(parameter)].tensor;
}

at::Tensor Shards::whole(const std::string& parameter) const {
  const auto p = index_.at(parameter);
  const auto& form = parameters_[p].tensor;
  const auto whole = at::empty_strided(form.sizes(), form.strides(), options());
  for (int rank = 0; rank < ranks_; ++rank) {
    const auto piece = piece_on(p, rank);
    if (piece.elements == 0) continue;
    auto part = in_memory_order(whole).narrow(0, piece.in_parameter, piece.elements);
    if (rank == rank_) part.copy_(in_memory_order(pieces_[p].tensor.detach()));
    world_.sharing().broadcast(part, rank);
  }
  return whole;
}

void Shards::set_gradient(const std::string& parameter, const at::Tensor& elements) const {
  const auto& own = piece(parameter);
  own.mutable_grad() =
      own.dim() == 1 && own.numel() == elements.numel()
          ? elements
          : elements.as_strided(own.sizes(), own.strides(), elements.storage_offset());
}

/// Only what is cut between any elements is a piece in one dimension.
bool Shards::is_cut(std::size_t parameter) const {
  return at_ == CutAt::any_element && parameters_[parameter].tensor.dim() > 0;
}

ShardPiece Shards::piece_on(std::size_t parameter, int rank) const {
  const auto& place = places_[parameter];
  return piece_of(flats_[place.flat], place.member, rank);
}

bool Shards::has(std::size_t parameter, int rank) const {
  return is_cut(parameter) || piece_on(parameter, rank).elements > 0;
}

std::optional<std::size_t> Shards::owner_of(const std::string& name) const {
  for (auto end = name.size(); end != std::string::npos && end > 0; end = name.rfind('.', end - 1))
    if (const auto found = index_.find(name.substr(0, end)); found != index_.end())
      return found->second;
  return {};
}

/// Where a piece belongs in a whole tensor of its type: in the parameter's sizes and strides.
at::Tensor Shards::place_for(std::size_t parameter, const at::Tensor& piece) const {
  const auto& whole = parameters_[parameter].tensor;
  return at::empty_strided(whole.sizes(), whole.strides(), piece.options().device(at::kCPU));
}

void Shards::place(const NamedTensor& state, int rank,
                   std::map<std::string, at::Tensor>& whole) const {
  const auto& [name, part] = state;
  const auto parameter = owner_of(name);
  if (!parameter || !is_cut(*parameter) || part.dim() == 0) {
    whole.try_emplace(name, part);
    return;
  }
  auto& target = whole[name];
  if (!target.defined()) target = place_for(*parameter, part);
  const auto piece = piece_on(*parameter, rank);
  in_memory_order(target).narrow(0, piece.in_parameter, piece.elements).copy_(part);
}

/// What this rank has of it.
std::vector<NamedTensor> Shards::own_parts(const std::vector<NamedTensor>& state) const {
  std::vector<NamedTensor> own;
  if (world_.rank >= ranks_) return own;  // rank 0's group has all
  for (const auto& [name, tensor] : state) {
    const auto parameter = owner_of(name);
    if (parameter ? has(*parameter, rank_) : world_.rank == 0)
      own.push_back({name, tensor.detach().cpu().contiguous()});
  }
  return own;
}

std::vector<NamedTensor> Shards::gather(const std::vector<NamedTensor>& state) const {
  const auto own = own_parts(state);
  std::string headers;
  for (const auto& each : own) headers += header_of(each) + "\n";
  const auto texts = gather_text(*world_.control, world_.rank == 0 ? "" : headers);
  if (world_.rank != 0) {
    for (const auto& each : own) world_.control->send(each.tensor, 0);
    return {};
  }
  std::map<std::string, at::Tensor> whole;
  for (const auto& part : own) place(part, 0, whole);
  for (int rank = 1; rank < ranks_; ++rank)
    for (auto& part : headers_in(texts[static_cast<std::size_t>(rank)])) {
      world_.control->receive(part.tensor, rank);
      place(part, rank, whole);
    }
  std::vector<NamedTensor> all;  // every rank has the same names
  for (const auto& [name, tensor] : state)
    if (const auto found = whole.find(name); found != whole.end()) {
      all.push_back({name, found->second});
      whole.erase(found);
    }
  // Where a run went on, rank 0 has none of a parameter that has not moved since.
  for (std::size_t p = 0; p < parameters_.size() && !whole.empty(); ++p)
    for (auto part = whole.begin(); part != whole.end();)
      if (owner_of(part->first) == p) {
        all.push_back({part->first, part->second});
        part = whole.erase(part);
      } else {
        ++part;
      }
  return all;
}

/// Of this rank's pieces of a parameter one has its first element.
bool Shards::has_first_element(std::size_t parameter) const {
  const auto elements = parameters_[parameter].tensor.numel();
  const auto piece = piece_on(parameter, rank_);
  return elements == 0 ? rank_ == 0 : piece.in_parameter == 0 && piece.elements > 0;
}

std::optional<TensorPart> Shards::part(const NamedTensor& state) const {
  const auto& [name, tensor] = state;
  const auto parameter = owner_of(name);
  const bool whole = !parameter || !is_cut(*parameter) || tensor.dim() == 0;
  if (whole) {
    if (parameter ? !has_first_element(*parameter) : rank_ != 0) return {};
    return TensorPart{name, tensor.sizes().vec(), 0, tensor, 0};
  }
  const auto piece = piece_on(*parameter, rank_);
  if (piece.elements == 0 && !has_first_element(*parameter)) return {};
  return TensorPart{name, parameters_[*parameter].tensor.sizes().vec(), piece.in_parameter, tensor,
                    0};
}

std::vector<TensorPart> Shards::parts(const std::vector<NamedTensor>& state,
                                      const std::vector<NamedTensor>& order) const {
  const auto is_strided = [&](std::size_t parameter) {
    return is_cut(parameter) && !parameters_[parameter].tensor.is_contiguous();
  };
  StatePlaces places(order);
  std::vector<NamedTensor> strided;
  std::vector<TensorPart> parts;
  for (const auto& named : state) {
    const auto parameter = owner_of(named.name);
    if (parameter && is_strided(*parameter)) {
      strided.push_back(named);
      continue;
    }
    const auto place = places.next(named.name);
    if (world_.rank >= ranks_) continue;
    if (auto own = part(named)) {
      own->place = place;
      parts.push_back(std::move(*own));
    }
  }
  std::vector<std::size_t> all(parameters_.size());
  std::iota(all.begin(), all.end(), 0);
  if (std::ranges::none_of(all, is_strided)) return parts;
  for (auto& [name, tensor] : gather(strided))
    parts.push_back({name, tensor.sizes().vec(), 0, tensor, places.next(name)});
  return parts;
}

at::TensorOptions Shards::options() const {
  return pieces_.front().tensor.options().requires_grad(false);
}

std::vector<NamedTensor> Shards::cut(const std::vector<NamedTensor>& state) const {
  std::vector<NamedTensor> own;
  for (const auto& [name, tensor] : state) {
    const auto parameter = owner_of(name);
    if (!parameter) {
      own.push_back({name, tensor});
      continue;
    }
    if (!has(*parameter, rank_)) {
      if (name == parameters_[*parameter].name) own.push_back({name, pieces_[*parameter].tensor});
      continue;
    }
    const auto& whole = parameters_[*parameter].tensor;
    if (!is_cut(*parameter) || tensor.sizes() != whole.sizes()) {
      own.push_back({name, tensor});
      continue;
    }
    const auto piece = piece_on(*parameter, rank_);
    const auto laid_out =
        whole.is_contiguous()
            ? tensor.contiguous()
            : at::empty_strided(whole.sizes(), whole.strides(), tensor.options()).copy_(tensor);
    own.push_back({name, in_memory_order(laid_out).narrow(0, piece.in_parameter, piece.elements)});
  }
  return own;
}

}  // namespace ddptrain
