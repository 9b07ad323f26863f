// CUDA's libraries for a LibTorch that came with ddptrain, as it does in the tarball.
#pragma once

#include <optional>
#include <string>

namespace ddptrain {

struct CudaLibraries {
  std::string
      wheels;  // those that they come in, pinned as pip's requirements: torch's, then others
  std::string libraries;              // the folder with LibTorch, lib/ddptrain
  std::string index;                  // https address of a Python package index (PEP 503)
  std::optional<std::string> folder;  // with wheels that are taken instead of fetching them
};

/// Puts them into the folder `cuda` below `libraries`, as it has to be for libddptrain_cuda.so,
/// whole or not at all; a call that was interrupted is continued by the next one. Returns false
/// where all of them are there. An Error (Exit::data) says what is missing or does not fit: a
/// folder that cannot be written, no space, a wheel with another digest, a LibTorch that is not
/// that of the wheel.
bool install(const CudaLibraries& wanted);

}  // namespace ddptrain
