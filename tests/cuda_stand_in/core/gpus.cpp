#include "cuda_stand_in/core/gpus.h"

#include <cstdlib>
#include <string_view>

#include "cuda_stand_in/core/captures.h"
#include "cuda_stand_in/core/report.h"

namespace ddptrain::stand_in {
namespace {

thread_local int selected = 0;

std::size_t number_of(const char* name, std::size_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

// CUDA takes what CUDA_VISIBLE_DEVICES lists up to the first that is not a device.
std::vector<int> visible_devices() {
  const int all = static_cast<int>(number_of("FAKE_GPUS", 1));
  std::vector<int> visible;
  const char* listed = std::getenv("CUDA_VISIBLE_DEVICES");
  if (listed == nullptr) {
    for (int i = 0; i < all; ++i) visible.push_back(i);
    return visible;
  }
  for (std::string_view rest = listed; !rest.empty();) {
    const auto comma = rest.find(',');
    const int device = std::atoi(std::string(rest.substr(0, comma)).c_str());
    if (device < 0 || device >= all) break;
    visible.push_back(device);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  return visible;
}

}  // namespace

std::string stream_name(int stream) { return Gpus::get().name_of(stream); }

Gpus& Gpus::get() {
  static auto* all = new Gpus;  // threads need it while the process ends
  return *all;
}

Gpus::Gpus() : visible_(visible_devices()), memory_(number_of("STAND_IN_MEMORY", 80UL << 30)) {
  random_.seed(static_cast<unsigned>(number_of("STAND_IN_SEED", 1)));
  for (int device = 0; device < count(); ++device) {
    auto& stream = new_stream(device, false);
    stream.is_default = true;
    defaults_.push_back(stream.id);
  }
}

int Gpus::current() { return selected; }
void Gpus::select(int device) { selected = device; }

GpuStream& Gpus::new_stream(int device, bool waits_for_default) {
  auto made = std::make_unique<GpuStream>();
  made->id = static_cast<int>(streams_.size());
  made->device = device;
  made->waits_for_default = waits_for_default;
  streams_.push_back(std::move(made));
  return *streams_.back();
}

GpuStream& Gpus::default_stream(int device) {
  return *streams_[static_cast<std::size_t>(defaults_[static_cast<std::size_t>(device)])];
}

GpuStream& Gpus::stream(const void* handle) {
  if (reinterpret_cast<std::uintptr_t>(handle) <= 2) return default_stream(selected);
  for (const auto& stream : streams_)
    if (stream.get() == handle) return *stream;
  fault("a call names " + hexadecimal(reinterpret_cast<std::uintptr_t>(handle)) +
        ", which is no stream");
}

std::string Gpus::name_of(int stream) const {
  const auto& found = *streams_[static_cast<std::size_t>(stream)];
  return (found.is_default ? "the default stream" : "stream " + std::to_string(stream)) +
         " of device " + std::to_string(found.device);
}

PlacedOperation Gpus::place(GpuStream& stream, const std::string& name) {
  stream.clock.join(host_);
  if (stream.is_default) {
    for (const auto& other : streams_)
      if (other->waits_for_default && other->device == stream.device)
        stream.clock.join(other->clock);
  } else if (stream.waits_for_default) {
    stream.clock.join(default_stream(stream.device).clock);
  }
  stream.clock.advance(stream.id);
  return {interned(name), stream.id, stream.clock.of(stream.id)};
}

void check_memory(const GpuOperation& operation, const GpuStream& stream) {
  for (const auto& access : operation.accesses) {
    if (access.bytes == 0) continue;
    const auto what = operation.name + " on " + stream_name(stream.id) +
                      (access.writes ? " writes " : " reads ") + std::to_string(access.bytes) +
                      " bytes at " + hexadecimal(access.address);
    const auto& all = Gpus::get().allocations();
    const auto* found = all.find(access.address);
    if (found == nullptr) fault(what + ", where nothing is allocated");
    if (!all.holds(access.address, access.bytes))
      fault(what + ", beyond an allocation of " + std::to_string(found->bytes) + " bytes at " +
            hexadecimal(found->begin));
    if (operation.is_kernel && found->device != kHost && found->device != stream.device)
      fault(what + ", memory of device " + std::to_string(found->device));
  }
}

int Gpus::enqueue(GpuStream& stream, GpuOperation operation) {
  check_memory(operation, stream);
  if (logs())
    log_line(operation.name + " @" + std::to_string(stream.id) +
             (stream.capture != nullptr ? " captured" : ""));
  if (stream.capture != nullptr) return Captures::get().add(stream, std::move(operation));
  const auto placed = place(stream, operation.name);
  for (const auto& access : operation.accesses)
    if (const auto sentence = history_.note(access, placed, stream.clock)) fault(*sentence);
  if (operation.work) stream.late.push_back({stream.clock, std::move(operation.work)});
  run_some();
  return 0;
}

int Gpus::record(GpuStream& stream, GpuEvent& event) {
  if (stream.capture != nullptr) return Captures::get().record(stream, event);
  place(stream, "an event");
  event.is_recorded = true;
  event.capture = 0;
  event.clock = stream.clock;
  return 0;
}

int Gpus::wait(GpuStream& stream, const GpuEvent& event) {
  if (stream.capture != nullptr || event.capture != 0) return Captures::get().wait(stream, event);
  place(stream, "a wait");
  stream.clock.join(event.clock);
  return 0;
}

void Gpus::run_late(const VectorClock& until) {
  for (const auto& stream : streams_) {
    while (!stream->late.empty() &&
           stream->late.front().clock.of(stream->id) <= until.of(stream->id)) {
      const auto late = std::move(stream->late.front());
      stream->late.pop_front();
      run_late(late.clock);
      late.work();
    }
  }
}

bool Gpus::chance(int one_in) { return random_() % static_cast<unsigned>(one_in) == 0; }

void Gpus::run_some() {
  if (!chance(4)) return;
  const auto from = random_() % streams_.size();
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    auto& stream = *streams_[(from + i) % streams_.size()];
    if (stream.late.empty()) continue;
    run_late(VectorClock(stream.late.front().clock));
    return;
  }
}

void Gpus::host_waits(const VectorClock& clock) {
  run_late(clock);
  host_.join(clock);
}

bool Gpus::host_asks(const VectorClock& clock) {
  if (!host_.knows(clock) && chance(2)) return false;
  host_waits(clock);
  return true;
}

VectorClock Gpus::clock_of_device(int device) const {
  VectorClock all;
  for (const auto& stream : streams_)
    if (stream->device == device) all.join(stream->clock);
  return all;
}

void Gpus::give_block(GpuStream& stream, std::uintptr_t begin, std::size_t bytes) {
  stand_in::count(Count::blocks);
  if (stream.capture != nullptr) return;  // of the graph's own pool, used again within it
  const auto placed = place(stream, "LibTorch's allocation of a block");
  if (const auto sentence = history_.note({begin, bytes, true}, placed, stream.clock))
    fault(*sentence);
}

}  // namespace ddptrain::stand_in
