// A Group over a c10d back end, Gloo or NCCL: what it throws becomes an Error that says what
// happened to which rank.
#include <ATen/ops/empty.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>

#include "base/error.h"
#include "distributed/c10d.h"
#include "distributed/control/failure_board.h"
#include "distributed/lost_peer.h"

namespace ddptrain {
namespace {

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

/// The first line without the file and line that Gloo puts before it.
std::string headline(const std::string& what) {
  auto line = what.substr(0, what.find('\n'));
  if (const auto end = line.find("] "); line.starts_with('[') && end != std::string::npos)
    line = line.substr(end + 2);
  return line;
}

[[noreturn]] void fail(const BackendOptions& options, const char* operation,
                       const std::exception& error) {
  const std::string what = error.what();
  const auto where = place_of_failure(options.rank, operation, options.name);
  for (const auto* sign : {"closed by peer", "reset by peer", "Broken pipe",  // Gloo
                           "remote process exited", "ncclRemoteError"})
    if (has(what, sign)) throw peer_has_ended(where);
  if (has(what, "imed out") || has(what, "imeout")) throw peer_is_silent(where, options.timeout);
  throw Error(Exit::device, where + headline(what));
}

class Waiting final : public Pending {
 public:
  Waiting(c10::intrusive_ptr<c10d::Work> work, at::Tensor flat, at::Tensor target,
          const BackendOptions& options)
      : work_(std::move(work)),
        flat_(std::move(flat)),
        target_(std::move(target)),
        options_(options) {}

  void wait() override {
    if (!work_) return;
    const CountedWait counted(options_.waits);
    try {
      work_->wait();
    } catch (const std::exception& error) {
      work_.reset();
      fail(options_, "all_reduce", error);
    }
    work_.reset();
    if (!flat_.is_same(target_)) target_.copy_(flat_);
  }

 private:
  c10::intrusive_ptr<c10d::Work> work_;
  at::Tensor flat_;    // what travels: contiguous
  at::Tensor target_;  // where it is wanted
  const BackendOptions& options_;
};

/// Several operations of one collective.
class WaitingForAll final : public Pending {
 public:
  using Works = std::vector<c10::intrusive_ptr<c10d::Work>>;
  /// `kept`: tensors that the operations use.
  WaitingForAll(const char* operation, Works works, std::vector<at::Tensor> kept,
                const BackendOptions& options)
      : operation_(operation),
        works_(std::move(works)),
        kept_(std::move(kept)),
        options_(options) {}

  void wait() override {
    const CountedWait counted(options_.waits);
    const auto works = std::exchange(works_, {});
    try {
      for (const auto& work : works) work->wait();
    } catch (const std::exception& error) {
      fail(options_, operation_, error);
    }
    kept_.clear();
  }

 private:
  const char* operation_;
  Works works_;
  std::vector<at::Tensor> kept_;
  const BackendOptions& options_;
};

bool are_equal(const Cuts& cuts) {
  for (std::size_t r = 1; r + 1 < cuts.size(); ++r)
    if (cuts[r + 1] - cuts[r] != cuts[1] - cuts[0]) return false;
  return true;
}

class BackendGroup final : public Group {
 public:
  BackendGroup(Backend backend, BackendOptions options)
      : backend_(std::move(backend)), options_(std::move(options)) {}
  ~BackendGroup() override {
    if (options_.waits_for_peers && is_failing())
      leave_to_the_kernel();
    else
      shut_down();
  }

  int rank() const override { return options_.rank; }
  int size() const override { return options_.size; }
  std::string transport() const override { return backend_->getBackendName(); }

  std::vector<at::Tensor> all_gather(const at::Tensor& tensor) override {
    return all_gather_stacked(tensor).unbind();
  }

  at::Tensor all_gather_stacked(const at::Tensor& tensor) override {
    auto mine = tensor.detach().contiguous();
    auto sizes = mine.sizes().vec();
    sizes.insert(sizes.begin(), size());
    auto all = at::empty(sizes, mine.options());
    if (mine.numel() == 0) return all;
    run("all_gather", [&] {
      c10d::AllgatherOptions gather;
      gather.asyncOp = is_gloo();
      auto flat = all.view(-1), own = mine.view(-1);
      if (!is_gloo()) return backend_->_allgather_base(flat, own, gather);
      std::vector<std::vector<at::Tensor>> outputs{all.unbind()};
      std::vector<at::Tensor> inputs{mine};
      return backend_->allgather(outputs, inputs, gather);
    });
    return all;
  }

  /// On a device in the current stream, which then need not wait for another one.
  void all_reduce(at::Tensor& tensor) override {
    if (is_gloo() || tensor.numel() == 0) return all_reduce_async(tensor)->wait();
    auto target = tensor.detach();
    auto flat = target.contiguous();
    std::vector<at::Tensor> tensors{flat};
    c10d::AllreduceOptions reduce;
    reduce.asyncOp = false;
    run("all_reduce", [&] { return backend_->allreduce(tensors, reduce); });
    if (!flat.is_same(target)) target.copy_(flat);
  }

  std::unique_ptr<Pending> all_reduce_async(at::Tensor& tensor) override {
    auto target = tensor.detach();
    auto flat = target.contiguous();
    c10::intrusive_ptr<c10d::Work> work;
    std::vector<at::Tensor> tensors{flat};
    const CountedWait counted(options_.waits);  // NCCL connects ranks in the first call
    try {
      if (flat.numel() > 0) work = backend_->allreduce(tensors);
    } catch (const std::exception& error) {
      fail(options_, "all_reduce", error);
    }
    return std::make_unique<Waiting>(std::move(work), flat, target, options_);
  }

  void broadcast(at::Tensor& tensor, int root) override {
    auto target = tensor.detach();
    auto flat = target.contiguous();
    if (flat.numel() == 0) return;
    c10d::BroadcastOptions broadcast;
    broadcast.rootRank = root;
    std::vector<at::Tensor> tensors{flat};
    run("broadcast", [&] { return backend_->broadcast(tensors, broadcast); });
    if (rank() != root && !flat.is_same(target)) target.copy_(flat);
  }

  /// Gloo's own one sums the whole buffer and takes longer.
  std::unique_ptr<Pending> reduce_scatter_async(at::Tensor& flat, const Cuts& cuts) override {
    if (is_gloo() || !are_equal(cuts)) return Group::reduce_scatter_async(flat, cuts);
    auto whole = flat.detach();
    auto own = slice_of(whole, cuts, rank());
    return started("reduce_scatter", {whole, own}, [&](WaitingForAll::Works& works) {
      works.push_back(backend_->_reduce_scatter_base(own, whole));
    });
  }

  /// Slices of unequal sizes are broadcast, which back ends have in place of such an all-gather.
  std::unique_ptr<Pending> all_gather_async(at::Tensor& flat, const Cuts& cuts) override {
    auto whole = flat.detach();
    return started("all_gather", {whole}, [&](WaitingForAll::Works& works) {
      if (!is_gloo() && are_equal(cuts)) {
        auto own = slice_of(whole, cuts, rank());
        works.push_back(backend_->_allgather_base(whole, own));
        return;
      }
      for (int root = 0; root < size(); ++root) {
        std::vector<at::Tensor> part{slice_of(whole, cuts, root)};
        c10d::BroadcastOptions broadcast;
        broadcast.rootRank = root;
        if (part.front().numel() > 0) works.push_back(backend_->broadcast(part, broadcast));
      }
    });
  }

  std::unique_ptr<Pending> exchange_async(const at::Tensor& flat, const Cuts& cuts,
                                          at::Tensor& parts) override {
    auto whole = flat.detach();
    auto rows = parts.view(-1);
    std::vector<std::int64_t> sent;
    for (std::size_t r = 0; r + 1 < cuts.size(); ++r) sent.push_back(cuts[r + 1] - cuts[r]);
    std::vector<std::int64_t> received(sent.size(), sent[static_cast<std::size_t>(rank())]);
    return started("all_to_all", {whole, rows}, [&](WaitingForAll::Works& works) {
      works.push_back(backend_->alltoall_base(rows, whole, received, sent));
    });
  }

  void send(const at::Tensor& tensor, int to) override {
    std::vector<at::Tensor> tensors{tensor.detach().contiguous()};
    if (tensor.numel() > 0) run("send", [&] { return backend_->send(tensors, to, 0); });
  }

  void receive(at::Tensor& tensor, int from) override {
    std::vector<at::Tensor> tensors{tensor.detach()};
    if (tensor.numel() > 0) run("receive", [&] { return backend_->recv(tensors, from, 0); });
  }

  void barrier() override {
    run("barrier", [&] { return backend_->barrier(); });
  }

  bool can_be_captured() const override { return !is_gloo(); }

  /// Peers learn of it when the connections of this process close.
  void abort(const std::string&) override { backend_->abort(); }

 private:
  bool is_gloo() const { return backend_->getBackendName() == "gloo"; }

  template <class Start>
  std::unique_ptr<Pending> started(const char* operation, std::vector<at::Tensor> kept,
                                   Start start) {
    WaitingForAll::Works works;
    const CountedWait counted(options_.waits);
    try {
      start(works);
    } catch (const std::exception& error) {
      fail(options_, operation, error);
    }
    return std::make_unique<WaitingForAll>(operation, std::move(works), std::move(kept), options_);
  }

  static bool is_failing() {
    return std::uncaught_exceptions() > 0 || std::current_exception() != nullptr;
  }

  void shut_down() {
    try {
      backend_->shutdown();
    } catch (const std::exception&) {
      // The peers are gone, and there is nothing left to say to them.
    }
  }

  /// NCCL's shutdown waits for collectives that other ranks may never join. The back end stays as
  /// it is, and so the process is to end without destructors, which its threads would not survive.
  void leave_to_the_kernel() {
    [[maybe_unused]] const auto* kept = backend_.release();
    ::on_exit(
        [](int code, void*) {
          std::fflush(nullptr);
          ::_exit(code);
        },
        nullptr);
  }

  template <class Start>
  void run(const char* operation, Start start) {
    const CountedWait counted(options_.waits);
    try {
      if (const auto work = start()) work->wait();  // none: it is done, or in the current stream
    } catch (const std::exception& error) {
      fail(options_, operation, error);
    }
  }

  Backend backend_;
  BackendOptions options_;
};

}  // namespace

std::string in_words(std::chrono::milliseconds time) {
  return time.count() % 1000 == 0 ? fmt::format("{} s", time.count() / 1000)
                                  : fmt::format("{} ms", time.count());
}

std::unique_ptr<Group> make_backend_group(Backend backend, const BackendOptions& options) {
  return std::make_unique<BackendGroup>(std::move(backend), options);
}

}  // namespace ddptrain
