#include "distributed/sharding/zero1.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>

#include <unordered_map>

namespace ddptrain {
namespace {

std::vector<Flat> cut_buckets(const std::vector<NamedTensor>& parameters, const BucketSize& size,
                              int ranks, CutAt at) {
  auto flats = bucket_flats(parameters, size, Room::aligned);
  for (auto& flat : flats) cut(flat, parameters, ranks, at);
  return flats;
}

/// One buffer of values, onto which the parameters become views.
at::Tensor moved_together(const std::vector<NamedTensor>& parameters, const Flat& flat) {
  const at::NoGradGuard no_grad;
  const auto& first = parameters[flat.members.front()].tensor;
  const auto buffer = at::zeros({flat.elements}, first.options().requires_grad(false));
  for (std::size_t i = 0; i < flat.members.size(); ++i) {
    const auto& parameter = parameters[flat.members[i]].tensor;
    const auto place = view_of(buffer, flat, i, parameter);
    place.copy_(parameter);
    parameter.set_data(place);
  }
  return buffer;
}

}  // namespace

Zero1::Zero1(std::vector<NamedTensor> parameters, const BucketSize& size, CutAt at, World& world)
    : parameters_(std::move(parameters)),
      world_(world),
      flats_(cut_buckets(parameters_, size, world.size, at)) {
  std::vector<at::Tensor> slices;
  for (const auto& flat : flats_) {
    const auto& buffer = buffers_.emplace_back(moved_together(parameters_, flat));
    slices.push_back(slice_of(buffer, flat.cuts, world.rank));
  }
  shards_ = std::make_unique<Shards>(parameters_, flats_, at, slices, world);
}

std::vector<Flat> Zero1::flats_of(const std::vector<NamedTensor>& trained) const {
  std::unordered_map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < trained.size(); ++i) places.emplace(trained[i].name, i);
  std::vector<bool> kept;
  for (const auto& named : parameters_) kept.push_back(places.contains(named.name));
  std::vector<Flat> flats;
  for (const auto& flat : flats_) {
    flats.push_back(with_those(flat, parameters_, kept));
    for (auto& member : flats.back().members) member = places.at(parameters_[member].name);
  }
  return flats;
}

void Zero1::assign_gradients(const Buckets& buckets, const std::vector<NamedTensor>& trained,
                             const std::vector<bool>& used) const {
  for (const auto& piece : shards_->pieces()) piece.tensor.mutable_grad().reset();
  for (const auto& named : trained) named.tensor.mutable_grad().reset();
  for (std::size_t b = 0; b < buckets.count(); ++b) {
    const auto& flat = buckets.flat(b);
    for (std::size_t i = 0; i < flat.members.size(); ++i) {
      if (!used[flat.members[i]]) continue;
      const auto piece = piece_of(flat, i, world_.rank);
      shards_->set_gradient(trained[flat.members[i]].name,
                            buckets.buffer(b).narrow(0, piece.in_buffer, piece.elements));
    }
  }
}

void Zero1::gather_weights() const {
  const at::NoGradGuard no_grad;
  std::vector<std::unique_ptr<Pending>> pending;
  for (std::size_t f = 0; f < flats_.size(); ++f) {
    auto buffer = buffers_[f];
    pending.push_back(world_.gradients->all_gather_async(buffer, flats_[f].cuts));
  }
  for (const auto& each : pending) each->wait();
}

}  // namespace ddptrain
