// A store in the memory of this process whose calls are counted and take time, as over a network.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <torch/csrc/distributed/c10d/HashStore.hpp>

#include "distributed/c10d.h"

namespace ddptrain::test {

/// The view of one rank; those of all ranks have one store behind them. A call that names several
/// keys is one call.
class CountingStore final : public c10d::Store {
 public:
  using Bytes = std::vector<std::uint8_t>;
  using Milliseconds = std::chrono::milliseconds;

  CountingStore(c10::intrusive_ptr<c10d::HashStore> store, std::chrono::microseconds latency)
      : store_(std::move(store)), latency_(latency) {}

  int calls() const { return *calls_; }

  c10::intrusive_ptr<c10d::Store> clone() override {
    auto copy = c10::make_intrusive<CountingStore>(store_, latency_);
    copy->calls_ = calls_;
    return copy;
  }
  void set(const std::string& key, const Bytes& value) override { called()->set(key, value); }
  Bytes compareSet(const std::string& key, const Bytes& from, const Bytes& to) override {
    return called()->compareSet(key, from, to);
  }
  Bytes get(const std::string& key) override { return called()->get(key); }
  std::int64_t add(const std::string& key, std::int64_t value) override {
    return called()->add(key, value);
  }
  bool deleteKey(const std::string& key) override { return called()->deleteKey(key); }
  bool check(const std::vector<std::string>& keys) override { return called()->check(keys); }
  std::int64_t getNumKeys() override { return called()->getNumKeys(); }
  void wait(const std::vector<std::string>& keys) override { called()->wait(keys); }
  void wait(const std::vector<std::string>& keys, const Milliseconds& timeout) override {
    called()->wait(keys, timeout);
  }
  std::vector<Bytes> multiGet(const std::vector<std::string>& keys) override {
    return called()->multiGet(keys);
  }

 private:
  c10d::HashStore* called() {
    ++*calls_;
    std::this_thread::sleep_for(latency_);
    return store_.get();
  }

  c10::intrusive_ptr<c10d::HashStore> store_;
  std::chrono::microseconds latency_;
  std::shared_ptr<std::atomic<int>> calls_ = std::make_shared<std::atomic<int>>(0);
};

}  // namespace ddptrain::test
