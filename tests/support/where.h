// Where the tests find the repository and the program; set once, so that a test compiles to the
// same object in every checkout.
#pragma once

#include <string>

namespace ddptrain::test {

/// A file of the repository: in_source("recipes/adult.yaml").
std::string in_source(const std::string& path);

/// The program, and the folder that it was built in.
std::string program();
std::string build_folder();

/// Of the LibTorch of this build: "2.11.0".
std::string torch_version();

}  // namespace ddptrain::test
