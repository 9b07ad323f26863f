// Threads that live as long as the crew and do the same work, each as its own number.
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace ddptrain {

class Crew {
 public:
  /// `failed(message)` is called by the first member that throws, while the others still work.
  Crew(int size, int threads_each, std::function<void(const std::string&)> failed);
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  /// Runs work(0) .. work(size - 1) at once; throws what was thrown first.
  void run(const std::function<void(int)>& work);

 private:
  void live(int number, int threads);
  void attempt(int number);

  std::function<void(const std::string&)> failed_;
  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<void(int)>* work_ = nullptr;
  std::uint64_t round_ = 0;
  int busy_ = 0;
  bool ending_ = false;
  std::exception_ptr first_;
  std::vector<std::thread> threads_;
};

}  // namespace ddptrain
