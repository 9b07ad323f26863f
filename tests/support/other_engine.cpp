// An engine's library of another version of ddptrain.
#include "cli/engine_table.h"

extern "C" const void* ddptrain_engine() {
  static const ddptrain::EngineTable table{ddptrain::EngineTable::current, "99.0.0", nullptr,
                                           nullptr};
  return &table;
}
