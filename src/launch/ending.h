// How ranks ended, and which of them was the cause.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "launch/failure.h"

namespace ddptrain {

/// The end of one rank, as far as the launcher knows.
struct Ending {
  int rank = 0;
  int code = 0;
  int killed_by = 0;               // signal, 0: it exited
  double seconds = 0;              // when it was noticed
  std::optional<Failure> failure;  // its own record
  bool ended_by_us = false;        // with the signals that follow a failure
};

/// 0, `expect` and the code after a forwarded signal are orderly; anything else is a failure.
bool is_orderly(const Ending& ending, int forwarded_signal);

/// Did it only lose a peer?
bool is_secondary(const Ending& ending);

/// The first failure among the endings: secondary ones come behind those with a reason of their
/// own, and those that we ended behind all; then time decides. Null where there is none.
const Ending* first_cause(const std::vector<Ending>& endings, int forwarded_signal);

/// "rank 1: ...": what a person should read first.
std::string describe(const Ending& ending);

}  // namespace ddptrain
