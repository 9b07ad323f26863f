// Threads that write a checkpoint together, each a part of every tensor.
#pragma once

#include <barrier>
#include <exception>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "checkpoint/saving/save.h"
#include "checkpoint/tensors.h"
#include "checkpoint/verify.h"

namespace ddptrain {

/// Threads that tell each other texts.
struct Exchange {
  explicit Exchange(int count) : texts(static_cast<std::size_t>(count)), all(count) {}
  std::vector<std::string> texts;
  std::barrier<> all;
};

class ExchangingWriters final : public Writers {
 public:
  ExchangingWriters(Exchange& exchange, int rank) : exchange_(exchange), rank_(rank) {}
  int rank() const override { return rank_; }
  std::vector<std::string> gather(const std::string& text) override {
    exchange_.texts[static_cast<std::size_t>(rank_)] = text;
    exchange_.all.arrive_and_wait();
    auto texts = exchange_.texts;
    exchange_.all.arrive_and_wait();
    return texts;
  }
  std::string broadcast(const std::string& text) override { return gather(text)[0]; }

 private:
  Exchange& exchange_;
  int rank_;
};

/// More than a block, tensors of other widths, one without dimensions and one without elements.
inline Checkpoint larger_checkpoint() {
  auto checkpoint = small_checkpoint(7);
  checkpoint.model.push_back({"head.weight", ramp({3, 200'001})});
  checkpoint.model.push_back({"head.bias", ramp({70'000}, at::kHalf)});
  checkpoint.model.push_back({"none", ramp({0, 3})});
  checkpoint.optimizer.push_back({"head.weight.exp_avg", ramp({3, 200'001}).mul(0.25)});
  checkpoint.ema = {{"ema_updates", ramp({})}};
  return checkpoint;
}

/// Every tensor cut into as many parts, of lengths that have nothing to do with its rows.
inline std::vector<CheckpointParts> divided(const Checkpoint& checkpoint, int writers) {
  const auto whole = parts_of(checkpoint);
  std::vector<CheckpointParts> all(static_cast<std::size_t>(writers));
  for (auto& parts : all) parts.step = whole.step;
  all[0].state = whole.state;
  for (const auto& file : kTensorFiles)
    for (const auto& part : whole.*file.parts) {
      const auto flat = part.elements.reshape({-1});
      for (int rank = 0; rank < writers; ++rank) {
        const auto cut = [&](int r) { return flat.numel() * r * r / (writers * writers); };
        const auto count = cut(rank + 1) - cut(rank);
        if (count == 0 && !(rank == 0 && flat.numel() == 0)) continue;
        auto own = part;
        own.first = cut(rank);
        own.elements = flat.narrow(0, cut(rank), count);
        (all[static_cast<std::size_t>(rank)].*file.parts).push_back(std::move(own));
      }
    }
  return all;
}

/// What each writer got, or why not. Writer r writes to the r-th root, again from the first one on.
inline std::vector<std::string> save_together(const std::vector<std::string>& roots,
                                              const std::vector<CheckpointParts>& parts,
                                              const SaveOptions& options = {}) {
  Exchange exchange(static_cast<int>(parts.size()));
  std::vector<std::string> results(parts.size());
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < parts.size(); ++rank)
    threads.emplace_back([&, rank] {
      ExchangingWriters writers(exchange, static_cast<int>(rank));
      try {
        results[rank] = save_checkpoint(roots[rank % roots.size()], parts[rank], writers, options);
      } catch (const std::exception& error) {
        results[rank] = std::string("error: ") + error.what();
      }
    });
  for (auto& thread : threads) thread.join();
  return results;
}

inline std::vector<std::string> save_together(const std::string& root,
                                              const std::vector<CheckpointParts>& parts,
                                              const SaveOptions& options = {}) {
  return save_together(std::vector<std::string>{root}, parts, options);
}

/// Of so many that verify a part of it each.
inline int verifiers_that_refuse(const std::string& folder, int verifiers) {
  int found = 0;
  for (int part = 0; part < verifiers; ++part) try {
      verify_checkpoint(folder, {part, verifiers});
    } catch (const Error&) {
      ++found;
    }
  return found;
}

/// Why it is not loaded; empty: it is.
inline std::string refusal_of(const std::string& folder) {
  try {
    load_checkpoint(folder);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace ddptrain
