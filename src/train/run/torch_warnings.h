// LibTorch's warnings in the program's log.
#pragma once

#include <c10/util/Exception.h>

#include <set>
#include <string>

namespace ddptrain {

/// While it lives, what LibTorch warns of on this thread is a warning of the log, each text once:
/// cuDNN warns of the layout of an LSTM's weights at every call.
class TorchWarnings final : c10::WarningHandler {
 public:
  TorchWarnings() : guard_(this) {}
  void process(const c10::Warning& warning) override;

 private:
  std::set<std::string> said_;
  c10::WarningUtils::WarningHandlerGuard guard_;
};

}  // namespace ddptrain
