// Ranks as threads: every thread runs the same function with a world of its own.
#pragma once

#include <ATen/Parallel.h>

#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "distributed/world.h"

namespace ddptrain::test {

using Play = std::function<void(World&)>;

/// After a fork, as in a death test, LibTorch restarts its threads at the first call, which two
/// threads must not do at once.
inline void take_one_thread() {
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  at::set_num_threads(1);
}

/// Plays every rank to its end; a rank that throws leaves, so that the others do not wait for it.
/// What each threw, in rank order; null where it did not.
inline std::vector<std::exception_ptr> play(std::vector<World> worlds, const Play& rank) {
  std::vector<std::exception_ptr> thrown(worlds.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < worlds.size(); ++i)
    threads.emplace_back([&rank, &error = thrown[i], world = std::move(worlds[i])]() mutable {
      take_one_thread();
      try {
        rank(world);
      } catch (...) {
        error = std::current_exception();
      }
      world = World{};
    });
  for (auto& thread : threads) thread.join();
  return thrown;
}

/// What one of them says; empty where nothing was thrown.
inline std::string message_of(const std::exception_ptr& thrown) {
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

/// The same where no rank may throw; `group`: ranks that have a model together, 0: all.
inline void play_all(int size, const Play& rank, int group = 0) {
  for (const auto& error : play(make_thread_worlds(size, group), rank))
    if (error) std::rethrow_exception(error);
}

}  // namespace ddptrain::test
