// All that a model header needs: the language, the ops, the layers, programs.
#pragma once
#include "ropewalk/core/program.hpp"
#include "ropewalk/nn/embedding.hpp"
#include "ropewalk/nn/linear.hpp"
#include "ropewalk/ops.hpp"
