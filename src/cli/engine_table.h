// Between the program and libddptrain_engine.so, which it opens: two functions of C.
#pragma once

namespace ddptrain {

struct EngineTable {
  static constexpr const char* symbol = "ddptrain_engine";
  static constexpr const char* file = "libddptrain_engine.so";
  static constexpr int current = 1;

  int version = current;
  const char* release;  // of ddptrain, "0.1.0"
  /// Why it cannot run with the LibTorch that was loaded with it; null where it can.
  const char* (*unfit)();
  /// Runs a command line, prints its errors, and returns the exit code.
  int (*run)(int count, const char* const* words);
};

}  // namespace ddptrain
