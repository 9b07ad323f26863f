// What a test includes that puts a Training together itself.
#pragma once

#include "callbacks/callback.h"
#include "data/dataset.h"
#include "data/loader/loader.h"
#include "data/mix.h"
#include "distributed/engine.h"
#include "losses/loss.h"
#include "metrics/metric.h"
#include "optim/clip.h"
#include "optim/ema.h"
#include "optim/optimizer.h"
#include "sources/sampler.h"
#include "train/run_state.h"
#include "train/stages.h"
#include "train/training.h"
