#include "simulated/streams.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "simulated/memory.h"
#include "simulated/simulated.h"

namespace ddptrain::simulated {
namespace {

constexpr int kStreams = 32;      // of a device
constexpr int kFalseAnswers = 2;  // to the first queries of an event
constexpr int kPattern = 255;     // NaN, or -1

struct Queue;

/// Where an event was recorded.
struct Mark {
  Queue* queue;
  std::uint64_t number;  // of the entry in its queue
  bool reached = false;
  int asked = 0;
  std::chrono::steady_clock::time_point time{};  // when it was reached
};

struct Event {
  std::shared_ptr<Mark> mark;
};

/// What the host sees only when it knows that the stream has come so far.
struct Landing {
  std::uint64_t number;
  std::function<void()> show;
  char* to = nullptr;  // of a copy to the host, which brings these bytes
  std::shared_ptr<std::vector<char>> bytes = {};
};

struct Queue {
  int stream = 0;
  std::deque<std::function<void()>> waiting;  // entry `begun` + 1 is the first
  std::uint64_t begun = 0, put = 0;
  std::deque<Landing> landings;
};

struct Streams {
  std::recursive_mutex mutex;
  std::map<std::pair<int, int>, Queue> queues;  // by device and stream
  std::array<int, kMostDevices> last{};
};

Streams& streams() {
  static auto* streams = new Streams;  // events of static storage are destroyed after it would be
  return *streams;
}

std::atomic<bool> events_pass = true;
thread_local std::array<int, kMostDevices> current_streams{};

c10::Stream stream_of(int device, int stream) {
  return c10::Stream(c10::Stream::UNSAFE, {c10::kHPU, static_cast<c10::DeviceIndex>(device)},
                     stream);
}

Queue& queue_of(c10::Stream stream) {
  auto& queue = streams().queues[{stream.device_index(), static_cast<int>(stream.id())}];
  queue.stream = static_cast<int>(stream.id());
  return queue;
}

void put(Queue& queue, std::function<void()> work) {
  queue.waiting.push_back(std::move(work));
  ++queue.put;
}

void run(Queue& queue, std::uint64_t last) {
  while (queue.begun < last) {
    const auto work = std::move(queue.waiting.front());
    queue.waiting.pop_front();
    ++queue.begun;
    work();
  }
}

void run_all(Queue& queue) { run(queue, queue.put); }

// Streams may wait for each other by turns, so that one may come back here meanwhile.
void show(Queue& queue, std::uint64_t last) {
  while (!queue.landings.empty() && queue.landings.front().number <= last) {
    const auto landing = std::move(queue.landings.front());
    queue.landings.pop_front();
    landing.show();
  }
}

/// What a device reads of pinned memory: of copies that have run the host may not know yet.
std::vector<char> read_of_the_host(const LateCopy& copy) {
  const auto* first = static_cast<const char*>(copy.from);
  std::vector<char> read(first, first + copy.bytes);
  for (const auto& [key, queue] : streams().queues)
    for (const auto& landing : queue.landings) {
      if (!landing.bytes) continue;
      const auto* begin = std::max<const char*>(first, landing.to);
      const auto* end =
          std::min<const char*>(first + read.size(), landing.to + landing.bytes->size());
      if (begin < end)
        std::copy_n(landing.bytes->data() + (begin - landing.to), end - begin,
                    read.data() + (begin - first));
    }
  return read;
}

void finish(Queue& queue, std::uint64_t last) {
  run(queue, last);
  show(queue, last);
}

}  // namespace

c10::Stream current_stream(int device) {
  return stream_of(device, current_streams.at(static_cast<std::size_t>(device)));
}

c10::Stream exchange_stream(c10::Stream stream) {
  auto& now = current_streams.at(static_cast<std::size_t>(stream.device_index()));
  return stream_of(stream.device_index(), std::exchange(now, static_cast<int>(stream.id())));
}

c10::Stream next_stream(int device) {
  const std::lock_guard lock(streams().mutex);
  auto& last = streams().last.at(static_cast<std::size_t>(device));
  last = last % (kStreams - 1) + 1;
  return stream_of(device, last);
}

void copy_to_device_later(const LateCopy& copy, int device) {
  const std::lock_guard lock(streams().mutex);
  auto& queue = queue_of(current_stream(device));
  if (is_held(copy.to)) run_all(queue);
  {
    const Access open({copy.to}, queue.stream);
    std::memset(copy.to, kPattern, copy.bytes);
  }
  hold({copy.to, copy.from});
  put(queue, [copy, stream = queue.stream] {
    {
      const Access open({copy.to}, stream);
      std::ranges::copy(read_of_the_host(copy), static_cast<char*>(copy.to));
    }
    let_go({copy.to, copy.from});
  });
}

void copy_to_host_later(const LateCopy& copy, int device) {
  const std::lock_guard lock(streams().mutex);
  auto& queue = queue_of(current_stream(device));
  std::memset(copy.to, kPattern, copy.bytes);
  hold({copy.to, copy.from});
  const Access used({copy.from}, queue.stream);  // from now on
  put(queue, [copy, &queue] {
    auto bytes = std::make_shared<std::vector<char>>(copy.bytes);
    {
      const Access open({copy.from}, queue.stream);
      std::memcpy(bytes->data(), copy.from, copy.bytes);
    }
    let_go({copy.from});
    queue.landings.push_back({queue.begun,
                              [copy, bytes] {
                                std::memcpy(copy.to, bytes->data(), copy.bytes);
                                let_go({copy.to});
                              },
                              static_cast<char*>(copy.to), bytes});
  });
}

void run_waiting(int device) {
  const std::lock_guard lock(streams().mutex);
  run_all(queue_of(current_stream(device)));
}

void run_all_waiting(int device) {
  const std::lock_guard lock(streams().mutex);
  for (auto& [key, queue] : streams().queues)
    if (key.first == device) run_all(queue);
}

void finish(c10::Stream stream) {
  const std::lock_guard lock(streams().mutex);
  auto& queue = queue_of(stream);
  finish(queue, queue.put);
}

void finish_device(int device) {
  const std::lock_guard lock(streams().mutex);
  for (auto& [key, queue] : streams().queues)
    if (key.first == device) finish(queue, queue.put);
}

bool is_idle(c10::Stream stream) {
  const std::lock_guard lock(streams().mutex);
  const auto& queue = queue_of(stream);
  return queue.waiting.empty() && queue.landings.empty();
}

void record_event(void** event, c10::Stream stream) {
  const std::lock_guard lock(streams().mutex);
  auto& queue = queue_of(stream);
  auto mark = std::make_shared<Mark>(Mark{&queue, queue.put + 1});
  put(queue, [mark] {
    mark->reached = true;
    mark->time = std::chrono::steady_clock::now();
  });
  if (*event == nullptr) *event = new Event;
  static_cast<Event*>(*event)->mark = std::move(mark);
}

// Who waits for one stream knows what that one has waited for.
void wait_for_event(void* event, c10::Stream stream) {
  const std::lock_guard lock(streams().mutex);
  auto& queue = queue_of(stream);
  const auto mark = static_cast<Event*>(event)->mark;
  put(queue, [mark, &queue] {
    run(*mark->queue, mark->number);
    queue.landings.push_back({queue.begun, [mark] { show(*mark->queue, mark->number); }});
  });
}

bool has_passed(void* event) {
  const std::lock_guard lock(streams().mutex);
  auto& mark = *static_cast<Event*>(event)->mark;
  if (!events_pass || mark.asked++ < kFalseAnswers) return false;
  finish(*mark.queue, mark.number);
  return true;
}

bool finish_event(void* event) {
  const std::lock_guard lock(streams().mutex);
  auto& mark = *static_cast<Event*>(event)->mark;
  const bool waits = !mark.reached;
  finish(*mark.queue, mark.number);
  return waits;
}

double milliseconds_between(void* event, void* later) {
  const std::lock_guard lock(streams().mutex);
  const auto between =
      static_cast<Event*>(later)->mark->time - static_cast<Event*>(event)->mark->time;
  return std::chrono::duration<double, std::milli>(between).count();
}

void let_events_pass(bool pass) { events_pass = pass; }

void destroy_event(void* event) { delete static_cast<Event*>(event); }

}  // namespace ddptrain::simulated
