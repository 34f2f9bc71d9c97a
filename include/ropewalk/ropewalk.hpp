// All that a model header needs: the language, the ops, the layers, programs. In this order: with few
// headers between this one and where a mistake is named, g++ prints few lines about them.
#pragma once
#include "ropewalk/core/mistake.hpp"
#include "ropewalk/core/module.hpp"

#include "ropewalk/ops/add.hpp"
#include "ropewalk/ops/expand.hpp"
#include "ropewalk/ops/matmul.hpp"
#include "ropewalk/ops/where.hpp"

#include "ropewalk/ops.hpp"

#include "ropewalk/nn/embedding.hpp"
#include "ropewalk/nn/linear.hpp"

#include "ropewalk/core/program.hpp"
