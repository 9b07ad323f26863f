#pragma once

#include "support/node.h"
