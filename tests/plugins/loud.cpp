// A plug-in for other versions, whose code must not run.
#include <cstdio>

#include "config/plugin_components.h"

namespace {
const int loud = std::fputs("code of the plug-in ran\n", stderr);
}

DDPTRAIN_PLUGIN(components) { static_cast<void>(components); }
