// Fits a small network to z = sin(3 x) cos(2 y) and prints how the loss falls.
//
//   example_mlp [steps]
#include "mlp.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <vector>

#include <ropewalk/session.hpp>
#include <ropewalk/train/rng.hpp>
#include <ropewalk/train/schedule.hpp>

namespace {

float wanted(float x, float y) { return std::sin(3 * x) * std::cos(2 * y); }

int run(long steps) {
  using namespace ropewalk;
  constexpr long points = 256;

  // Two programs with one set of parameters: `predict` sees what `train` has learnt.
  const device on = any_device();
  session<mlp::train> train(on, {{mlp::N, points}});
  session<mlp::predict> predict(on, {{mlp::N, 1}}, {.parameters = train.parameters()});

  // Every step takes new random points; the rate warms up, then falls to nothing.
  rng random(1);
  const warmup_cosine rate({.base = 1e-2, .warmup = steps / 20, .total = steps});
  std::vector<float> x(2 * points), y(points);
  double first = 0, last = 0;
  for (long step = 0; step < steps; ++step) {
    for (std::size_t i = 0; i < points; ++i) {
      x[2 * i] = 2 * random.uniform_float() - 1;
      x[2 * i + 1] = 2 * random.uniform_float() - 1;
      y[i] = wanted(x[2 * i], x[2 * i + 1]);
    }
    train.run(mlp::x = x, mlp::y = y, learning_rate = static_cast<float>(rate.at(step)));
    last = train.get(mlp::loss).item();
    if (step == 0) first = last;
    if (step % (steps / 10) == 0) std::printf("step %5ld  loss %.6f\n", step, last);
  }
  std::printf("step %5ld  loss %.6f\n", steps, last);

  for (const float at : {-0.5f, 0.0f, 0.8f}) {
    const std::vector<float> point = {at, 0.25f};
    predict.run(mlp::x = point);
    std::printf("f(%5.2f, 0.25) = %8.4f, predicted %8.4f\n", at, wanted(at, 0.25f),
                predict.get(mlp::prediction).item());
  }
  return last < 0.1 * first ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const long steps = argc > 1 ? std::atol(argv[1]) : 2000;
  if (argc > 2 || steps < 10) {
    std::fprintf(stderr, "usage: example_mlp [steps], at least 10 steps\n");
    return 2;
  }
  try {
    return run(steps);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
  }
}
